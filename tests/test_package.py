"""What a stranger installs: the built files, in a new environment, in a Scrapy project."""

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.crawls.harness import ROOT, Site, page

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("uv") is None and os.environ.get("CI") != "true", reason="no uv"),
]
UV = [sys.executable, "-m", "uv"]
SPIDER = """
import scrapy
class News(scrapy.Spider):
    name = "news"
    start_urls = ["{url}/1", "{url}/1?print=1", "{url}/2"]
    def parse(self, response):
        yield {{"url": response.url, "markdown": response.meta["simhash_gate_verdict"].markdown}}
"""
CONSUMER = """
from scrapy.http import Response

from simhash_gate import Gate, NearDuplicate, Page, Policy, SiteSpider, Verdict, read_page

page: Page = read_page(b"<h1>Title</h1>", url="https://example.com/")
words: int = page.words
policy = Policy(threshold=4)


class Docs(SiteSpider):
    name = "docs"

    def item(self, response: Response) -> dict[str, object] | None:
        verdict: Verdict = response.meta["simhash_gate_verdict"]
        return {"title": verdict.title, "outcome": verdict.outcome}
"""


def run(*command: str | Path, cwd: Path) -> str:
    environment = {**os.environ, "PYTHONUTF8": "1"}
    for name in ("PYTHONPATH", "VIRTUAL_ENV"):
        environment.pop(name, None)
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A folder with the wheel and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    run(*UV, "build", "--quiet", "-o", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def stranger(built, tmp_path_factory) -> Path:
    """The programs of an environment that had Scrapy, and then got the wheel."""
    folder = tmp_path_factory.mktemp("stranger")
    run(*UV, "venv", "--quiet", "--seed", "--python", sys.executable, folder / "env", cwd=folder)
    programs = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    run(*UV, "pip", "install", "--quiet", "--python", programs / "python", "scrapy", cwd=folder)
    pip = (programs / "python", "-m", "pip")  # uv keeps what is there, and pip does not
    before = run(*pip, "freeze", cwd=folder).splitlines()
    run(*pip, "install", "--quiet", next(built.glob("*.whl")), cwd=folder)
    after = run(*pip, "freeze", cwd=folder).splitlines()
    assert set(before) <= set(after)  # no package that was there has another version
    return programs


def test_the_documents_say_why_each_package_is_there() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    listed = re.search(r"^dependencies = \[\n(.*?)^\]", project, re.MULTILINE | re.DOTALL)[1]
    needed = set(re.findall(r'^    "([\w-]+)', listed, re.MULTILINE))
    text = (ROOT / "docs/production.md").read_text("utf-8")
    rows = re.findall(r"^\| (`.*?) \|", text.partition("## Upgrade")[0], re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([\w-]+)`", row)} == needed


def test_no_server_starts_without_a_password() -> None:
    """Compose reads `:?` as: neither missing nor empty."""
    told = (ROOT / "docs/deploy/compose.yaml").read_text("utf-8")
    assert len(re.findall(r"(?<!\$)\$\{STORE_PASSWORD:\?", told)) == 3
    assert len(re.findall(r"(?<!\$)\$\{", told)) == 3


def test_the_built_files_have_what_is_needed_and_nothing_else(built) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2].partition("/")[0] for name in archive.getnames()}
    assert names == {
        *("CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml", "simhash_gate"),
        ".gitignore",
    }
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    listed = subprocess.check_output(["git", "ls-files", "simhash_gate"], cwd=ROOT, text=True)
    assert packed == set(listed.splitlines())


def test_the_configuration_of_the_readme_works_in_another_project(stranger, tmp_path) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    settings = re.search(r"```python\n# settings.py\n(.*?)```", readme, re.DOTALL)[1]
    run(stranger / "scrapy", "startproject", "theirs", ".", cwd=tmp_path)
    with (tmp_path / "theirs/settings.py").open("a") as file:
        file.write(f"\n{settings}\nDOWNLOAD_DELAY = 0\n")
    routes = {"/1": page(1), "/1?print=1": page(1, noise=5), "/2": page(2)}
    with Site(routes).running() as site:
        (tmp_path / "theirs/spiders/news.py").write_text(SPIDER.format(url=site.url))
        log = run(stranger / "scrapy", "crawl", "news", "-O", "monday.jsonl", cwd=tmp_path)
        run(stranger / "scrapy", "crawl", "news", "-O", "tuesday.jsonl", cwd=tmp_path)
    assert log.count("near-duplicate of") == 1
    assert "Traceback" not in log
    items = [json.loads(line) for line in (tmp_path / "monday.jsonl").read_text().splitlines()]
    assert len(items) == 2
    assert all(item["markdown"] for item in items)
    assert (tmp_path / "tuesday.jsonl").read_text() == ""


def test_the_commands_and_the_other_extractor_are_there(stranger, tmp_path) -> None:
    (tmp_path / "a.html").write_bytes(page(1).body)
    told = run(stranger / "simhash-gate", "fingerprint", "a.html", cwd=tmp_path)
    assert len(json.loads(told.splitlines()[0])["fingerprint"]) == 16
    run(stranger / "python", "-c", "from readability import Document", cwd=tmp_path)


def test_the_types_of_the_package_are_those_of_its_users(stranger, tmp_path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "consumer.py").write_text(CONSUMER)
    checker = (sys.executable, "-m", "mypy", "--strict", "--python-executable", stranger / "python")
    run(*checker, "consumer.py", cwd=tmp_path)
