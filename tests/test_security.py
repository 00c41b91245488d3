"""What a hostile site can try, as SECURITY.md tells it.

What pages say goes into logs, files and terminals: it forges no line, and moves nothing. A page
leads to nothing that is no page, and takes neither the time nor the memory of others.
"""

import csv
import gzip
import json
import os
import re
import subprocess
import sys
from contextlib import closing
from html import escape
from pathlib import Path

import pytest
from click.testing import CliRunner

from simhash_gate.cli import main
from simhash_gate.journal.segments import drops
from simhash_gate.journal.warc import Drop, Stored, pack
from simhash_gate.options import Options
from simhash_gate.pipeline import read_page
from simhash_gate.workers.pool import WorkerPool
from tests.crawls.harness import ROOT, Answer, Site, crawl, html_answer, json_lines, text
from tests.journal.test_warc import members
from tests.offline.command import COMMAND, write_lines
from tests.sources.opened import measured

pytestmark = pytest.mark.slow

FORGED = "2030-01-01 00:00:00 [scrapy.core.engine] ERROR: forged"
HOSTILE = (
    f"A\r\n{FORGED}\x85{FORGED}\u2028{FORGED} \x1b[31mred\x1b]0;title\x07 \x9b2J "
    "\u202egnp.exe\u2066 <script>window.pwned=1</script> javascript:alert(1)"
)
SETTINGS = {
    "CONCURRENT_REQUESTS": 1,
    "SIMHASH_GATE_COMPARE": '[".own"]',
    "SIMHASH_GATE_VERDICTS": "verdicts.jsonl",
    "SIMHASH_GATE_REPORT": "report.html",
    "SIMHASH_GATE_KEEP_MARKDOWN": 10_000_000,
}
SPIDER = """
    def parse(self, response):
        yield {"path": response.url[len(self.settings["TEST_SITE"]):],
               **{cell.attrib["title"]: cell.attrib["data-n"] for cell in response.css("td")}}
"""


def story(number: int, *, name: str, own: str, sold: str, cell: str) -> str:
    """Return a page that says what the others say, but for what it is called, sells and shows."""
    offers = {"@type": "Offer", "price": sold, "priceCurrency": sold, "sku": sold}
    data = json.dumps({"@type": "Product", "name": name, "sku": sold, "offers": offers})
    data = data.replace("<", "\\u003c")
    return f"""<!doctype html><html><head><meta charset="utf-8"><title>{escape(name)}</title>
    <script type="application/ld+json">{data}</script></head>
    <body><main><article><h1>{escape(name)}</h1><p class="own">{escape(own)}</p>
    <p>{text(1)}</p><table><tr><td title="{escape(cell)}" data-n="{number}">c</td></tr>
    </table></article></main></body></html>"""


