"""The commands of README and docs, pasted in the order of their page, from the state that it names.

A block that is not run says why, in a comment before it or, for all of its page, before the first.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.crawls.harness import ROOT, Site, corrected, html_answer, page

PAGES = {
    path.name: path.read_text("utf-8")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
}
FENCE = re.compile(r"(?:^<!-- not run: (.*) -->\n)?^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ALL_OF_IT = re.compile(r"^<!-- nothing here is run: (.*) -->$", re.MULTILINE)
STORIES = range(1, 7)


class Block(NamedTuple):
    """A block of a page; `excuse` says why its commands are not run."""

    excuse: str
    language: str
    text: str

    @property
    def commands(self) -> str:
        if self.language == "console":
            return "\n".join(re.findall(r"^\$ (.*)", self.text, re.MULTILINE))
        return self.text if self.language == "sh" else ""


def blocks_of(name: str) -> list[Block]:
    every = ALL_OF_IT.search(PAGES[name])
    found = [Block(*parts) for parts in FENCE.findall(PAGES[name])]
    return [block._replace(excuse=every[1]) for block in found] if every else found


def has_commands(name: str) -> bool:
    return any(block.commands and not block.excuse for block in blocks_of(name))


def is_in_the_project(name: str) -> bool:
    return "project of [Start](start.md)" in " ".join(PAGES[name].split())


def routes() -> dict:
    """A site of stories, each with a version for print."""
    links = "".join(f'<a href="/story/{n}">{n}</a>' for n in STORIES)
    found = {"/": html_answer(f"<html><body><h1>News</h1>{links}</body></html>")}
    for n in STORIES:
        found[f"/story/{n}"] = page(n, links=f'<a href="/story/{n}?print=1">print</a>')
        found[f"/story/{n}?print=1"] = page(n, noise=100 + n)
    return found | {"/docs": page(90)}


def without_figures(line: str) -> str:
    """Return a line without numbers: those of the document are of another site."""
    return re.sub(r"\d+", "0", line)


class Reader:
    """Somebody who pastes blocks, one after the other, from a folder on; with a real site."""

    def __init__(self, folder: Path, site: Site) -> None:
        self.folder, self.site, self.said = folder, site, ""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        self._environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}

    def paste(self, name: str) -> None:
        for block in blocks_of(name):
            here = re.sub(r"https://(\w+\.)?example\.com", self.site.url, block.text)
            here = here.replace("example.com", "127.0.0.1")
            if block.language == "python" and here.startswith("# tutorial/"):
                path, _, code = here.partition("\n")
                with (self.folder / path.removeprefix("# ")).open("a") as file:
                    file.write(f"{code}DOWNLOAD_DELAY = 0\nRETRY_TIMES = 0\n")
            elif block.language == "text" and name == "start.md":
                self.sees(here)
            elif block.commands and not block.excuse:
                self.run(block._replace(text=here))

    def run(self, block: Block) -> None:
        if "tuesday" in block.text:
            for path in ("/story/1", "/story/1?print=1"):
                self.site.routes[path] = corrected(self.site.routes[path])
        options = "-e" if block.language == "sh" else "+e"  # what has an output may be a complaint
        done = subprocess.run(
            ["bash", options, "-c", f"{block.commands}\npwd > '{self.folder}/.where'"],
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        self.said = done.stdout
        assert done.returncode == 0, f"{block.commands}\n{self.said}"
        assert "Traceback" not in self.said
        self.folder = Path((self.folder / ".where").read_text().strip())
        if block.language == "console":
            shown = re.sub(r"^\$ .*\n", "", block.text, flags=re.MULTILINE)
            assert sorted(self.said.splitlines()) == sorted(shown.splitlines())

    def sees(self, shown: str) -> None:
        """Check what the last command said, but for figures."""
        known = {without_figures(line) for line in self.said.splitlines()}
        for line in filter(None, shown.splitlines()):
            wanted = without_figures(line)
            assert any(wanted in each for each in known), f"{line}\n{self.said}"

    def urls(self, file: str) -> list[str]:
        lines = (self.folder / file).read_text("utf-8").splitlines()
        return [json.loads(line)["url"] for line in lines]


def test_each_page_with_commands_names_the_state_that_they_start_from() -> None:
    for name, text in PAGES.items():
        if has_commands(name):
            assert is_in_the_project(name) or "In a checkout" in " ".join(text.split()), name


@pytest.mark.timeout(300)
def test_start_leads_to_a_project_in_which_the_commands_of_the_other_pages_run(tmp_path) -> None:
    (tmp_path / "checkout").mkdir()
    with Site(routes()).running() as site:
        reader = Reader(tmp_path / "checkout", site)
        reader.paste("start.md")
        delivered = {day: reader.urls(f"{day}.jsonl") for day in ("trial", "monday", "tuesday")}
        assert [len(urls) for urls in delivered.values()] == [12, 6, 1]
        assert delivered["tuesday"] == [f"{site.url}/story/1"]
        for name in filter(is_in_the_project, PAGES):
            other = Reader(tmp_path / name, site)
            shutil.copytree(reader.folder, other.folder)
            other.paste(name)
            if name == "sharing.md":
                assert len(other.urls("one.jsonl") + other.urls("two.jsonl")) == 6
            elif name == "stores.md":
                assert len(other.urls("first.jsonl")) == 6
                assert len(other.urls("again.jsonl")) == 1
            elif name == "journal.md":
                assert len(other.urls("again.jsonl")) == 6
        off = "scrapy crawl news -s SIMHASH_GATE_ENABLED=False -O off.jsonl"
        reader.run(Block("", "sh", off))
        assert len(reader.urls("off.jsonl")) == 12


@pytest.mark.timeout(300)
def test_what_is_pasted_in_a_checkout_runs(tmp_path) -> None:
    with Site(routes()).running() as site:
        for name in sorted(PAGES):
            if has_commands(name) and name != "start.md" and not is_in_the_project(name):
                (tmp_path / name).mkdir()
                for path in ("examples", "benchmarks", "crawler"):
                    (tmp_path / name / path).symlink_to(ROOT / path)
                Reader(tmp_path / name, site).paste(name)


def test_what_is_not_run_names_what_exists() -> None:
    for name in PAGES:
        for block in blocks_of(name):
            for module in re.findall(r"python -m (\w+[.\w]*)", block.commands):
                assert importlib.util.find_spec(module), module
