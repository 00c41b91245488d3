"""Other processes look into the SQLite store of a running crawl, and do it no harm."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from simhash_gate.stores import open_store
from tests.crawls.harness import ROOT, Site, crawl, page, start, until
from tests.crawls.loaded import LoadedProcess

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


def python(url: str, code: str) -> str:
    """Run code in another process, on a store that it has opened; return what it prints."""
    opening = f"from simhash_gate.stores import open_store; store = open_store({url!r}); "
    command = [sys.executable, "-c", opening + code]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def look_into(url: str) -> None:
    process = LoadedProcess("simhash_gate.cli", "store", "info", url, cwd=ROOT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "pages" in output


def lost_files(pid: int) -> list[str]:
    """Return the files of the store that a process has open and another one has removed."""
    entries = Path(f"/proc/{pid}/fd").iterdir()
    targets = [str(entry.readlink()) for entry in entries if entry.is_symlink()]
    return [target for target in targets if ".sqlite" in target and "(deleted)" in target]


def test_who_looks_into_the_store_of_a_crawl_takes_nothing_from_it(tmp_path, url) -> None:
    settings = {
        "SIMHASH_GATE_STORE": url,
        "SIMHASH_GATE_REVISIT": "drop",
        "SIMHASH_GATE_VERDICTS": "verdicts.jsonl",
    }
    with Site(dict(ARTICLES)).running() as site:
        spider = WAITS + WATCHED
        process, finish = start(tmp_path, site, PATHS, spider=spider, settings=settings)
        with closing(open_store(url)) as store:
            until(lambda: len([*store.records()]) == len(ARTICLES))
        look_into(url)
        python(url, "store.close()")
        assert lost_files(process.pid) == []
        (tmp_path / "go").touch()
        first = finish()
        second = crawl(tmp_path, site, PATHS, spider=WATCHED, settings=settings)
    assert first.delivered() == sorted(ARTICLES)
    assert second.delivered() == []
    assert second.count("unchanged") == len(ARTICLES)
    # Nor did the crawls: who opens and closes the files of a database takes SQLite's locks away.
    assert not (tmp_path / "opened.txt").exists()


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


def test_two_stores_on_one_file_in_one_process_keep_their_locks(tmp_path, url) -> None:
    with closing(open_store(url)) as first:
        first.begin("run")
        for _ in range(2):
            second = open_store(url)
            assert second.is_live("run")
            second.close()
        python(url, "store.close()")
        assert (tmp_path / "store.sqlite-wal").exists()
        assert python(url, "print(store.is_live('run'))") == "True\n"
        assert first.is_live("run")
