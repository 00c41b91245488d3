"""The examples of docs/commands.md and docs/urls.md, run: what they show is what comes out."""

import re
import runpy
import shlex

import pytest

from simhash_gate.cli import COMMANDS
from tests.crawls.harness import ROOT

DOCS = "".join((ROOT / f"docs/{name}.md").read_text("utf-8") for name in ("commands", "urls"))
CONSOLES = re.findall(r"```console\n(.*?)```", DOCS, re.DOTALL)
EXAMPLES = [
    example
    for console in CONSOLES
    for example in re.findall(r"^\$ simhash-gate (.*)\n((?:(?!\$).*\n)*)", console, re.MULTILINE)
]


@pytest.fixture
def hive(tmp_path, monkeypatch) -> None:
    """What the block above the examples makes; they run in its folder."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples/hive.py"), run_name="__main__")
    for path in (tmp_path / "hive").iterdir():
        path.rename(tmp_path / path.name)


@pytest.mark.usefixtures("hive")
@pytest.mark.parametrize(("command", "shown"), EXAMPLES)
def test_an_example_shows_what_comes_out(run, command: str, shown: str) -> None:
    result = run(*shlex.split(command))
    assert result.out + result.err == shown


def test_every_command_has_an_example() -> None:
    crawls = {"crawl"}  # its example is compared where there is a site to crawl
    assert {command.split()[0] for command, _ in EXAMPLES} == set(COMMANDS) - crawls
