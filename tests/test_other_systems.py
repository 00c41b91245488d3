"""Windows, as far as that can be tried here: a crawl in which what only POSIX has is missing."""

import json
import os
import subprocess
import sys

import pytest

from tests.crawls.harness import ROOT, Site, page

pytestmark = pytest.mark.slow

# Twisted and filelock have their own answers to Windows; what they load of POSIX is loaded before.
WITHOUT_POSIX = """
import os, sys, types
import filelock, scrapy.cmdline
import twisted.internet.asyncioreactor, twisted.internet.process, twisted.internet.unix
for name in ("fcntl", "termios", "resource", "grp", "pwd"):
    sys.modules[name] = None
for name in ("fork", "set_blocking", "sched_getaffinity", "getuid", "killpg"):
    delattr(os, name)
sys.platform = "other"
from simhash_gate.common import files
missing = ("fchmod", "fchown")
files.os = types.SimpleNamespace(**{k: v for k, v in vars(os).items() if k not in missing})
scrapy.cmdline.execute(["scrapy", "runspider", "spider.py", *sys.argv[1:]])
"""
SPIDER = """
import scrapy
class Spider(scrapy.Spider):
    name = "test"
    custom_settings = {{"ADDONS": {{"simhash_gate.Addon": 0}}, "TELNETCONSOLE_ENABLED": False}}
    start_urls = ["{url}/1", "{url}/1?print=1", "{url}/2"]
    def parse(self, response):
        yield {{"url": response.url}}
"""


APPLICATION = """
import os, sys
sys.path.insert(0, {root!r})
with open("{tmp_path}/starts", "a") as file:
    file.write("one\\n")
sys.executable = "{tmp_path}/app"
if {frozen}:
    sys.frozen = True
import scrapy.cmdline
workers = ["-s", "SIMHASH_GATE_WORKERS=2"]
scrapy.cmdline.execute(["scrapy", "runspider", "spider.py", "-O", "items.jsonl", *workers])
"""


@pytest.fixture
def crawl(tmp_path):
    with Site({"/1": page(1), "/1?print=1": page(1, noise=5), "/2": page(2)}).running() as site:
        (tmp_path / "spider.py").write_text(SPIDER.format(url=site.url))

        def run(*arguments: str) -> subprocess.CompletedProcess:
            return subprocess.run(
                [sys.executable, "-c", WITHOUT_POSIX, "-O", "items.jsonl", *arguments],
                cwd=tmp_path,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )

        yield run


def test_a_crawl_needs_nothing_that_only_posix_has(crawl, tmp_path) -> None:
    everything = ["STORE=sqlite:///pages.sqlite", "VERDICTS=verdicts.jsonl", "REPORT=report.html"]
    everything.append("WORKERS=2")
    done = crawl(*(part for name in everything for part in ("-s", f"SIMHASH_GATE_{name}")))
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert len(items) == 2, done.stderr
    assert len((tmp_path / "verdicts.jsonl").read_text().splitlines()) == 3
    assert (tmp_path / "report.html").stat().st_size > 1000
    again = crawl("-s", "SIMHASH_GATE_STORE=sqlite:///pages.sqlite")
    assert "Traceback" not in again.stderr, again.stderr
    assert (tmp_path / "items.jsonl").read_text() == ""


def test_a_journal_is_refused_in_one_line(crawl) -> None:
    done = crawl("-s", "SIMHASH_GATE_JOURNAL=dropped")
    assert done.returncode == 1
    assert "SIMHASH_GATE_JOURNAL" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("frozen", [True, False])
def test_an_application_in_place_of_python_is_not_started_again_and_again(
    crawl, tmp_path, frozen
) -> None:
    """`sys.executable -c` starts its crawl anew, frozen or not; each start is a line of a file."""
    app = tmp_path / "app"
    code = APPLICATION.format(frozen=frozen, tmp_path=tmp_path, root=str(ROOT))
    (tmp_path / "app.py").write_text(code)
    app.write_text(f'#!/bin/sh\nexec {sys.executable} {tmp_path}/app.py "$@"\n')
    app.chmod(0o755)
    done = subprocess.run(
        [str(app)], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True
    )
    starts = len((tmp_path / "starts").read_text().splitlines())
    inline = done.stderr.count("Pages are read in the crawl's own process")
    assert (starts, inline) == (1, 1) if frozen else 1 < starts < 20
    assert not frozen or len((tmp_path / "items.jsonl").read_text().splitlines()) == 2
