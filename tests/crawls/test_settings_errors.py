"""Wrong settings stop a crawl before it starts, and its log has one line of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawls.harness import Site, crawl, page
from tests.crawls.loaded import LoadedProcess

if TYPE_CHECKING:
    from pathlib import Path

WRONG = "SIMHASH_GATE_THRESHOLD = 'three': expected a whole number from 0 to 64"
PLAIN = {"ADDONS": "{}", "DOWNLOADER_MIDDLEWARES": '{"simhash_gate.SimhashGateMiddleware": 20}'}
SPIDERS_ALONE = {"ADDONS": "{}", "SPIDER_MIDDLEWARES": '{"simhash_gate.CallbackWitness": 10000}'}
QUIET = {"LOG_LEVEL": "WARNING", "SIMHASH_GATE_THRESHOLD": "three"}


def line_of(log: str) -> str:
    """Return what a log says, which must be one line, without its time."""
    (line,) = log.strip().splitlines()
    return line.partition(" [simhash_gate] ")[2]


@pytest.mark.parametrize("installed", [{}, {"FORCE_CRAWLER_PROCESS": "True"}, PLAIN, SPIDERS_ALONE])
def test_a_command_of_scrapy_prints_one_line_and_fails(tmp_path, installed) -> None:
    with Site({"/a": page(1)}).running() as site:
        result = crawl(tmp_path, site, "/a", settings={**QUIET, **installed})
    assert result.status == 1
    assert line_of(result.log) in (
        f"ERROR: The crawl does not start: {WRONG}",
        f"CRITICAL: The crawl does not start: {WRONG}",
    )
    assert not site.hits


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"SIMHASH_GATE_TRESHOLD": "3"}, "did you mean SIMHASH_GATE_THRESHOLD?"),
        ({"SIMHASH_GATE_ENABLED": "perhaps"}, "expected True or False"),
        ({"SIMHASH_GATE_DOMAINS": "nowhere.toml"}, "nowhere.toml: No such file"),
        ({"SIMHASH_GATE_REPORT": "%(day)s.html"}, "expected the path of a file"),
        ({"SIMHASH_GATE_ACTION": "links", **PLAIN}, "needs the spider middleware"),
        ({"SIMHASH_GATE_AUDIT": "0.1", **PLAIN}, "needs the spider middlewares"),
        ({"SIMHASH_GATE_REVISIT": "links", **PLAIN}, "needs the spider middleware"),
        ({"SIMHASH_GATE_TRAPS": "limit", **PLAIN}, "needs the spider middleware"),
        (
            {"SIMHASH_GATE_REVALIDATE": "True", **PLAIN},
            "simhash_gate.ConditionalRequests to DOWNLOADER_MIDDLEWARES at 840",
        ),
    ],
)
def test_each_wrong_setting_is_one_line(tmp_path, settings, said) -> None:
    with Site({"/a": page(1)}).running() as site:
        result = crawl(tmp_path, site, "/a", settings={"LOG_LEVEL": "WARNING", **settings})
    assert result.status == 1
    assert said in line_of(result.log)
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
def test_in_a_script_the_other_crawls_run(tmp_path, kind: str) -> None:
    printed, logged = run(
        f"process = {kind}(settings)\n"
        "process.crawl(Wrong)\nprocess.crawl(Right)\nprocess.start()\n"
        "print('failed', process.bootstrap_failed)",
        tmp_path,
    )
    assert printed == "parsed new\nfailed True\n"
    assert line_of(logged).endswith(f"The crawl does not start: {WRONG}")


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


def test_errors_of_others_keep_their_tracebacks(tmp_path) -> None:
    _, logged = run(
        """
from twisted.internet.defer import fail
process = CrawlerProcess(settings)
process.crawl(Wrong)
gc.collect()
fail(KeyError("of another"))
gc.collect()
process.start()
""",
        tmp_path,
    )
    before, _, unhandled = logged.rpartition("[twisted] CRITICAL: Unhandled error")
    assert "KeyError: 'of another'" in unhandled
    assert logged.count("Unhandled error in Deferred:") == 2  # in the log, and by Twisted
    assert logged.count(WRONG) == 1
    assert "SettingsError" not in logged
    assert before
