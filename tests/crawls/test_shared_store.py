"""Several processes, one store: a page is dropped for another crawl's only once that one is safe.

Whoever looks into the store of a running crawl does it no harm.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from simhash_gate.options import READABILITY
from simhash_gate.report.summary import Summary
from simhash_gate.stores import StoreUnavailable, open_store
from tests.crawls.harness import ROOT, Site, crawl, doing, html_answer, page, start, until
from tests.crawls.loaded import LoadedProcess
from tests.stores.postgres_server import Pooled, running
from tests.stores.redis_server import DURABLE, RedisServer, SecuredRedis

COPIES = {"/a": page(1), "/b": page(1, noise=2)}

# One of these two steps waits for the test, and may then fail.
SPIDER = """
    async def parse(self, response):
        await told("callback")
        for item in super().parse(response):
            yield item
import asyncio, pathlib
async def told(stage):
    if Spider.stage == stage:
        while not pathlib.Path("go").exists():
            await asyncio.sleep(0.02)
        if Spider.fails:
            raise ValueError("broken")
class Slow:
    async def process_item(self, item):
        await told("pipeline")
        return item
Spider.custom_settings = {{"ITEM_PIPELINES": {{Slow: 100}}}}
Spider.stage, Spider.fails = {stage!r}, {fails!r}
"""


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/store.sqlite"


PATIENCE = """
import pathlib
from simhash_gate.plugin import judging
judging.LONGEST_WAIT = {seconds}
unhurried = judging.pause
async def pause(seconds):
    pathlib.Path("waits").touch()
    await unhurried(seconds)
judging.pause = pause
"""


@pytest.fixture
def meet(tmp_path, url):
    """Let a second crawl meet a copy of the page that a first one is still working on.

    `then(process)` happens meanwhile, or else the first crawl goes on; returns what both came to.
    """

    def run(then=None, *, stage="callback", fails=False, patience=60.0, settings=None, path="/b"):
        chosen = {"SIMHASH_GATE_STORE": url, **(settings or {})}
        with Site(dict(COPIES)).running() as site, closing(open_store(url)) as store:
            spider = SPIDER.format(stage=stage, fails=fails)
            first, finish_first = start(
                tmp_path / "first", site, "/a", spider=spider, settings=chosen
            )
            until(lambda: [*store.records()])
            (kept,) = store.records()
            patient = PATIENCE.format(seconds=patience)
            process, finish_second = start(
                tmp_path / "second", site, path, spider=patient, settings=chosen
            )
            waits = tmp_path / "second" / "waits"
            until(lambda: waits.exists() or process.poll() is not None)
            assert not store.current(kept).settled
            go = tmp_path / "first" / "go"
            then(first) if then else go.touch()
            second = finish_second()
            go.touch()
            return finish_first(), second

    return run


@pytest.mark.parametrize(("stage", "path"), [("callback", "/b"), ("pipeline", "/a")])
def test_a_copy_is_dropped_once_the_other_crawl_is_done_with_it(meet, stage, path) -> None:
    first, second = meet(stage=stage, path=path)
    assert first.delivered() == ["/a"]
    assert second.delivered() == []
    assert second.count("waited") == second.count("dropped") == 1


@pytest.mark.parametrize(("stage", "path"), [("callback", "/a"), ("pipeline", "/b")])
def test_a_copy_is_kept_when_the_page_of_the_other_crawl_fails(meet, stage, path) -> None:
    first, second = meet(stage=stage, fails=True, path=path)
    assert first.delivered() == []
    assert first.count("forgotten") == 1
    assert second.delivered() == [path]
    assert second.count("new") == second.count("waited") == 1


def test_a_copy_is_kept_when_the_other_crawl_is_killed(meet) -> None:
    _, second = meet(lambda first: first.kill())
    assert second.delivered() == ["/b"]
    assert second.count("new") == 1


def test_a_copy_passes_when_nothing_is_known_in_time(meet) -> None:
    first, second = meet(lambda first: None, patience=0.5)
    assert first.delivered() == ["/a"]
    assert second.delivered() == ["/b"]
    assert second.count("near") == second.count("unsettled") == 1


def test_nothing_waits_where_nothing_is_dropped(meet) -> None:
    _, second = meet(lambda first: None, settings={"SIMHASH_GATE_ACTION": "tag"})
    assert [item["outcome"] for item in second.items] == ["duplicate"]
    assert second.count("waited") == 0


def test_of_running_crawls_one_delivers_each_page_later_ones_know_it_and_a_report_adds_up(
    tmp_path, lasting_url
) -> None:
    routes = {f"/{n}": replace(page(n), delay=0.05) for n in range(6)}
    # Each begins elsewhere, when the others are there, and ends when they are done.
    spider = """
    async def start(self):
        self.crawler.signals.connect(self.idle, scrapy.signals.spider_idle)
        while not all_say("here"):
            await asyncio.sleep(0.02)
        async for request in super().start():
            yield request
    def idle(self):
        if not all_say("done"):
            raise scrapy.exceptions.DontCloseSpider
