"""`simhash-gate crawl`, and the spider behind it: from a URL to a corpus of its site."""

import os
import re
import signal
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from crawler.site.process import running_site, shop_url, truth
from simhash_gate import SiteSpider
from simhash_gate.offline.corpus import COLUMNS
from tests.crawls.harness import (
    PLAIN_TEXT,
    ROOT,
    Answer,
    Site,
    html_answer,
    json_lines,
    page,
    text,
    until,
)
from tests.crawls.loaded import LoadedProcess
from tests.offline.command import COMMAND, files_up_to

pytestmark = pytest.mark.slow

NO_WAITS = "DOWNLOAD_DELAY AUTOTHROTTLE_ENABLED RETRY_BACKOFF_BASE SIMHASH_GATE_WORKERS".split()
FAST = [part for name in NO_WAITS for part in ("-s", f"{name}=0")]
XML = {"Content-Type": "application/xml"}


def started(folder: Path, *arguments: str) -> LoadedProcess:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return LoadedProcess("simhash_gate.cli", "crawl", *FAST, *arguments, cwd=folder, env=env)


def told(process: LoadedProcess) -> tuple[int, str]:
    _, messages = process.communicate(timeout=300)
    assert "Traceback" not in messages, messages
    return process.returncode, messages


def paths(file: Path) -> list[str]:
    parts = [urlsplit(line["url"]) for line in json_lines(file)]
    return sorted(part.path + (f"?{part.query}" if part.query else "") for part in parts)


def links(*targets: str) -> str:
    return "".join(f'<a href="{target}">{target}</a>' for target in targets)


def documented() -> list[str]:
    """What docs/commands.md shows that the command says."""
    text = (ROOT / "docs/commands.md").read_text("utf-8")
    return re.search(r"^```text\n(Crawling.*?)```", text, re.MULTILINE | re.DOTALL)[1].splitlines()


def routes() -> dict:
    """A site with a copy, a page that only the sitemap has, and links that lead elsewhere."""
    elsewhere = links("http://localhost:9/", "/private", "/gone", "/file.pdf", "mailto:a@example")
    sitemap = "<urlset><url><loc>{site}/docs/3</loc></url><url><loc>http://localhost:9/</loc></url></urlset>"
    return {
        "/": page(1, links=links("/docs/", "/docs/2?print=1") + elsewhere),
        "/docs/": page(9, links=links("/docs/2", "/docs/4", "/")),
        "/docs/2": page(2),
        "/docs/2?print=1": page(2, noise=7),
        "/docs/3": page(3),
        "/docs/4": page(4, links=links("/docs/5")),
        "/docs/5": page(5),
        "/private": page(6),
        "/file.pdf": Answer(b"%PDF-1.4", headers={"Content-Type": "application/pdf"}),
        "/robots.txt": Answer(
            b"User-agent: *\nDisallow: /private\nSitemap: /map.xml", headers=PLAIN_TEXT
        ),
        "/map.xml": Answer(sitemap.encode(), headers=XML),
    }


@pytest.fixture
def site():
    with Site(routes()).running() as running:
        sitemap = running.routes["/map.xml"]
        sitemap.body = sitemap.body.replace(b"{site}", running.url.encode())
        yield running


