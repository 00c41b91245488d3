"""Other processes look into the SQLite store of a running crawl, and do it no harm."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from simhash_gate.stores import open_store
from tests.crawls.harness import ROOT, Site, crawl, page, start, until

ARTICLES = {f"/{n}": page(n) for n in range(12)}
PATHS = " ".join(ARTICLES)

# Half of the pages wait in their callbacks until the test says go.
WAITS = """
    async def parse(self, response):
        import asyncio, pathlib
        while int(response.url.rpartition("/")[2]) % 2 and not pathlib.Path("go").exists():
            await asyncio.sleep(0.02)
        for item in super().parse(response):
            yield item
"""
# Python says which files are opened by anyone but SQLite itself.
WATCHED = """
import sys
def watch(event, args):
    if event == "open" and str(args[0]).endswith((".sqlite", "-wal", "-shm")):
        with open("opened.txt", "a") as file:
            print(args[0], file=file)
sys.addaudithook(watch)
"""


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/store.sqlite"


def look_into(url) -> None:
    command = [sys.executable, "-m", "simhash_gate.cli", "store", "info", url]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)


def open_for_a_moment(url) -> None:
    code = f"from simhash_gate.stores import open_store; open_store({url!r}).close()"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def lost_files(pid: int) -> list[str]:
    """Return the files of the store that a process has open and another one has removed."""
    entries = Path(f"/proc/{pid}/fd").iterdir()
    targets = [str(entry.readlink()) for entry in entries if entry.is_symlink()]
    return [target for target in targets if ".sqlite" in target and "(deleted)" in target]


@pytest.mark.parametrize("beside", [look_into, open_for_a_moment])
def test_who_looks_into_the_store_of_a_crawl_takes_nothing_from_it(tmp_path, url, beside) -> None:
    settings = {"SIMHASH_GATE_STORE": url, "SIMHASH_GATE_REVISIT": "drop"}
    with Site(dict(ARTICLES)).running() as site:
        process, finish = start(tmp_path, site, PATHS, spider=WAITS, settings=settings)
        with closing(open_store(url)) as store:
            until(lambda: len([*store.records()]) == len(ARTICLES))
        for _ in range(3):
            beside(url)
        assert lost_files(process.pid) == []
        (tmp_path / "go").touch()
        first = finish()
        second = crawl(tmp_path / "second", site, PATHS, settings=settings)
    assert first.delivered() == sorted(ARTICLES)
    assert second.delivered() == []
    assert second.count("unchanged") == len(ARTICLES)


def test_a_short_crawl_beside_a_long_one_knows_its_pages_and_leaves_it_whole(tmp_path, url) -> None:
    settings = {"SIMHASH_GATE_STORE": url, "SIMHASH_GATE_REVISIT": "pass"}
    routes = ARTICLES | {"/copy": page(1, noise=5), "/other": page(99)}
    with Site(dict(routes)).running() as site:
        process, finish = start(tmp_path / "long", site, PATHS, spider=WAITS, settings=settings)
        with closing(open_store(url)) as store:
            until(lambda: [record.settled for record in store.records()].count(True) >= 6)
        patient = "\nfrom simhash_gate.plugin import unsettled\nunsettled.LONGEST_WAIT = 0.1\n"
        short = crawl(tmp_path / "short", site, "/0 /other", spider=patient, settings=settings)
        assert lost_files(process.pid) == []
        (tmp_path / "long" / "go").touch()
        long = finish()
        again = crawl(tmp_path / "again", site, "/copy /other", settings=settings)
    assert short.delivered() == ["/other"]
    assert long.delivered() == sorted(ARTICLES)
    assert [item["outcome"] for item in again.items if "outcome" in item] == ["unchanged"]


def test_no_one_but_sqlite_opens_the_database_of_a_crawl(tmp_path, url) -> None:
    settings = {"SIMHASH_GATE_STORE": url, "SIMHASH_GATE_VERDICTS": "verdicts.jsonl"}
    with Site(dict(ARTICLES)).running() as site:
        for _ in range(2):  # made by the first, met by the second
            crawl(tmp_path, site, PATHS, spider=WATCHED, settings=settings)
    assert not (tmp_path / "opened.txt").exists()


def test_two_stores_on_one_file_in_one_process_keep_their_locks(tmp_path, url) -> None:
    with closing(open_store(url)) as first:
        first.begin("run")
        for _ in range(3):
            second = open_store(url)
            assert second.is_live("run")
            second.close()
        open_for_a_moment(url)
        assert (tmp_path / "store.sqlite-wal").exists()
        asked = f"""
from simhash_gate.stores import open_store
store = open_store({url!r})
print(store.is_live("run"))
"""
        told = subprocess.run(
            [sys.executable, "-c", asked], capture_output=True, text=True, check=True, cwd=ROOT
        )
        assert told.stdout == "True\n"
        assert first.is_live("run")
