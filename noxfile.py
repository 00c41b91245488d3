"""The tests on every Python and with the versions that pyproject.toml allows: `nox --list`.

Each session runs the fast tests; `nox -s tests-3.12 -- -n 2` runs all of them, or whatever else
pytest is given. A Python that is not installed is left out, and nox says so.
"""

from __future__ import annotations

import os

import nox

nox.needs_version = ">=2024.3.2"
nox.options.default_venv_backend = "uv"  # which can also install the lowest versions
nox.options.error_on_missing_interpreters = os.environ.get("CI") == "true"
nox.options.reuse_existing_virtualenvs = True

PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
OLDEST = PYTHONS[0]
FAST = ["-m", "not slow"]


def run_tests(session: nox.Session) -> None:
    """Run pytest with what was given after `--`, or the fast tests."""
    session.run("python", "-m", "pytest", *(session.posargs or FAST))


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The newest dependencies on each Python."""
    session.install("-e", ".[test]")
    run_tests(session)


@nox.session(python=OLDEST)
def lowest(session: nox.Session) -> None:
    """The oldest version of each direct dependency that pyproject.toml allows."""
    session.install("--resolution", "lowest-direct", "-e", ".[test]")
    run_tests(session)


@nox.session(name="scrapy-2.15")
def oldest_scrapy(session: nox.Session) -> None:
    """The oldest Scrapy among the newest of everything else: its crawls, too."""
    session.install("-e", ".[test]", "scrapy==2.15.*")
    session.run("python", "-m", "pytest", *(session.posargs or ["tests/crawls", "tests/plugin"]))


@nox.session(name="scrapy-master")
def next_scrapy(session: nox.Session) -> None:
    """What Scrapy will be: a failure is no reason to hold a change back, but one to look."""
    master = "scrapy @ git+https://github.com/scrapy/scrapy"
    session.install("-e", ".[test]", master)
    session.run("python", "-m", "pytest", *(session.posargs or ["tests/crawls", "tests/plugin"]))


@nox.session(name="spark-3.5", python="3.11")  # the newest that it knows
def oldest_spark(session: nox.Session) -> None:
    """The oldest PySpark."""
    session.install("-e", ".[test]", "pyspark==3.5.*")
    session.run("python", "-m", "pytest", *(session.posargs or ["tests/spark"]))


@nox.session
def lint(session: nox.Session) -> None:
    """The linter and the type checker."""
    session.install("-e", ".[test,lint]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