import asyncio, pathlib
def all_say(word):
    pathlib.Path(word).touch()
    return len([*pathlib.Path("..").glob(f"*/{word}")]) == 3
    """
    chosen = {
        "SIMHASH_GATE_STORE": lasting_url,
        "SIMHASH_GATE_VERDICTS": "verdicts.jsonl",
        "CONCURRENT_REQUESTS": 2,
    }
    paths, summary = [*routes], Summary()
    with Site(dict(routes)).running() as site:
        crawls = [
            start(
                tmp_path / f"crawls/{n}", site, " ".join(paths[2 * n :] + paths[: 2 * n]),
                spider=spider, settings=chosen,
            )[1]
            for n in range(3)
        ]  # fmt: skip
        ended = [finish() for finish in crawls]
        later = crawl(tmp_path / "later", site, " ".join(paths), settings=chosen)
    assert sorted(path for each in ended for path in each.delivered()) == sorted(routes)
    assert sum(each.count("dropped_for_earlier") for each in ended) == 2 * len(routes)
    assert later.items == []
    assert later.count("unchanged") == len(routes)
    for n in range(3):
        summary.begin(f"{n}.jsonl")
        verdicts = (tmp_path / f"crawls/{n}/verdicts.jsonl").read_text("utf-8")
        for line in verdicts.splitlines():
            summary.add_line(json.loads(line))
    for (_, row), each in zip(summary.rows(), ended, strict=True):
        responses, _, judged, delivered, dropped, _, _, others, *_ = row
        counts = [each.count(name) for name in ("fetched", "checked", "dropped", "passed")]
        assert [responses, judged, dropped, delivered] == counts
        assert others == dropped


def test_pages_read_in_another_way_are_ignored_and_the_log_says_so(tmp_path, url) -> None:
    settings = {"SIMHASH_GATE_STORE": url, "SIMHASH_GATE_REVISIT": "drop"}
    # Pages are counted while the crawl goes on.
    spider = """
    async def start(self):
        while not Told.told:
            await asyncio.sleep(0.02)
        async for request in super().start():
            yield request
import asyncio, logging
class Told(logging.Handler):
    told = False
    def emit(self, record):
        Told.told = True
logging.getLogger("simhash_gate.plugin.store_run").addHandler(Told())
    """
    with Site({"/a": page(1), "/b": page(2)}).running() as site:
        crawl(tmp_path, site, "/a /b", settings=settings)
        other = {**settings, "SIMHASH_GATE_EXTRACTOR": READABILITY}
        changed = crawl(tmp_path, site, "/a", spider=spider, settings=other)
        again = crawl(tmp_path, site, "/a", spider=spider, settings=settings)
    assert changed.delivered() == ["/a"]
    assert "Ignored: 2 remembered pages, read under another pipeline" in changed.log
    assert again.delivered() == []
    assert "Ignored: 1 remembered page, read" in again.log


def test_pages_that_passed_uncompared_are_told_at_the_end(tmp_path) -> None:
    kept = {f"/{n}": page(n) for n in range(3)}
    others = {"/two": html_answer("<main><p>Two words.</p></main>")}
    others["/large"] = page(1, words=10_000)
    settings = {"CONCURRENT_REQUESTS": 1, "SIMHASH_GATE_STORE": "sqlite:///store.sqlite"}
    with Site(kept | others | {"/copy": page(1, noise=99)}).running() as site:
        blind = {**settings, "SIMHASH_GATE_VERIFY": False}
        crawl(tmp_path, site, " ".join(kept), settings=blind)
        small = {**settings, "SIMHASH_GATE_MAX_BYTES": 50_000}
        result = crawl(tmp_path, site, " ".join(others) + " /copy", settings=small)
    assert result.delivered() == sorted(others), "kept without a sketch, it says the very same"
    assert result.count("not_compared/few_words") == 1
    (closing,) = re.findall("Passed without having been compared: (.*)", result.log)
    assert closing == "1 page: too few words; 1 page: too large (SIMHASH_GATE_MAX_BYTES)"


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
    settings = {"SIMHASH_GATE_STORE": url, "SIMHASH_GATE_REVISIT": "drop"}
    with Site({**ARTICLES, "/other": page(99)}).running() as site:
        spider = WAITS + WATCHED
        process, finish = start(tmp_path / "long", site, PATHS, spider=spider, settings=settings)
        with closing(open_store(url)) as store:
            until(lambda: len([*store.records()]) == len(ARTICLES))
            until(lambda: [record.settled for record in store.records()].count(True) >= 6)
        look_into(url)
        python(url, "store.close()")
        patient = WATCHED + PATIENCE.format(seconds=0.1)
        short = crawl(tmp_path / "short", site, "/0 /other", spider=patient, settings=settings)
        assert lost_files(process.pid) == []
        (tmp_path / "long" / "go").touch()
        long = finish()
        later = crawl(tmp_path / "later", site, f"{PATHS} /other", settings=settings)
    assert short.delivered() == ["/other"]
    assert long.delivered() == sorted(ARTICLES)
    assert later.delivered() == []
    assert later.count("unchanged") == len(ARTICLES) + 1
    # Nor did the crawls: who opens and closes the files of a database takes SQLite's locks away.
    assert not [*tmp_path.glob("*/opened.txt")]


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


# One page after the other, one with * as often as it takes to be judged; at | both crawls meet.
IN_STEP = """
    async def start(self):
        self.known, met = asyncio.Event(), 0
        for path in self.settings["TEST_PATHS"].split():
            if path == "|":
                met += 1
                pathlib.Path(f"met{met}").touch()
                while len([*pathlib.Path("..").glob(f"*/met{met}")]) < 2:
                    await asyncio.sleep(0.02)
                continue
            for number in range(TRIES if path.endswith("*") else 1):
                self.known.clear()
                yield self.request(path.replace("*", str(number)))
                await self.known.wait()
                if self.outcome != "error":
                    break
                await asyncio.sleep(0.2)
    def parse(self, response):
        self.outcome = response.meta["simhash_gate_verdict"].outcome
        self.known.set()
        yield from super().parse(response)
    def failed(self, failure):
        self.outcome = "dropped"
        self.known.set()
        yield from super().failed(failure)