def test_a_site_becomes_a_corpus_that_has_each_page_once(tmp_path, site) -> None:
    status, messages = told(started(tmp_path, f"{site.url}/", "-o", "corpus.jsonl"))
    assert status == 0
    found = json_lines(tmp_path / "corpus.jsonl")
    copies = {"/docs/2", "/docs/2?print=1"}
    got = set(paths(tmp_path / "corpus.jsonl"))
    assert len(found) == len(got) == 6
    assert got - copies == {"/", "/docs/", "/docs/3", "/docs/4", "/docs/5"}
    for line in found:
        assert set(line) == set(COLUMNS) - {"id"}
        assert line["title"].startswith("Story ")
        assert line["markdown"].startswith("# ")
        assert line["words"] > 100
    assert site.hits["/private"] == site.hits["/file.pdf"] == 0
    assert max(site.hits.values()) == 1 or site.hits["/robots.txt"] == 2  # Scrapy's own, and ours
    assert "pages: 6; copies left out: 1; addresses to go: 0" in messages
    assert "addresses that robots.txt forbids: 1" in messages
    said = messages.replace(f"{site.url}/", "https://docs.example.com")
    for shown in documented():
        assert re.sub(r"\d+", "0", shown) in re.sub(
            r"\d+", "0", said.replace(str(tmp_path), "/home/me")
        )
    asked = [*COMMAND, "why", f"{site.url}/docs/2?print=1", "--in", "corpus.jsonl.crawl"]
    assert f"{site.url}/docs/2" in subprocess.check_output(asked, cwd=tmp_path, text=True)
    # A corpus that is whole is not crawled again, nor anything else written over.
    status, messages = told(started(tmp_path, f"{site.url}/", "-o", "corpus.jsonl"))
    assert status == 2
    assert "it is there already" in messages
    assert json_lines(tmp_path / "corpus.jsonl") == found


def test_what_a_crawl_wrote_is_converted_without_a_loss(tmp_path) -> None:
    """The pages of a shop of which nothing but their data tells one from another."""
    shop = {
        f"/hat-{n}": html_answer(
            '<title>Hat</title><script type="application/ld+json">{"@type": "Product", "name":'
            f' "Hat", "sku": "{n}", "offers": {{"price": "{n}.00", "priceCurrency": "EUR"}}}}'
            f"</script><h1>Hat</h1><p>{text(1, 80)}</p>"
        )
        for n in range(10, 16)
    }
    with Site({"/": page(2, links=links(*shop)), **shop}).running() as site:
        status, _ = told(started(tmp_path, f"{site.url}/", "-o", "corpus.jsonl"))
    assert status == 0
    whole = json_lines(tmp_path / "corpus.jsonl")
    assert len(whole) == 7
    source = "corpus.jsonl"
    for form in ("folder", "corpus.parquet", "again.jsonl"):
        subprocess.run([*COMMAND, "dedupe", source, "-o", form], cwd=tmp_path, check=True)
        source = form
    found = {line.pop("id"): line for line in json_lines(tmp_path / "again.jsonl")}
    assert found == {line["url"]: line for line in whole}


def test_a_file_that_was_removed_is_made_anew(tmp_path, site) -> None:
    stopped = (f"{site.url}/", "-o", "corpus.jsonl", "-s", "CLOSESPIDER_ITEMCOUNT=1")
    status, messages = told(started(tmp_path, *stopped))
    assert status == 0
    assert "Not all was crawled (closespider_itemcount). The same command goes on." in messages
    (tmp_path / "corpus.jsonl").unlink()
    assert told(started(tmp_path, *stopped[:3], "-q")) == (0, "")
    assert len(json_lines(tmp_path / "corpus.jsonl")) == 6


def test_the_crawl_stays_below_the_folder_of_its_start(tmp_path, site) -> None:
    status, _ = told(started(tmp_path, f"{site.url}/docs/", "--below", "-o", "corpus.jsonl"))
    assert status == 0
    assert paths(tmp_path / "corpus.jsonl") == [f"/docs/{n}" for n in ("", 2, 3, 4, 5)]
    assert site.hits["/"] == 0


def test_lists_of_links_are_followed_and_left_out_if_asked(tmp_path) -> None:
    routes = {f"/{n}": page(n) for n in range(12)}
    entries = "".join(
        f'<li><h2><a href="/{n}">A story about number {n}</a></h2><p>{text(n, 20)}</p></li>'
        for n in range(12)
    )
    routes["/"] = html_answer(f"<html><body><main><ul>{entries}</ul></main></body></html>")
    with Site(routes).running() as site:
        for arguments, number in (((), 13), (("--without", "listings"), 12)):
            output = f"{number}.jsonl"
            status, _ = told(started(tmp_path, site.url, "-o", output, *arguments))
            assert (status, len(json_lines(tmp_path / output))) == (0, number)


