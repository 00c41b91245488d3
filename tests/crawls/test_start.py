"""docs/start.md, gone through: every block, in order, in a new folder, with a real site."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crawls.harness import ROOT, Site, html_answer, page

START = (ROOT / "docs/start.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", START, re.MULTILINE | re.DOTALL)
STORIES = range(1, 7)


def routes() -> dict:
    """A site of stories, each with a version for print."""
    links = "".join(f'<a href="/story/{n}">{n}</a>' for n in STORIES)
    found = {"/": html_answer(f"<html><body><h1>News</h1>{links}</body></html>")}
    for n in STORIES:
        found[f"/story/{n}"] = page(n, links=f'<a href="/story/{n}?print=1">print</a>')
        found[f"/story/{n}?print=1"] = page(n, noise=100 + n)
    return found


def without_figures(line: str) -> str:
    """Return a line without numbers: those of the document are of another site."""
    return re.sub(r"\d+", "0", line)


@pytest.mark.timeout(300)
def test_the_first_ten_minutes_are_as_they_are_told(tmp_path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    said, delivered = "", {}
    with Site(routes()).running() as site:
        for language, block in BLOCKS:
            here = block.replace("https://example.com", site.url).replace(
                "example.com", "127.0.0.1"
            )
            if language == "text":  # what the last command says
                known = {without_figures(line) for line in said.splitlines()}
                for line in filter(None, here.splitlines()):
                    wanted = without_figures(line)
                    assert any(wanted in each for each in known), f"{line}\n{said}"
            elif language == "python":
                name, _, code = here.partition("\n")
                with (tmp_path / name.removeprefix("# ")).open("a") as file:
                    file.write(f"{code}DOWNLOAD_DELAY = 0\n")
            else:
                done = subprocess.run(
                    ["bash", "-ec", here],
                    cwd=tmp_path,
                    env=environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    timeout=120,
                    check=False,
                )
                said = done.stdout
                assert done.returncode == 0, said
                assert "Traceback" not in said
                for file in re.findall(r"-O (\S+)", here):
                    lines = (tmp_path / file).read_text("utf-8").splitlines()
                    delivered[file] = [json.loads(line)["url"] for line in lines]
    assert len(delivered["trial.jsonl"]) == 12
    assert len(delivered["monday.jsonl"]) == 6
    assert delivered["tuesday.jsonl"] == []