import asyncio, pathlib
TRIES = 100
"""


def test_two_crawls_share_each_server_through_a_stop_and_start(tmp_path, real_server) -> None:
    shared = [f"/{n}" for n in range(8)]
    probes = {f"/{name}{n}": page(1000 + n + 200 * place)
              for place, name in enumerate("ab") for n in range(101)}  # fmt: skip
    routes = {path: page(number) for number, path in enumerate(shared)} | probes
    routes |= {"/away": doing(real_server.stop), "/back": doing(real_server.start)}
    ways = {
        "a": "/0 /1 /2 /3 | /away | /a100 | /back | /a* | /4 /5 /6 /7",
        "b": "/3 /2 /1 /0 | | /b100 | | /b* | /7 /6 /5 /4",
    }
    url = real_server.url + ("&" if "?" in real_server.url else "?") + "timeout=2"
    settings = {"SIMHASH_GATE_STORE": url, "CONCURRENT_REQUESTS": 1}
    with Site(routes).running() as site:
        crawls = [
            start(tmp_path / name, site, way, spider=IN_STEP, settings=settings)[1]
            for name, way in ways.items()
        ]
        first, second = (finish() for finish in crawls)
    for name, each in (("a", first), ("b", second)):
        assert "Traceback" not in each.log, each.log
        assert each.status == 0
        outcomes = {item["path"]: item.get("outcome") for item in each.items}
        assert outcomes[f"/{name}100"] == "error", each.log
        assert each.count("store_outages") == each.log.count("The store works again, after") == 1
        assert "The store has lost" not in each.log
    delivered = Counter(first.delivered() + second.delivered())
    assert {path: delivered[path] for path in shared} == dict.fromkeys(shared, 1)
    until(lambda: is_reached(url))  # sentinels take a while to see that a server is back
    with closing(open_store(url)) as store:
        kept = [record for record in store.records() if record.url.removeprefix(site.url) in shared]
        assert len(kept) == len(shared)
        assert all(record.settled for record in kept)


def is_reached(url) -> bool:
    try:
        open_store(url).close()
    except StoreUnavailable:
        return False
    return True


def test_a_pool_that_keeps_no_session_is_told_at_the_start_with_the_remedy(tmp_path) -> None:
    """A crawler alone on an idle pool may get the same session each time, by chance."""
    with running(Pooled, mode="transaction") as server:
        result = crawl(tmp_path, COPIES, settings={"SIMHASH_GATE_STORE": server.url})
    (told,) = re.findall("ERROR: (The crawl does not start. .*)", result.log)
    assert "pool_mode = session" in told
    assert (result.status, result.delivered()) == (1, [])
    assert "Traceback" not in result.log


@pytest.mark.parametrize(
    ("options", "remedies"),
    [
        ({}, ["appendonly yes"]),
        ({"save": ("3600", "1")}, []),
        ({**DURABLE, "maxmemory_policy": "allkeys-lru"}, ["maxmemory-policy noeviction"]),
        ({**DURABLE, "maxmemory_policy": "volatile-ttl"}, ["maxmemory-policy noeviction"]),
        (DURABLE, []),
    ],
)
def test_a_redis_that_forgets_is_warned_of_once_with_a_remedy(tmp_path, options, remedies) -> None:
    server = RedisServer(tmp_path / "redis", maxmemory="100mb", **options)
    warned = warnings_of(server, tmp_path)
    assert len(warned) == len(remedies), warned
    assert all(remedy in line for line, remedy in zip(warned, remedies, strict=True)), warned


def test_a_redis_whose_settings_may_not_be_asked_for_is_used_without_a_word(tmp_path) -> None:
    assert warnings_of(SecuredRedis(tmp_path / "redis"), tmp_path) == []


def warnings_of(server, folder):
    """Crawl on a server; return what the log warns of."""
    try:
        result = crawl(folder, COPIES, settings={"SIMHASH_GATE_STORE": server.url})
    finally:
        server.kill()
    assert result.count("new") == result.count("duplicate") == 1
    return re.findall("WARNING: (.*)", result.log)
