"""Several crawls in one process: each has its own verdicts, stats and files, and none is lost."""

import json
import os
from pathlib import Path

import pytest

from simhash_gate.journal.segments import drops
from tests.crawls.harness import ROOT, SPIDER, Site, json_lines, page
from tests.crawls.loaded import LoadedProcess

ARTICLES = {f"/{n}": page(n) for n in range(12)}
COPIES = {f"/copy/{n}": page(n, noise=7) for n in range(12)}
BROKEN = "/3"

SCRIPT = """
import gc, json, sys, weakref
from scrapy.crawler import CrawlerProcess, CrawlerRunner
how, names, common = sys.argv[1], sys.argv[2].split(), json.loads(sys.argv[3])
from simhash_gate.plugin import middleware
middleware._FREEZE_EVERY = 5
frozen, collected = [], []
class Ring:
    def __init__(self):
        self.itself = self
class Spider(Base):
    def parse(self, response):
        frozen.append(gc.get_freeze_count())
        self.ring = getattr(self, "ring", None) or Ring()
        yield from super().parse(response)
        if self.settings["TEST_BROKEN"] and response.url.endswith(self.settings["TEST_BROKEN"]):
            raise ValueError("broken")
    def closed(self, reason):
        if hasattr(self, "ring"):
            ring = weakref.ref(self.ring)
            del self.ring
            gc.collect()
            collected.append(ring() is None)
classes = {name: type(name, (Spider,), {"name": name}) for name in names}
def settings(number):
    own = {
        "FEEDS": {f"{number}.jsonl": {"format": "jsonlines"}},
        "TEST_STATS": f"{number}.stats",
        "SIMHASH_GATE_VERDICTS": f"{number}.verdicts",
        "SIMHASH_GATE_REPORT": f"{number}.html",
        "TEST_BROKEN": common["broken"] if number == 0 else "",
        # One page after the other: what the first one makes is there when memory is frozen.
        **({} if how == "at once" else {"CONCURRENT_REQUESTS": 1}),
    }
    own = {name: value for name, value in own.items() if name not in common["settings"]}
    return {
        "ADDONS": {"simhash_gate.Addon": 0},
        "EXTENSIONS": {"stats_to_file.StatsToFile": 0},
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "INFO",
        "SIMHASH_GATE_WORKERS": 0,
        "TEST_SITE": common["site"],
        "TEST_PATHS": common["paths"],
        **own,
        **common["settings"],
    }
if how == "at once":
    process = CrawlerProcess(settings(0))
    for number, name in enumerate(names):
        made = process.create_crawler(classes[name])
        made.settings.update(settings(number), priority="cmdline")
        process.crawl(made)
    process.start()
else:
    from twisted.internet.task import react
    from scrapy.utils.log import configure_logging
    from scrapy.utils.reactor import install_reactor
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    configure_logging({"LOG_LEVEL": "INFO"})
    from twisted.internet import defer, reactor
    @defer.inlineCallbacks
    def one_after_the_other():
        for number, name in enumerate(names):
            yield CrawlerRunner(settings(number)).crawl(classes[name])
        reactor.stop()
    reactor.callWhenRunning(one_after_the_other)
    reactor.run()
# While a crawl runs, the collector looks at no module, and soon no more at what is remembered;
# then at all again, and at what the crawl left.
assert frozen[0] > 10_000 and gc.get_freeze_count() == 0, frozen
assert how == "at once" or not collected[0], collected  # the first of several ends that for all
"""


class Crawled:
    """What one of the crawls left: its delivered paths, its stats, and the lines of its log."""

    def __init__(self, folder: Path, number: int) -> None:
        items = json_lines(folder / f"{number}.jsonl")
        self.delivered = sorted(item["path"] for item in items if "markdown" in item)
        stats = json.loads((folder / f"{number}.stats").read_text())
        self.stats = {k[13:]: v for k, v in stats.items() if k.startswith("simhash_gate/")}
        self.verdicts = lines_of(folder / f"{number}.verdicts")
        self.report = (folder / f"{number}.html").read_text()

    def adds_up(self) -> bool:
        """Tell whether its stats and its verdicts are those of the pages that it asked for."""
        parts = ("passed", "held", "dropped")
        counts = {name: self.stats.get(name, 0) for name in ("fetched", *parts)}
        dropped = sum(line["dropped"] for line in self.verdicts)
        return (
            counts["fetched"] == len(self.verdicts) == sum(counts[part] for part in parts)
            and counts["dropped"] == dropped
            and len({line["crawl"]["run"] for line in self.verdicts if "crawl" in line}) == 1
        )


