"""Real crawls for the tests: a local site, a spider file, `scrapy runspider` in a process."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.crawls.loaded import LoadedProcess

ROOT = Path(__file__).parents[2]
PLAIN_TEXT = {"Content-Type": "text/plain"}
WITHOUT_ADDON = {
    "ADDONS": "{}",
    "DOWNLOADER_MIDDLEWARES": '{"simhash_gate.SimhashGateMiddleware": 20}',
}
VOCABULARY = [
    "".join(random.Random(n).choices("bcdfglmnprst", k=2)) + f"{a}{b}r"
    for n, (a, b) in enumerate((a, b) for a in "aeiou" for b in "aeiou" for _ in range(24))
]


@dataclass
class Answer:
    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    length: bool = True
    """Whether the length is said beforehand; else the end of the connection is that of the page."""


class Answering:
    """A route whose answer depends on what the request says."""

    def answer_to(self, headers: Mapping[str, str]) -> Answer:
        raise NotImplementedError


Route = Answer | Answering | Callable[[int], Answer]


def text(seed: int, words: int = 300) -> str:
    """Return sentences that share nothing with those of another seed."""
    rng = random.Random(seed)
    chosen = rng.choices(VOCABULARY, k=words)
    for place in range(0, words, 12):
        chosen[place] = chosen[place].capitalize()
        chosen[place - 1] += "."
    return " ".join(chosen)


def page(seed: int, *, noise: int = 0, words: int = 300, links: str = "") -> Answer:
    """Return the article of a seed, among furniture that depends on `noise`."""
    paragraphs = "".join(f"<p>{part}.</p>" for part in text(seed, words).split(". "))
    furniture = text(100_000 + noise, 40)
    html = f"""<!doctype html><html><head><meta charset="utf-8"><title>Story {seed}</title></head>
    <body><nav>Home {noise}</nav>
    <main><article><h1>{text(seed, 5)}</h1>{paragraphs}</article></main>
    <aside class="ad" id="ad-{noise}">{furniture}</aside>
    <footer>{links} {noise} visitors</footer></body></html>"""
    return html_answer(html)


def html_answer(html: str | bytes, **kwargs) -> Answer:
    body = html.encode() if isinstance(html, str) else html
    headers = {"Content-Type": "text/html; charset=utf-8", **kwargs.pop("headers", {})}
    return Answer(body, headers=headers, **kwargs)


def corrected(answer: Answer) -> Answer:
    """Return a page that says a little more than it did."""
    return replace(answer, body=answer.body.replace(b"</p>", b" Corrected.</p>", 1))


def doing(action: Callable[[], object]) -> Route:
    """Return a route that does something before it answers."""

    def answer(_hits: int) -> Answer:
        action()
        return Answer(b"done", headers=PLAIN_TEXT)

    return answer


class Site:
    """A site on loopback that remembers what was asked of it."""

    def __init__(self, routes: Mapping[str, Route]) -> None:
        self.routes = routes
        self.hits: Counter[str] = Counter()
        self.answers: Counter[tuple[str, int]] = Counter()
        self.url = ""

    @contextlib.contextmanager
    def running(self) -> Iterator[Site]:
        with serving(self._answer) as self.url:
            yield self

    def _answer(self, request: BaseHTTPRequestHandler) -> Answer:
        path = request.path
        self.hits[path] += 1
        route = self.routes.get(path, Answer(b"not here", 404))
        if isinstance(route, Answering):
            answer = route.answer_to(request.headers)
        else:
            answer = route(self.hits[path]) if callable(route) else route
        self.answers[path, answer.status] += 1
        return answer


@contextlib.contextmanager
def serving(answer_to: Callable[[BaseHTTPRequestHandler], Answer]) -> Iterator[str]:
    """Answer requests on loopback while the block runs; yield the URL of the server."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # headers and body in one packet: else a body may wait 40 ms

        def do_GET(self) -> None:
            answer = answer_to(self)
            time.sleep(answer.delay)
            with contextlib.suppress(OSError):
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                if answer.length:
                    self.send_header("Content-Length", str(len(answer.body)))
                else:
                    self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(answer.body)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *args) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


SPIDER = """
import scrapy
class Base(scrapy.Spider):
    async def start(self):
        for path in self.settings["TEST_PATHS"].split():
            yield self.request(path)
    def request(self, path, **kwargs):
        kwargs.setdefault("errback", self.failed)
        return scrapy.Request(self.settings["TEST_SITE"] + path, **kwargs)
    def parse(self, response):
        verdict = response.meta["simhash_gate_verdict"]
        yield {"path": response.url[len(self.settings["TEST_SITE"]):], "outcome": verdict.outcome,
               "markdown": verdict.markdown}
    def failed(self, failure):
        yield {"path": failure.request.url[len(self.settings["TEST_SITE"]):],
               "failure": type(failure.value).__name__}
class Spider(Base):
    name = "test"
    def parse(self, response):
        return super().parse(response)
"""
CLOCK = """
class Clock:
    @classmethod
    def from_crawler(cls, crawler):
        clock = cls()
        clock.now = crawler.settings.getint("TEST_NOW")
        return clock
    def process_request(self, request):
        request.meta["simhash_gate_time"] = self.now
Base.custom_settings = {"DOWNLOADER_MIDDLEWARES": {Clock: 10}}
"""
"""Lets a crawl see all pages at the Unix time TEST_NOW; to stand before a spider."""