def ran(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, from a folder."""
    where = {"cwd": folder, "env": {**os.environ, "PYTHONPATH": str(ROOT)}}
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False, **where)


def routes() -> dict:
    found = {}
    for number in range(12):
        said = f"{HOSTILE} {'abcdefghijkl'[number] * 9}"
        plain = {"name": "One name", "own": "the same", "sold": "1", "cell": "c"}
        changed = ["name", "own", "sold", "cell"][number % 4]
        if number > 3:
            plain[changed] = said.replace("/", "") if changed == "cell" else said
        found[f"/{number}"] = html_answer(story(number, **plain))
    return found


def is_harmless(line: str) -> bool:
    return line.isprintable() and len(line.splitlines()) <= 1


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    settings = {**SETTINGS, "SIMHASH_GATE_STORE": f"sqlite:///{folder}/store.sqlite"}
    with Site(routes()).running() as site:
        done = [
            crawl(folder / n, site, " ".join(site.routes), spider=SPIDER, settings=settings)
            for n in ("first", "second")
        ]
    assert [each.status for each in done] == [0, 0]
    return folder, done


def test_no_line_of_the_log_is_forged(crawled) -> None:
    _, done = crawled
    for each in done:
        ours = [line for line in each.log.split("\n") if "[simhash_gate" in line]
        assert len(ours) >= 10
        assert [line for line in ours if not is_harmless(line)] == []
        assert not [line for line in each.log.splitlines() if line.startswith(FORGED)]


def test_lines_of_json_stay_lines_wherever_they_are_shown(crawled) -> None:
    folder, _ = crawled
    files = [*folder.glob("*/verdicts.jsonl")]
    assert len(files) == 2
    for file in files:
        lines = file.read_text("utf-8").split("\n")[:-1]
        assert [line for line in lines if not is_harmless(line)] == []
        assert FORGED in "".join(lines)


def test_commands_say_nothing_that_moves_a_terminal(crawled, tmp_path, monkeypatch, capsys) -> None:
    folder, _ = crawled
    for name, answer in routes().items():
        (tmp_path / f"{name[1:]}.html").write_bytes(answer.body)
    store = f"sqlite:///{folder}/store.sqlite"
    log = str(folder / "first/verdicts.jsonl")
    logged = map(json.loads, Path(log).read_text("utf-8").splitlines())
    urls = {line["url"] for line in logged if "url" in line}
    assert urls
    for command in (
        ["fingerprint", "--text", "."],
        ["replay", "."],
        ["pairs", "."],
        ["why", "5.html", "6.html"],
        ["why", "5.html", "6.html", "--json"],
        ["store", "list", store],
        ["store", "info", store],
        ["history", "list", store],
        ["report", log, "-o", "report.html"],
        ["urls", "list", store],
    ):
        done = ran(tmp_path, *command)
        assert done.returncode in (0, 1), done.stderr
        assert "Traceback" not in done.stderr
        lines = [*done.stdout.split("\n"), *done.stderr.split("\n")]
        assert [(command, line) for line in lines if not is_harmless(line)] == []
    monkeypatch.chdir(tmp_path)
    for url in urls:
        assert main(["why", url, "--in", log, "--in", store, "--in", "."]) in (0, 1)
        lines = "\n".join(capsys.readouterr()).split("\n")
        assert [(url, line) for line in lines if not is_harmless(line)] == []


COLOURS = re.compile(r"\x1b\[(?:0|1|2|31|32)m")
OF_A_FILE = "a\r\n2030 forged \x1b]0;title\x07\x1b[31m \u202egnp"


@pytest.mark.parametrize("colours", [True, False])
@pytest.mark.parametrize("how", ["", "--clusters", "--format=csv"])
def test_names_of_files_ids_and_urls_move_no_terminal(
    tmp_path, monkeypatch, how: str, *, colours: bool
) -> None:
    """A command whose streams are a terminal, which click does not clean."""
    monkeypatch.chdir(tmp_path)
    for ending, content in {".html": f"<p>{text(1)}", ".jsonl": "bad\n{}\n", ".warc": "x"}.items():
        Path(f"{OF_A_FILE}{ending}").write_text(content)
    lines = [
        {"url": f"http://a.example/{OF_A_FILE}/{n}", "id": f"={OF_A_FILE}{n}", "html": text(2)}
        for n in range(3)
    ]
    write_lines(Path("named.jsonl"), [*lines, {"url": OF_A_FILE, "html": 1}, {OF_A_FILE: 1}])
    if colours:
        monkeypatch.delenv("NO_COLOR", raising=False)
    commands = [["pairs", ".", *how.split()]]
    if not how:
        commands += [["fingerprint", ".", "--text"], ["replay", "."]]
        commands += [["why", str(line["url"]), "."] for line in lines]
        commands += [["dedupe", ".", "-o", "out", "--duplicates", "no.csv", "--report", "r.html"]]
    for command in commands:
        with CliRunner().isolation(color=colours) as (out, err, _):
            reads = [] if command[0] == "why" else ["-s", "SIMHASH_GATE_WORKERS=0"]
            status = main([*command, *reads])
            sys.stdout.flush()
            shown = (out.getvalue() + err.getvalue()).decode()
        assert status in (0, 1), shown
        assert "Traceback" not in shown
        lines_shown = [COLOURS.sub("", line) for line in shown.split("\n")]
        assert [(command, line) for line in lines_shown if not is_harmless(line)] == []
    for path in tmp_path.rglob("out/**/*"):
        assert re.fullmatch(r"[\w./-]+", str(path.relative_to(tmp_path))), path
    assert bool([*tmp_path.glob("out/**/*.md")]) == (not how)


def test_a_url_that_is_no_text_ends_no_process(tmp_path) -> None:
    data = json.dumps({"@type": "Product", "name": "a\ud800", "image": "\udfff", "sku": "\ud800"})
    html = (
        f'<script type="application/ld+json">{data}</script><h1>Title</h1><p>{text(1)}<img src=a>'
        "<a href=b.pdf>file</a> <video src=c.mp4></video> <button value=d>do</button>"
    )
    lines = [{"url": f"http://a.example/\ud800/{n}/\udfff", "html": html} for n in range(3)]
    lines += [{"url": "\ud800", "html": "<p>few words<img src=a>"}]
    write_lines(tmp_path / "pages.jsonl", lines)
    for words in (["replay"], ["pairs"], ["fingerprint"], ["dedupe", "-o", "out"]):
        done = ran(tmp_path, *words, "pages.jsonl", "-s", "SIMHASH_GATE_WORKERS=0")
        assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr


FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\uff1d1", '=HYPERLINK("x")')


def test_no_text_in_csv_is_a_formula(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_lines(
        tmp_path / "pages.jsonl",
        [{"url": formula, "id": formula, "text": text(1)} for formula in FORMULAS]
        + [{"id": -5, "url": f"http://a.example/{n}", "text": text(1)} for n in range(2)],
    )
    assert main(["dedupe", "pages.jsonl", "-o", "out.jsonl", "--duplicates", "no.csv"]) == 0
    with Path("no.csv").open(newline="", encoding="utf-8") as file:
        rows = [*csv.reader(file)][1:]
    assert len(rows) == len(FORMULAS) + 1
    cells = [cell for row in rows for cell in row]
    assert [cell for cell in cells if cell.strip()[:1] in {*"=+@\uff1d"}] == []
    assert {cell for cell in cells if cell.startswith("-")} == {"-5"}  # a number is one
    assert all(map(is_harmless, cells))


ADDRESS = "http://a.example/\r\nWARC-Type: forged\r\n\r\nHTTP/1.1 200 OK\u2028\u202e"


def test_no_header_of_a_journal_is_forged(tmp_path) -> None:
    said = (ADDRESS, 1.0, *[ADDRESS] * 4, ADDRESS, 0, 3, ADDRESS, 3, None)
    drop = Drop(*said)
    headers = [(b"X-A", b"b\r\nSet-Cookie: forged\r\n\r\n<p>"), (b"Content-Length", b"5")]
    stored = Stored(200, headers, b"words\r\n\r\nWARC/1.1\r\n", "::1\r\nX-B: forged")
    written = pack(drop, stored)
    for data, _ in members(written):
        head = data.partition(b"\r\n\r\n")[0]
        assert [line for line in head.split(b"\r\n") if b"forged" in line[:18]] == []
    (tmp_path / "some.warc.gz").write_bytes(written)
    (found,) = drops(str(tmp_path / "some.warc.gz"), pytest.fail)
    assert (found.drop, found.body) == (drop, stored.body)


LEADS_NOWHERE = (
    *("javascript:alert(1)", " javascript:alert(1)", "JaVaScRiPt:alert(1)", "\x01javascript:x"),
    *("&#106;avascript:alert(1)", "javascript&colon;alert(1)", "java\tscript:x"),
    *("java&NewLine;script:x", "vbscript:x", "data:text/html,x", "blob:x"),
    *("file:///etc/passwd", "FILE://evil.example/share"),
)


@pytest.mark.parametrize("href", LEADS_NOWHERE)
def test_markdown_leads_to_no_script_and_no_file(href: str) -> None:
    said = f"<a href='{href}'>this</a> <img src='{href}' alt=a>"
    page = read_page(f"<h1>Title</h1><p>{text(1)} {said}".encode(), url="http://a.example/b")
    addresses = re.findall(r"\]\(([^)]*)", page.markdown)
    # What a browser would read without its tabs is an address of this site, and no script.
    assert [it for it in addresses if not re.match(r"java%0[9A]script:", it)] == []
    assert "this" in page.markdown


WRITTEN = ("[x](javascript:x)", "<script>x</script>", "a](javascript:x) [b", "`<img src=x>`")


@pytest.mark.parametrize("words", WRITTEN)
def test_what_a_page_says_as_text_is_no_markdown(words: str) -> None:
    said = escape(words)
    shown = f"<h1>{said}</h1><p>{text(1)} {said} <a href=/x>{said}</a> <img src=/x alt='{said}'>"
    markdown = read_page(shown.encode()).markdown
    assert not re.search(r"(?<!\\)<(?:script|img)", markdown)
    assert not re.search(r"(?<!\\)\[[^\]]*(?<!\\)\]\(javascript", markdown)


def test_a_crawl_of_a_site_reads_no_file_of_the_disk(tmp_path) -> None:
    secret = tmp_path / "secret.html"
    secret.write_text(f"<title>Secret</title><h1>Secret</h1><p>{text(9)}")
    schemes = ("file", "FILE", "ftp", "s3", "data")
    with Site({}).running() as site:
        host = site.url.partition("//")[2].partition(":")[0]
        places = [f"{scheme}://{host}{secret}" for scheme in schemes]
        places += [f"file://{secret}", f"file:{secret}"]
        links = "".join(f"<a href='{place}'>{place}</a>" for place in places)
        found = "".join(f"<url><loc>{place}</loc></url>" for place in places)
        sitemap = f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{found}</urlset>"
        site.routes["/"] = html_answer(f"<h1>Title</h1><p>{text(1)}</p>{links}")
        site.routes["/sitemap.xml"] = html_answer(sitemap)
        own = tmp_path / "own.xml"
        own.write_text(sitemap.replace(found, f"<url><loc>{site.url}/hidden</loc></url>"))
        robots = f"Sitemap: file://{host}{own}\nSitemap: {site.url}/sitemap.xml"
        site.routes["/robots.txt"] = Answer(robots.encode(), headers={"Content-Type": "text/plain"})
        fast = ("DOWNLOAD_DELAY=0", "AUTOTHROTTLE_ENABLED=0", "SIMHASH_GATE_WORKERS=0")
        settings = [part for each in fast for part in ("-s", each)]
        done = ran(tmp_path, "crawl", site.url, "-o", "out.jsonl", *settings)
    assert "Traceback" not in done.stderr
    assert "Unsupported URL scheme 'file'" in done.stderr
    assert site.hits["/hidden"] == 0
    assert [line["title"] for line in json_lines(tmp_path / "out.jsonl")] == ["Title"]


NESTED = 100_000
LARGE = {
    "JSON-LD 100,000 deep": '<script type="application/ld+json">'
    + '{"a":[' * NESTED
    + "</script><p>words",
    "a class of 3 MB": f"<div class='{'a ' * 1_500_000}'>{'<pre>word</pre>' * 9_000}",
    "1 MB of one letter": "<p>" + "a" * 1_000_000,
    "1 MB of one digit": "<p>" + "1" * 1_000_000,
    "1 MB of blanks": "<p>word" + " " * 1_000_000 + "word",
    "1 MB of one bracket": "<p>word " + "(" * 1_000_000,
    "1 MB of tags that begin": "<p>word" + "<" * 1_000_000,
}


def test_large_pages_are_read_in_their_time_and_memory() -> None:
    pool = WorkerPool(Options(), 1, memory=1 << 30)
    with closing(pool):
        for name, body in LARGE.items():
            page = pool.read(body.encode(), "http://a.example/", None).result()
            assert not page.unreadable, name
            assert page.words, name


@pytest.mark.parametrize("head", [b"", b'{"html": "', b'{"a": "b"}\n'])
def test_a_line_that_gzip_unpacks_to_gigabytes_is_not_held_in_memory(tmp_path, head) -> None:
    bomb = tmp_path / "pages.jsonl.gz"
    bomb.write_bytes(gzip.compress(head) + gzip.compress(bytes(1 << 20)) * 600)
    used, (entries, too_large, complaints) = measured(bomb)
    assert (entries, too_large) == (0, 0)
    assert complaints
    assert used < 400 << 20
