"""Listeners of a project in real crawls; and which modules the gate loads and names."""

import ast
import re

from scrapy.utils.misc import load_object

from simhash_gate import Listener
from simhash_gate.plugin.features import FEATURES
from tests.crawls.harness import ROOT, Site, corrected, crawl, page

OWN = """
import sys
from simhash_gate import Listener

class Own(Listener):
    async def ask_store(self, request):
        request.headers["X-Asked"] = "yes"

    def answered(self, request, response):
        if response.url.endswith("/c") and not response.flags:
            return response.replace(flags=[request.headers["X-Asked"].decode()])
        return response

    def given(self, verdict, request, domain):
        raise ValueError("a fault of the project's own")

    def judged(self, judged, page):
        with open("judged.txt", "a") as file:
            told = judged.domain, judged.verdict.outcome, judged.dropped, judged.response.flags
            print(*told, file=file)
        raise KeyError("another one")

    async def closed(self):
        with open("loaded.txt", "w") as file:
            print(*(name for name in sys.modules if name.startswith("simhash_gate.")), file=file)
"""


def test_a_listener_of_a_project_is_asked_and_told_and_its_faults_lose_nothing(tmp_path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    routes = {"/a": page(1), "/b": page(1, noise=2), "/c": page(3)}
    settings = {"CONCURRENT_REQUESTS": 1, "SIMHASH_GATE_LISTENERS": "own.Own"}
    result = crawl(tmp_path, routes, "/a /b /c", settings=settings)
    assert result.delivered() == ["/a", "/c"]
    assert {"path": "/b", "failure": "NearDuplicate"} in result.items
    told = (tmp_path / "judged.txt").read_text().splitlines()
    assert told == [
        "127.0.0.1 new False []",
        "127.0.0.1 duplicate True []",
        "127.0.0.1 new False ['yes']",
    ]
    errors = re.findall(r"ERROR: (Own\.\w+) failed, and the crawl goes on without it", result.log)
    assert errors == ["Own.given", "Own.judged"]
    loaded = set((tmp_path / "loaded.txt").read_text().split())
    off = {"journal", "kept_texts", "revalidation", "verdict_log"}
    assert loaded.isdisjoint({f"simhash_gate.plugin.features.{name}" for name in off})
    assert "simhash_gate.plugin.features.waiting_room" in loaded


def test_one_list_names_the_features_and_nobody_else_does() -> None:
    names = [path.rpartition(".")[2] for path, _ in FEATURES]
    for path, _ in FEATURES:
        assert issubclass(load_object(f"simhash_gate.plugin.features.{path}"), Listener)
    middleware = (ROOT / "simhash_gate/plugin/middleware.py").read_text("utf-8")
    assert not [name for name in names if re.search(rf"\b{name}\b", middleware)]
    imported = [
        node.module
        for node in ast.walk(ast.parse(middleware))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("simhash_gate")
    ]
    assert len(imported) <= 18


def test_the_documented_listener_writes_down_each_page_that_has_changed(tmp_path) -> None:
    docs = (ROOT / "docs/listeners.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n# tutorial/listeners.py\n(.*?)```", docs, re.DOTALL)
    settings = {"SIMHASH_GATE_LISTENERS": "spider.Changes", "SIMHASH_GATE_STORE": "sqlite:"}
    routes = {"/a": page(1), "/b": page(2), "/c": page(3)}
    with Site(routes).running() as site:
        crawl(tmp_path, site, spider=code, settings=settings)
        routes |= {"/b": corrected(page(2)), "/c": page(4)}
        second = crawl(tmp_path, site, spider=code, settings=settings)
    assert [second.count(it) for it in ("unchanged", "updated", "rewritten")] == [1, 1, 1]
    lines = (tmp_path / "changes.txt").read_text("utf-8").splitlines()
    assert sorted(line.split()[0] for line in lines) == [f"{site.url}/b", f"{site.url}/c"]


def test_the_page_on_listeners_names_all_that_they_may_override() -> None:
    rows = (ROOT / "docs/listeners.md").read_text("utf-8").partition("| Method |")[2]
    told = re.findall(r"^\| `(?:await )?(\w+)\(", rows, re.MULTILINE)
    assert told == [name for name in vars(Listener) if not name.startswith("_")]


ENTERED = """
import sys
from pathlib import Path
import simhash_gate
from simhash_gate.plugin.signals import near_duplicate_dropped

ROOT, entered = Path(simhash_gate.__file__).parent.as_posix(), set()

def note(frame, event, argument):
    if event == "call" and frame.f_code.co_filename.startswith(ROOT):
        entered.add(frame.f_code.co_filename)

class Profiler:
    def __init__(self, crawler):
        crawler.signals.connect(self.dropped, near_duplicate_dropped)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def process_request(self, request):
        if request.url.endswith("/b"):
            sys.setprofile(note)

    def dropped(self):
        sys.setprofile(None)
        Path("entered.txt").write_text("\\n".join(entered))

Spider.custom_settings = {"DOWNLOADER_MIDDLEWARES": {Profiler: 19}}
"""


def test_a_duplicate_enters_few_modules_in_the_process_of_the_crawl(tmp_path) -> None:
    routes = {"/a": page(1), "/c": page(3), "/b": page(1, noise=2)}
    settings = {"CONCURRENT_REQUESTS": 1, "SIMHASH_GATE_WORKERS": 1}
    result = crawl(tmp_path, routes, "/a /c /b", spider=ENTERED, settings=settings)
    assert result.delivered() == ["/a", "/c"]
    entered = (tmp_path / "entered.txt").read_text().splitlines()
    assert 40 < len(entered) <= 60