@pytest.mark.parametrize("start", ["/docs", "/docs/", "/docs/index.html"])
def test_what_is_below_a_start(start) -> None:
    spider = SiteSpider(f"https://www.example.com{start}", below=True)
    for path in ("/docs", "/docs/", "/docs/2?print=1", "/docs/a/b.html"):
        assert spider.is_ours(f"https://example.com{path}")
    for path in ("", "/", "/documents", "/en/docs/2"):
        assert not spider.is_ours(f"https://example.com{path}")
    assert not spider.is_ours("https://example.org/docs/")
    assert not spider.is_ours("http://[")
    assert SiteSpider("https://example.com").is_ours("https://example.com")


def test_an_address_that_answers_nothing_is_named_with_the_reason(tmp_path) -> None:
    with Site({}).running() as site:
        url = site.url
    status, messages = told(started(tmp_path, url, "-o", "corpus.jsonl", "-s", "RETRY_TIMES=1"))
    assert status == 1
    assert messages.count(" ERROR: ") == 1
    assert re.search(rf"<GET {url}/?(robots.txt)?> .*: Connection was refused", messages)
    assert "Traceback" not in messages
    last = messages.splitlines()[-1]
    said = "No page was found. Is this the right address? 127.0.0.1: Connection was refused"
    assert last.startswith(said)


def test_it_says_where_a_start_leads_that_is_not_of_the_site(tmp_path) -> None:
    with Site({"/": page(1)}).running() as other:
        there = other.url.replace("127.0.0.1", "localhost")
        moved = {"/": Answer(b"", 301, headers={"Location": f"{there}/"})}
        with Site(moved).running() as site:
            status, messages = told(started(tmp_path, site.url, "-o", "corpus.jsonl"))
    assert status == 1
    assert f"{site.url} leads to {there}/, which is another site" in messages
    assert "No page was found" in messages
    assert not (tmp_path / "corpus.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["example.com", "-o", "a.jsonl"], "example.com is no URL"),
        (["https://example.com", "-o", "a.csv"], "ends in .jsonl"),
        (["https://example.com", "-o", "a.jsonl", "-s", "JOBDIR=x"], "expected NAME=VALUE"),
        (["https://example.com", "-o", "a.jsonl", "-s", "SIMHASH_GATE_STORE=x"], "a SiteSpider"),
        (["https://example.com", "-o", "a.jsonl", "-s", "SIMHASH_GATE_NEER=1"], "NEAR"),
    ],
)
def test_a_wrong_command_line_is_told_at_once(tmp_path, arguments, message) -> None:
    status, messages = told(started(tmp_path, *arguments))
    assert status == 2
    assert message in messages
    assert list(tmp_path.iterdir()) == []


def test_after_a_full_disk_the_same_command_goes_on(tmp_path) -> None:
    stories = {f"/{n}": page(n, words=4000) for n in range(1, 13)}
    with Site({"/": page(99, links=links(*stories)), **stories}).running() as site:
        words = [*COMMAND, "crawl", f"{site.url}/", "-o", "corpus.jsonl", *FAST]
        with files_up_to(200_000):
            done = subprocess.run(words, cwd=tmp_path, check=False, capture_output=True, text=True)
        assert done.returncode == 1
        assert "corpus.jsonl: File too large" in done.stderr
        some = paths(tmp_path / "corpus.jsonl")
        assert 3 < len(some) < 13
        assert told(started(tmp_path, f"{site.url}/", "-o", "corpus.jsonl"))[0] == 0
    assert paths(tmp_path / "corpus.jsonl") == sorted(["/", *stories])


