"""Wrong settings stop a crawl before it starts, and its log has one line of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crawls.harness import Site, crawl, page

ROOT = Path(__file__).parents[2]
WRONG = "SIMHASH_GATE_THRESHOLD = 'three': expected a whole number from 0 to 64"
PLAIN = {"ADDONS": "{}", "DOWNLOADER_MIDDLEWARES": '{"simhash_gate.SimhashGateMiddleware": 20}'}
SPIDERS_ALONE = {"ADDONS": "{}", "SPIDER_MIDDLEWARES": '{"simhash_gate.CallbackWitness": 10000}'}
QUIET = {"LOG_LEVEL": "WARNING", "SIMHASH_GATE_THRESHOLD": "three"}


def line_of(log: str) -> str:
    """Return what a log says, which must be one line, without its time."""
    (line,) = log.strip().splitlines()
    return line.partition(" [simhash_gate] ")[2]


@pytest.mark.parametrize("installed", [{}, PLAIN, SPIDERS_ALONE])
@pytest.mark.parametrize("process", [{}, {"FORCE_CRAWLER_PROCESS": "True"}])
def test_a_command_of_scrapy_prints_one_line_and_fails(tmp_path, installed, process) -> None:
    with Site({"/a": page(1)}).running() as site:
        result = crawl(tmp_path, site, "/a", settings={**QUIET, **installed, **process})
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
        ({"SIMHASH_GATE_RECOVER": "nowhere"}, "no such file or folder"),
        ({"SIMHASH_GATE_RECOVER": ".", "SIMHASH_GATE_ENABLED": "False"}, "needs the gate"),
        ({"SIMHASH_GATE_ACTION": "links", **PLAIN}, "needs the spider middleware"),
        ({"SIMHASH_GATE_AUDIT": "0.1", **PLAIN}, "needs the spider middlewares"),
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


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SCRIPT + code],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )


@pytest.mark.parametrize("kind", ["CrawlerProcess", "AsyncCrawlerProcess"])
def test_in_a_script_the_other_crawls_run(tmp_path, kind: str) -> None:
    result = run(
        f"process = {kind}(settings)\n"
        "process.crawl(Wrong)\nprocess.crawl(Right)\nprocess.start()\n"
        "print('failed', process.bootstrap_failed)",
        tmp_path,
    )
    assert result.stdout == "parsed new\nfailed True\n"
    assert line_of(result.stderr).endswith(f"The crawl does not start: {WRONG}")


def test_a_script_that_awaits_the_crawl_gets_the_exception(tmp_path) -> None:
    result = run(
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
    assert result.stdout == f"{WRONG}\n"
    assert "Traceback" not in result.stderr


def test_errors_of_others_keep_their_tracebacks(tmp_path) -> None:
    result = run(
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
    printed, _, logged = result.stderr.rpartition("[twisted] CRITICAL: Unhandled error")
    assert "KeyError: 'of another'" in logged
    assert result.stderr.count("Unhandled error in Deferred:") == 2  # in the log, and by Twisted
    assert result.stderr.count(WRONG) == 1
    assert "SettingsError" not in result.stderr
    assert printed
