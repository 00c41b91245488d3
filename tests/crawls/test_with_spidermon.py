"""Real crawls with Spidermon: its monitors of the gate, at the end and in between."""

import json
import re

import pytest

from tests.crawls import alike
from tests.crawls.harness import Site, crawl, html_answer, page, text

pytest.importorskip("spidermon", reason="spidermon is not installed")

SUITE = "simhash_gate.plugin.spidermon.GateMonitorSuite"
SETTINGS = {
    "EXTENSIONS": json.dumps(
        {"stats_to_file.StatsToFile": 0, "spidermon.contrib.scrapy.extensions.Spidermon": 500}
    ),
    "SPIDERMON_ENABLED": "True",
    "SPIDERMON_ENGINE_STOP_MONITORS": SUITE,
}
OK = {
    "Dropped pages/not too many pages were dropped, and not too few": "OK",
    "Unjudged pages/not too many pages passed unjudged": "OK",
    "Pages that read alike/few domains have pages that read alike": "OK",
}
*SHARES, ALIKE = OK
DROPPED, UNJUDGED = SHARES
FEW = DROPPED.replace("Dropped pages", "Few")


def results(log: str) -> dict[str, str]:
    """Return what each monitor found."""
    return dict(re.findall(r"\[Spidermon\] ([A-Z][^.\n]*)\.\.\. ([A-Z]+)", log))


@pytest.fixture
def beside():
    return alike.Beside(spider=alike.PLAIN, settings=SETTINGS)


def test_pages_are_dropped_and_fetched_again_without_an_alarm(beside, tmp_path) -> None:
    result = alike.drops(beside, tmp_path / "drops")
    assert results(result.log) == OK
    assert result.stats["simhash_gate/dropped_share"] == pytest.approx(2 / 6, abs=1e-6)
    alike.fetches_again(beside, tmp_path / "again")


STRICT = """
import sys
from simhash_gate.plugin.spidermon import DroppedMonitor, GateMonitorSuite
class Few(DroppedMonitor):
    least, most = {bounds}
class Suite(GateMonitorSuite):
    monitors = [Few, *GateMonitorSuite.monitors[1:]]
sys.modules["strict"] = sys.modules[__name__]
"""


@pytest.mark.parametrize(
    ("suite", "bounds", "alarm", "said"),
    [
        ("strict.Suite", (0.0, 0.3), FEW, "33.3%, were dropped (at most 0.3)"),
        ("strict.Suite", (0.5, 1.0), FEW, "33.3%, were dropped (at least 0.5)"),
        (SUITE, None, UNJUDGED, "6 of 6 judged pages, 100.0%, passed unjudged; the store failed 6"),
    ],
)
def test_limits_are_those_of_the_suite(tmp_path, beside, suite, bounds, alarm, said) -> None:
    store = "memory:" if bounds else "redis://127.0.0.1:1/0"
    settings = {"SPIDERMON_ENGINE_STOP_MONITORS": suite}
    if bounds:
        beside.spider += STRICT.format(bounds=bounds)
    result = beside.crawl(tmp_path, alike.ROUTES, SIMHASH_GATE_STORE=store, **settings)
    found = OK | {alarm: "FAIL"}
    if bounds:
        del found[DROPPED]
    assert results(result.log) == found
    assert said in result.log


def test_pages_that_read_alike_are_an_alarm(tmp_path) -> None:
    names = {f"/{n}": text(n, 3) for n in range(8)}
    html = "<title>{0}</title><h1>{0}</h1><p>" + text(77, 400)
    routes = {path: html_answer(html.format(name)) for path, name in names.items()}
    result = crawl(tmp_path, routes, settings=SETTINGS)
    assert result.count("collapses") == 1
    assert results(result.log)[ALIKE] == "FAIL"
    said = "1 warning that many pages of a domain read alike"
    assert f"{said} (at most 0)" in result.log


@pytest.mark.parametrize("enabled", [True, False])
def test_a_crawl_without_a_judged_page_is_no_alarm(tmp_path, enabled) -> None:
    spider = "    def parse(self, response): pass\n"
    settings = {**SETTINGS, "SIMHASH_GATE_ENABLED": enabled}
    with Site({} if enabled else {"/a": page(1)}).running() as site:
        result = crawl(tmp_path, site, "/a", spider=spider, settings=settings)
    assert results(result.log) == OK | dict.fromkeys(SHARES, "SKIPPED")
