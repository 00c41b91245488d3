"""Wrong settings stop a crawl before it starts, and its log has one line of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawls.harness import Site, crawl, page
from tests.crawls.loaded import LoadedProcess

if TYPE_CHECKING:
    from pathlib import Path

WRONG = "SIMHASH_GATE_THRESHOLD = 'three': expected a whole number from 0 to 64"
WITHOUT_ADDON = {
    "ADDONS": "{}",
    "DOWNLOADER_MIDDLEWARES": '{"simhash_gate.SimhashGateMiddleware": 20}',
}
SPIDERS_ALONE = {"ADDONS": "{}", "SPIDER_MIDDLEWARES": '{"simhash_gate.CallbackWitness": 10000}'}


def line_of(log: str) -> str:
    """Return what a log says, which must be one line, without its time."""
    (line,) = log.strip().splitlines()
    return line.partition(" [simhash_gate] ")[2]


@pytest.mark.parametrize(
    ("name", "value", "more", "said"),
    [
        ("THRESHOLD", "three", {}, WRONG),
        ("THRESHOLD", "three", {"FORCE_CRAWLER_PROCESS": "True"}, WRONG),
        ("THRESHOLD", "three", WITHOUT_ADDON, WRONG),
        ("THRESHOLD", "three", SPIDERS_ALONE, WRONG),
        ("TRESHOLD", "3", {}, "did you mean SIMHASH_GATE_THRESHOLD?"),
        ("REPORT", "%(day)s.html", {}, "expected the path of a file"),
        ("REPORT", "report.html", {}, "pip install 'simhash-gate[report]'"),
        ("ACTION", "links", WITHOUT_ADDON, "needs the spider middleware"),
        ("AUDIT", "0.1", WITHOUT_ADDON, "needs the spider middlewares"),
        ("REVISIT", "links", WITHOUT_ADDON, "needs the spider middleware"),
        ("TRAPS", "limit", WITHOUT_ADDON, "needs the spider middleware"),
        ("REVALIDATE", "True", WITHOUT_ADDON, "simhash_gate.ConditionalRequests to DOWNLOADER"),
    ],
)
def test_a_command_of_scrapy_prints_one_line_and_fails(tmp_path, name, value, more, said) -> None:
    (tmp_path / "jinja2.py").write_text("raise ImportError")
    settings = {"LOG_LEVEL": "WARNING", f"SIMHASH_GATE_{name}": value, **more}
    with Site({"/a": page(1)}).running() as site:
        result = crawl(tmp_path, site, "/a", settings=settings)
    assert result.status == 1
    level, _, told = line_of(result.log).partition(": The crawl does not start: ")
    assert level in ("ERROR", "CRITICAL")
    assert f"SIMHASH_GATE_{name}" in told
    assert said in told
    assert not site.hits


SCRIPT = """
import asyncio, gc, sys
import scrapy
from scrapy.crawler import AsyncCrawlerProcess, AsyncCrawlerRunner, CrawlerProcess
from scrapy.utils.reactor import install_reactor
from simhash_gate.values import SettingsError

class Wrong(scrapy.Spider):
    name = "wrong"
    start_urls = ["data:text/html,<p>one"]
    custom_settings = {"SIMHASH_GATE_THRESHOLD": "three"}

class Right(Wrong):
    name = "right"
    custom_settings = {"SIMHASH_GATE_WORKERS": 0}
    def parse(self, response):
        print("parsed", response.meta["simhash_gate_verdict"].outcome)

settings = {"ADDONS": {"simhash_gate.Addon": 0}, "LOG_LEVEL": "WARNING"}
"""


def run(code: str, folder: Path) -> tuple[str, str]:
    """Run a script; return what it printed and what it logged."""
    (folder / "script.py").write_text(SCRIPT + code)
    return LoadedProcess("script", cwd=folder).communicate()


@pytest.mark.parametrize("kind", ["CrawlerProcess", "AsyncCrawlerProcess"])
def test_in_a_script_the_other_crawls_run_and_errors_of_others_keep_their_tracebacks(
    tmp_path, kind: str
) -> None:
    printed, logged = run(
        f"""
from twisted.internet.defer import fail
process = {kind}(settings)
process.crawl(Wrong)
process.crawl(Right)
gc.collect()
fail(KeyError("of another"))
gc.collect()
process.start()
print("failed", process.bootstrap_failed)
""",
        tmp_path,
    )
    assert printed == "parsed new\nfailed True\n"
    assert logged.count(f"The crawl does not start: {WRONG}") == logged.count(WRONG) == 1
    assert "SettingsError" not in logged
    _, heading, unhandled = logged.rpartition("[twisted] CRITICAL: Unhandled error")
    assert heading
    assert "KeyError: 'of another'" in unhandled
    assert logged.count("Unhandled error in Deferred:") == 2  # in the log, and by Twisted


def test_a_script_that_awaits_the_crawl_gets_the_exception(tmp_path) -> None:
    printed, logged = run(
        """
from twisted.internet import asyncioreactor
install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
from twisted.internet.defer import Deferred
from twisted.internet.task import react

async def main():
    try:
        await Deferred.fromFuture(AsyncCrawlerRunner(settings).crawl(Wrong))
    except SettingsError as error:
        print(error)

react(lambda _: Deferred.fromCoroutine(main()))
""",
        tmp_path,
    )
    assert printed == f"{WRONG}\n"
    assert "Traceback" not in logged