def test_after_a_kill_and_after_ctrl_c_no_page_is_lost_and_none_written_twice(tmp_path) -> None:
    file = tmp_path / "corpus.jsonl"

    def grown_to(count: int) -> bool:
        return file.exists() and file.read_bytes().count(b"\n") >= count

    with running_site(20) as url:
        slowly = ("-s", "DOWNLOAD_DELAY=0.05")
        arguments = (f"{url}/", shop_url(url), "-o", "corpus.jsonl")
        process = started(tmp_path, *arguments, *slowly)
        until(lambda: grown_to(30))
        assert told(started(tmp_path, *arguments))[0] == 1  # one at a time
        process.kill()
        process.communicate()
        with file.open("ab") as torn:
            torn.write(b'{"url": "http://')
        killed = len(truth(url).log)
        process = started(tmp_path, *arguments, *slowly)
        until(lambda: grown_to(60))
        process.send_signal(signal.SIGINT)
        status, messages = told(process)
        assert status == 130
        assert "The last part did not end cleanly" in messages
        assert "The same command goes on" in messages
        before = len(truth(url).log)
        status, messages = told(started(tmp_path, *arguments))
        assert status == 0
        known = truth(url)
    parts = [urlsplit(line["url"]) for line in json_lines(file)]
    got = Counter(f"{part.path}?{part.query}".rstrip("?") for part in parts)
    assert max(Counter(line["url"] for line in json_lines(file)).values()) == 1
    pages = [served for served in known.log if served.path in got and served.status == 200]
    assert {served.article for served in pages if served.article} == set(known.articles)
    assert {served.product for served in pages if served.product} == set(known.products)
    addresses = defaultdict(set)
    for served in known.log:
        addresses[served.article or served.product].add(served.path)
    came = {served.path for served in known.log[killed:before] if served.status == 200}
    again = [each for each in known.log[before:] if each.status == 200 and each.path in came]
    # Copies whose links wait are fetched again. Of what was fetched before Ctrl-C nothing else is.
    copies = addresses.keys() - {None} - {what for what, its in addresses.items() if len(its) < 2}
    others = {each.path for each in again if (each.article or each.product) not in copies}
    assert others <= {"/robots.txt"}


def test_what_cannot_be_fetched_is_counted_and_the_rest_is_written(tmp_path) -> None:
    routes = {"/": page(1, links=links("/down", "/2", "/app")), "/2": page(2)}
    app = html_answer("<title>App</title><div id=root></div><script>words = 'of a script'</script>")
    routes |= {"/down": Answer(b"", 503), "/app": app}  # an item without text is none
    with Site(routes).running() as site:
        arguments = ["-s", "RETRY_TIMES=1", "-o", "corpus.jsonl"]
        status, messages = told(started(tmp_path, f"{site.url}/", *arguments))
    assert status == 1
    assert "addresses that could not be fetched: 1" in messages
    assert "pages without text that can be read: 1" in messages
    assert paths(tmp_path / "corpus.jsonl") == ["/", "/2"]


def test_people_can_make_a_spider_of_their_own_of_it(tmp_path, site) -> None:
    spider = """
from simhash_gate import SiteSpider
class Docs(SiteSpider):
    name = "docs"
    below = True
    def __init__(self, **kwargs):
        super().__init__(url=os.environ["TEST_START"], **kwargs)
    def is_ours(self, url):
        return super().is_ours(url) and not url.endswith("/5")
    def item(self, response):
        return {**super().item(response), "path": response.url}
"""
    (tmp_path / "docs.py").write_text("import os\n" + spider)
    process = LoadedProcess(
        *("scrapy", "runspider", "docs.py", "-O", "docs.jsonl", *FAST),
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TEST_START": f"{site.url}/docs/"},
    )
    status, log = told(process)
    assert status == 0
    assert paths(tmp_path / "docs.jsonl") == [f"/docs/{n}" for n in ("", 2, 3, 4)]
    assert "'USER_AGENT': 'simhash-gate/" in log
    assert all(line["path"] == line["url"] for line in json_lines(tmp_path / "docs.jsonl"))
