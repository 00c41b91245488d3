"""`python -m benchmarks.reliability.scrapy_own_tests`: Scrapy's tests of crawls, with the gate on.

The tests are in the source distribution of Scrapy, and run in an environment of their own: as they
are, and with the gate in Scrapy's default settings, so that each crawl has it, also those of other
processes. What fails with the gate alone is printed. A new release is tried with `--scrapy`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import time
import venv
from collections.abc import Sequence
from configparser import ConfigParser
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from benchmarks.reliability.process import ROOT
from benchmarks.speed.measure import options_of, say, table

TESTS = (
    *("addons", "closespider", "core_*", "crawl", "crawler*", "downloadermiddleware*", "engine*"),
    *("extension_*", "feedexport*", "pipeline*", "request_*", "scheduler*", "signals"),
    *("spider_crawl", "spider_start", "spidermiddleware*"),
)
GATE_IS_ON = "GATE_IS_ON"
GATE = f"""
import os

if "{GATE_IS_ON}" in os.environ:
    ADDONS = {{"simhash_gate.Addon": 0}}
    SIMHASH_GATE_WORKERS = 0
"""
"""What is added to Scrapy's default settings. Of a thousand crawls each would start processes, and
wait for them: the tests read pages in their own."""
EXPLAINED = {
    "test_stats_batch_file_success": "its site draws the links of each page by lot: a page that has"
    " the links of another one in another order is a copy of it",
}
"""Tests that may fail with the gate for a reason that the documentation names."""


class Tested(NamedTuple):
    """What a run of the tests came to: how many ran, and what was said of those that failed."""

    ran: int
    failed: dict[str, str]
    seconds: float


def prepared(folder: Path, scrapy: str) -> Path:
    """Return the sources of a version of Scrapy, with what runs its tests; made once."""
    sources = folder / f"scrapy-{scrapy}"
    python, settings = _python(sources), sources / "scrapy/settings/default_settings.py"
    if settings.exists() and GATE in settings.read_text("utf-8"):
        return sources
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(sources, ignore_errors=True)
    venv.create(folder / "pip", with_pip=True)
    pip = ["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "scrapy"]
    wanted = ["--dest", str(folder), f"scrapy=={scrapy}"]
    subprocess.run([folder / "pip/bin/python", *pip, *wanted], check=True)
    with tarfile.open(next(folder.glob(f"[Ss]crapy-{scrapy}.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    tox = ConfigParser(interpolation=None)
    tox.read(sources / "tox.ini")
    needed = [line for line in tox["test-requirements"]["deps"].splitlines() if line]
    needed = [line.partition("#")[0].strip() for line in needed]
    needed += ["pytest", "pytest-timeout", "pytest-xdist"]
    venv.create(python.parents[1], with_pip=True)
    editable = ("--editable", sources, "--editable", ROOT)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *editable, *needed], check=True)
    with settings.open("a", encoding="utf-8") as file:
        file.write(GATE)
    return sources


def tested(sources: Path, gate: bool) -> Tested:
    """Run the tests, with the gate or without it."""
    results = sources / "results.xml"
    results.unlink(missing_ok=True)
    names = [str(path) for each in TESTS for path in sorted(sources.glob(f"tests/test_{each}.py"))]
    arguments = ["-q", "-n", "auto", f"--junitxml={results}", "--timeout=300"]
    environment = {**os.environ, **({GATE_IS_ON: "1"} if gate else {})}
    began = time.monotonic()
    subprocess.run(
        [_python(sources), "-m", "pytest", *arguments, *names],
        cwd=sources,
        env=environment,
        stdout=sys.stderr,
        check=False,
    )
    failed, cases = {}, ElementTree.parse(results).findall(".//testcase")
    for case in cases:
        for end in (*case.findall("failure"), *case.findall("error")):
            name = f"{case.get('classname')}.{case.get('name')}".removeprefix("tests.")
            failed[name] = (end.get("message") or end.text or "").partition("\n")[0][:200]
    skipped = sum(case.find("skipped") is not None for case in cases)
    return Tested(len(cases) - skipped, failed, time.monotonic() - began)


def _python(sources: Path) -> Path:
    return sources.with_name(f"{sources.name}-tests") / "bin/python"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what fails with the gate alone; return 1 if any of it has no explanation."""
    flags: dict[str, tuple[Any, ...]] = {
        "--scrapy": (version("scrapy"), "the version"),
    }
    given = options_of(__doc__, arguments, flags)
    sources = prepared(Path("build/scrapy").absolute(), given.scrapy)
    runs = {}
    for name, gate in (("without", False), ("with the gate", True)):
        say(f"Scrapy {given.scrapy} {name}")
        runs[name] = tested(sources, gate)
    without, with_gate = runs.values()
    rows = [
        {"tests": name, "ran": run.ran, "failed": len(run.failed), "seconds": run.seconds}
        for name, run in runs.items()
    ]
    print(table(rows))
    unexplained = 0
    for name in sorted(with_gate.failed.keys() - without.failed.keys()):
        reason = next((why for test, why in EXPLAINED.items() if name.endswith(test)), "")
        unexplained += not reason
        print(f"only with the gate: {name}: {reason or with_gate.failed[name]}")
    return int(unexplained > 0 or not with_gate.ran)


if __name__ == "__main__":
    sys.exit(main())