@dataclass
class Crawl:
    """What a crawl left behind."""

    status: int
    log: str
    items: list[dict]
    stats: dict
    site: Site

    def count(self, name: str) -> int:
        return self.stats.get(f"simhash_gate/{name}", 0)

    def delivered(self) -> list[str]:
        """The paths whose callback ran."""
        return sorted(item["path"] for item in self.items if "failure" not in item)


_started: list[LoadedProcess] = []


def until(condition: Callable[[], object]) -> None:
    """Wait for what another process does; fail if it never does."""
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline, "nothing happens"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    """Tell whether a process runs; one that ended may still wait for its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def json_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def documented(stat: str) -> bool:
    """Tell whether the reference has this stat; the last part may stand for any value."""
    text = (ROOT / "docs/reference.md").read_text("utf-8")
    parent = stat.rpartition("/")[0]
    return f"`{stat}`" in text or f"`{parent}/{{" in text


def start(
    folder: Path,
    site: Site,
    paths: str,
    *,
    spider: str = "",
    settings: dict | None = None,
    given: str = "",
    feed: str = "items.jsonl",
    umask: int = -1,
) -> tuple[LoadedProcess, Callable[[], Crawl]]:
    """Start a crawl; return its process and what waits for its end. `given` are its arguments.

    With a `umask` what the crawl made can be looked at by what the crawl itself says.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # Of a module that is written again within a second, with the same length, old bytecode runs.
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)
    (folder / "spider.py").write_text(SPIDER + spider)
    stats = folder / "stats.json"
    stats.unlink(missing_ok=True)
    chosen = {
        "ADDONS": '{"simhash_gate.Addon": 0}',
        "EXTENSIONS": '{"stats_to_file.StatsToFile": 0}',
        "TELNETCONSOLE_ENABLED": "False",
        "LOG_LEVEL": "INFO",
        "RETRY_BACKOFF_BASE": "0",
        "SIMHASH_GATE_WORKERS": "0",  # tests of page-reading processes ask for some
        "TEST_SITE": site.url,
        "TEST_PATHS": paths,
        "TEST_STATS": str(stats),
        **(settings or {}),
    }
    outputs = [part for name in feed.split() for part in ("-O", name)]
    arguments = [part for name, value in chosen.items() for part in ("-s", f"{name}={value}")]
    arguments += [part for argument in given.split() for part in ("-a", argument)]
    process = LoadedProcess(
        *("scrapy", "runspider", "spider.py", *outputs, *arguments),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(Path(__file__).parent)])},
        umask=umask,
    )

    _started.append(process)

    def finish() -> Crawl:
        _, log = process.communicate(timeout=300)
        stored = folder / feed.split(maxsplit=1)[0]
        for made in (stats, stored):
            if umask >= 0 and made.exists():
                made.chmod(0o600)
        items = json_lines(stored) if stored.exists() else []
        counted = json.loads(stats.read_text()) if stats.exists() else {}
        for name in counted:
            assert not name.startswith("simhash_gate/") or documented(name), f"undocumented: {name}"
        return Crawl(process.returncode, log, items, counted, site)

    return process, finish


def end_crawls() -> None:
    """Kill the crawls that a test has started and not waited for."""
    while _started:
        process = _started.pop()
        if not process.ended:
            process.kill()
            process.communicate()


def crawl(
    folder: Path, site: Site | Mapping[str, Route], paths: str | None = None, **kwargs
) -> Crawl:
    """Run a crawl to its end, of all paths by default. Routes are served as long as it runs."""
    if not isinstance(site, Site):
        with Site(site).running() as served:
            return crawl(folder, served, paths, **kwargs)
    paths = " ".join(site.routes) if paths is None else paths
    return start(folder, site, paths, **kwargs)[1]()


def demonstration(*arguments: str) -> LoadedProcess:
    """Start a crawl of the demonstration: its spider's name, then arguments and settings."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    logged = ("-s", "LOG_LEVEL=INFO")
    process = LoadedProcess("scrapy", "crawl", *logged, *arguments, cwd=ROOT, env=environment)
    _started.append(process)
    return process


def told_by(process: LoadedProcess) -> tuple[dict, str, str]:
    """Wait for a demonstration; return its figures, what it printed before them, and its log."""
    output, log = process.communicate(timeout=600)
    assert process.returncode == 0
    assert "Traceback" not in log
    *before, figures = output.splitlines()
    return json.loads(figures), "\n".join(before), log