def lines_of(path: Path) -> list[dict]:
    return [line for line in json_lines(path) if "outcome" in line]


def crawl_all(
    folder: Path, how: str, names: str, routes: dict, *, broken="", **settings
) -> tuple[list[Crawled], str]:
    (folder / "crawls.py").write_text(SPIDER.replace("Spider(Base)", "_(Base)") + SCRIPT)
    common = {"paths": " ".join(routes), "broken": broken, "settings": settings}
    environment = os.pathsep.join([str(ROOT), str(ROOT / "tests/crawls")])
    with Site(routes).running() as site:
        process = LoadedProcess(
            *("crawls", how, names, json.dumps({**common, "site": site.url})),
            cwd=folder,
            env={**os.environ, "PYTHONPATH": environment},
        )
        _, log = process.communicate(timeout=120)
    assert process.returncode == 0, log
    assert "Traceback" not in log.replace("ValueError: broken", "") or broken, log
    own = "SIMHASH_GATE_VERDICTS" not in settings
    return [Crawled(folder, n) for n in range(len(names.split()))] if own else [], log


@pytest.mark.parametrize("names", ["one two", "one one"])
@pytest.mark.parametrize("store", ["memory:", "sqlite"])
def test_crawls_at_once_share_their_store_and_nothing_else(tmp_path, store, names) -> None:
    url = store if store == "memory:" else f"sqlite:///{tmp_path}/store.sqlite"
    routes = ARTICLES | COPIES
    crawls, _ = crawl_all(tmp_path, "at once", names, routes, SIMHASH_GATE_STORE=url)
    assert [len(crawled.verdicts) for crawled in crawls] == [24, 24]
    assert all(crawled.adds_up() for crawled in crawls)
    articles = [sorted(path.rpartition("/")[2] for path in c.delivered) for c in crawls]
    everything = sorted(str(n) for n in range(12))
    if store == "memory:":
        assert articles == [everything, everything]
    else:
        assert sorted(articles[0] + articles[1]) == everything


@pytest.mark.parametrize("names", ["one two", "one one"])
def test_a_page_that_fails_in_one_crawl_is_delivered_by_the_other(tmp_path, names) -> None:
    store = f"sqlite:///{tmp_path}/store.sqlite"
    (failing, other), _ = crawl_all(
        tmp_path, "at once", names, ARTICLES, broken=BROKEN, SIMHASH_GATE_STORE=store
    )
    assert other.stats.get("forgotten", 0) == 0
    assert failing.stats.get("forgotten", 0) <= 1
    assert set(failing.delivered) | set(other.delivered) == set(ARTICLES)
    if failing.stats.get("forgotten"):
        assert BROKEN in other.delivered


@pytest.mark.parametrize("names", ["one two", "one one"])
@pytest.mark.parametrize("store", ["memory:", "sqlite"])
def test_a_crawl_after_another_knows_what_the_store_knows_and_nothing_else(
    tmp_path, store, names
) -> None:
    url = store if store == "memory:" else f"sqlite:///{tmp_path}/store.sqlite"
    crawls, _ = crawl_all(tmp_path, "one after the other", names, ARTICLES, SIMHASH_GATE_STORE=url)
    assert all(crawled.adds_up() for crawled in crawls)
    first, second = crawls
    assert first.delivered == sorted(ARTICLES)
    assert first.stats["new"] == 12
    if store == "memory:":
        assert second.delivered == sorted(ARTICLES)
        assert second.stats["new"] == 12
    else:
        assert second.delivered == []
        assert second.stats["unchanged"] == 12


@pytest.mark.parametrize("names", ["one two", "one one"])
def test_crawls_with_the_same_files_mix_up_no_line_and_lose_no_drop(tmp_path, names) -> None:
    shared = {
        "SIMHASH_GATE_VERDICTS": "both.verdicts",
        "SIMHASH_GATE_REPORT": "both.html",
        "SIMHASH_GATE_JOURNAL": "journal",
    }
    _, log = crawl_all(tmp_path, "at once", names, ARTICLES | COPIES, **shared)
    assert " ERROR" not in log
    verdicts = lines_of(tmp_path / "both.verdicts")
    assert len(verdicts) == 48
    stats = [json.loads((tmp_path / f"{n}.stats").read_text()) for n in (0, 1)]
    dropped = sum(each["simhash_gate/dropped"] for each in stats)
    assert sum(line["dropped"] for line in verdicts) == dropped == 24
    kept = list(drops(str(tmp_path / "journal"), pytest.fail))
    assert len(kept) == 24
    assert "</html>" in (tmp_path / "both.html").read_text()[-20:]
