"""`python -m benchmarks.reliability.fuzz`: damaged input of each kind, for some seconds each.

Pages are those of `--pages FOLDER`, or generated: cut, spliced, nested, shuffled, encoded anew, and
with hostile data, styles, addresses and headers. `reader` sends them to a page-reading process, as
a crawl does; it has ten seconds and 500 MiB for a page.

Nothing may raise what is not its own error, every page has a fingerprint or a reason, and no input
may take ten times as long as an intact one of its size. What does is printed, with the seed of the
input: `--only KIND --seed N` makes it again.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from benchmarks.speed.measure import options_of, say, table
from benchmarks.speed.pages import generate
from simhash_gate import read_page
from simhash_gate.cli import main as command
from simhash_gate.identity.keys import key_of
from simhash_gate.options import Options
from simhash_gate.page import Page
from simhash_gate.settings import NAMES, read_settings
from simhash_gate.values import SettingsError
from simhash_gate.workers.pool import WorkerPool

LINES = 200  # of a file of lines: each is an input
PAGES = 50  # that a reader is sent at once
MEMORY = 500 << 20  # bytes of a reader
SLOW = 10.0
_INLINE = ("-s", "SIMHASH_GATE_WORKERS=0")
_LEAST = 0.5  # seconds: less is no trouble, whatever is usual
_HTML = (
    *("<table>", "</table>", "<tr><td>", "<a href=x>", "</a>", "<div hidden>", "<template>"),
    *("<svg>", "<noscript>", "<!--", "-->", "<![CDATA[", "<select><option>", "<pre>", "<li>"),
    *("<h1>", "<h2>", "<base href='http://[bad'>", "<a href='http://[::1'>", "<plaintext>"),
    *("<link rel=canonical href='//['>", "<frameset>", "<textarea>", "<form>", "<b><i></b></i>"),
    *("</body>", "<title>", "</title>", "<td rowspan=99999 colspan=99999>", "<math><mi>"),
    *("<meta charset=utf-7>", "<meta http-equiv=refresh content='0;url=//['>", "&#0;", "&#xD800;"),
    *("<iframe srcdoc='<p>'>", "\0", "\ufdfa", "e\u0301" * 50, "<p>1", "<img srcset='a 1x, ,, b'>"),
    *(
        "<p style='display:none'>",
        "<p style='content:\\'>",
        "<b style=';display : none!important'>",
    ),
    *("<style>.a{display:none}", "</style>", "<style>@import url(//[);", "<p class='a a nav ad'>"),
    *("<main>", "<article>", "<nav>", "<footer>", "<dl><dt>", "<details>", "<picture><source>"),
    *("<div itemscope itemtype='http://schema.org/Product'>", "<p itemprop='name price offers'>"),
)
_NAMES = (
    *("@type", "@id", "@graph", "mainEntity", "offers", "price", "name", "headline", "author"),
    *("datePublished", "articleBody", "itemListElement", "recipeIngredient", "recipeInstructions"),
    *("image", "url", "sku", "hasVariant", "isPartOf", "priceCurrency", "description", "text"),
)
_TYPES = ("Product", "Article", "ItemList", "Recipe", "WebPage", "QAPage", "Offer", "Event", "x")
_HEADERS = (
    *("Content-Encoding: gzip", "Content-Encoding: br, deflate", "Content-Encoding: zstd"),
    *("Transfer-Encoding: chunked", "Content-Length: -1", "Content-Type: text/html; charset=\0"),
    *(
        "Content-Type: multipart/x; boundary=",
        "Link: <//[>; rel=canonical",
        ": x",
        "\x1b[31m: \xff",
    ),
    *(
        "Location: http://[",
        "Last-Modified: Thu, 99 Foo 0000 99:99:99",
        "Set-Cookie: " + "a" * 9_999,
    ),
)
_URLS = (
    *("http://a.example/b?c=d&c=e#f", "http://[", "http://[::1]:99999/", "//", "?", "file:///x"),
    *("https://www.a.example/%zz?utm_source=a&sid=%00", "http://a.example:/;x=1/../../b//c/"),
    *("HTTP://A.EXAMPLE:80/index.html?", "http://xn--/a", "http://é.example/ü?ö=%C3%28", "\ud800"),
    *("javascript:void(0)", "http://a.example/?" + "a=1&" * 300, "http://a.example/" + "a/" * 400),
)
_VALUES: tuple[Any, ...] = (
    *(None, "", " ", "0", "-1", "1e400", "nan", 0, 1, -1, 3, 64, 65, 1e308, float("nan")),
    *(float("inf"), 10**400, True, [], {}, [None], [[[]]], {"a": {}}, "\0", "\ud800", "9" * 400),
    *("http://[", "word:3", "char:", "90s", "2024-13-45T99:99:99Z", "redis://[", "sqlite:"),
    *("a" * 10**5, {"example.com": {"threshold": "x"}}, {"": {}}, {1: 2}, b"x", range(3), 1j),
    "no.such.Thing",
)
_PIECES = (
    *(b"WARC/1.0\r\n", b"\r\n\r\n", b"Content-Length: 99999999999\r\n", b"\x1f\x8b\x08"),
    b"PK\x03\x04",
)
_ENCODINGS = (None, None, "utf-8", "latin-1", "utf-16", "gb18030", "bogus", "utf-7")
_CODECS = (
    "utf-16",
    "utf-8-sig",
    "latin-1",
    "shift_jis",
    "gb18030",
    "utf-32",
    "iso2022_jp",
    "cp037",
)

Asked = tuple[Callable[[], object], int, int]
"""What is asked, and how many inputs and bytes it has."""
Make = Callable[[random.Random, Path], Asked]
Original = Callable[[random.Random], bytes]
"""Returns an intact page by chance."""


def damaged(chance: random.Random, data: bytes, pieces: Sequence[bytes]) -> bytes:
    """Return bytes with some cut, repeated, changed or put in."""
    out = bytearray(data)
    for _ in range(chance.choice((1, 2, 4, 10, 40))):
        place, other = (chance.randrange(len(out) + 1) for _ in range(2))
        match chance.randrange(6):
            case 0:
                out[place:place] = chance.choice(pieces) * chance.choice((1, 1, 1, 20, 300))
            case 1:
                del out[place : place + chance.randrange(1, 200)]
            case 2:
                out[place:place] = out[other : other + chance.randrange(1, 2_000)]
            case 3:
                for _ in range(chance.randrange(1, 9) if out else 0):
                    out[chance.randrange(len(out))] = chance.randrange(256)
            case 4:
                del out[place:]
            case _:
                out[place : place + 1] = chance.choice(pieces)
    return bytes(out[:200_000])


def damaged_line(chance: random.Random, line: dict[str, Any]) -> bytes:
    """Return a line of JSON with odd values, without some keys, or broken as text."""
    odd = {**line}
    for _ in range(chance.randrange(4)):
        name = chance.choice([*odd] or ["a"])
        if chance.random() < 0.2:
            odd.pop(name, None)
        elif isinstance(odd.get(name), dict) and odd[name]:
            odd[name] = odd[name] | {chance.choice([*odd[name]]): _value(chance)}
        else:
            odd[name] = _value(chance)
    text = json.dumps(odd, default=str).encode()
    broken = chance.random() < 0.2
    return damaged(chance, text, (b"{", b"]", b"\n", b'"', b"\\u")) if broken else text


def _value(chance: random.Random) -> Any:
    return chance.choice(_VALUES) if chance.random() < 0.9 else [chance.choice(_VALUES)] * 3


def _node(chance: random.Random, depth: int = 0) -> Any:
    """Return structured data with the names that pages have, and odd values; some are deep."""
    kind = chance.randrange(6)
    if depth > 4 or kind < 2:
        return chance.choice(_TYPES) if kind else _value(chance)
    if kind == 2:
        return [_node(chance, depth + 1)] * (1 if depth else chance.choice((1, 2, 30)))
    return {chance.choice(_NAMES): _node(chance, depth + 1) for _ in range(chance.randrange(6))}


def _hostile(chance: random.Random) -> bytes:
    """Return a piece that stands where a tag may: data, a link, a tag often, or a tag."""
    piece = chance.choice(_HTML)
    match chance.randrange(4):
        case 0:
            said = json.dumps({"@type": chance.choice(_TYPES)} | {"a": _node(chance)}, default=str)
            deep = chance.choice(("", '{"a":[' * chance.choice((9, 999, 20_000))))
            piece = f'<script type="application/ld+json">{deep}{said[:50_000]}</script>'
        case 1:
            url = chance.choice(_URLS)
            name = chance.choice(("a href", "img src", "link href", "base href"))
            piece = f'<{name}="{url}" rel=canonical style="background:url({url})">'
        case 2:
            piece *= chance.choice((20, 300, 2_000))
    return piece.encode("utf-8", "replace")


def mangled(chance: random.Random, original: Original) -> bytes:
    """Return a page, or more often a part of one, that is wrong as pages on the web may be."""
    html = original(chance)
    if chance.random() < 0.9:  # what goes wrong seldom needs much
        start = chance.randrange(len(html) + 1)
        html = html[start : start + chance.choice((300, 2_000, 8_000))]
    for _ in range(chance.choice((0, 1, 2, 5, 20))):
        tags = html.split(b"<")
        place = chance.randrange(len(tags) + 1)
        some = tags[place : place + chance.choice((1, 10, 200))]
        end = place + len(some)
        match chance.randrange(6):
            case 0:
                tags[end:end] = some * chance.choice((1, 1, 50))
            case 1:
                del tags[place:end]
            case 2:
                other = original(chance).split(b"<")
                start = chance.randrange(len(other) + 1)
                tags[place:end] = other[start : start + chance.randrange(200)]
            case 3:
                tags[place:place] = some[:1] * chance.choice((50, 1_100, 3_000))
            case 4:
                chance.shuffle(some)
                tags[place:end] = some
            case _:
                tags[place:place] = [_hostile(chance).removeprefix(b"<")]
        html = b"<".join(tags)[: chance.choice((20_000, 20_000, 20_000, 200_000))]
    if chance.random() < 0.3:
        html = damaged(chance, html, [_hostile(chance)])
    if chance.random() < 0.2:
        html = html.decode("utf-8", "replace").encode(chance.choice(_CODECS), "replace")
    return html


def _told(chance: random.Random) -> tuple[str, str | None]:
    return chance.choice(_URLS), chance.choice(_ENCODINGS)


def _check(page: Page) -> None:
    if page.unreadable or (page.fingerprint is None) == (page.reason is None):
        raise AssertionError(page.reason)
    page.markdown  # noqa: B018 - it is made when it is asked for


def _pages(original: Original) -> Make:
    """Read in this process: what it takes is measured."""

    def make(chance: random.Random, _: Path) -> Asked:
        html, (url, encoding) = mangled(chance, original), _told(chance)
        return lambda: _check(read_page(html, url=url, encoding=encoding)), 1, len(html)

    return make


def _reader(original: Original) -> Make:
    """Read in a process that reads pages: it must neither end nor be ended."""
    pool = WorkerPool(Options(markdown=True), 1, memory=MEMORY)

    def make(chance: random.Random, _: Path) -> Asked:
        pages = [(mangled(chance, original), *_told(chance)) for _ in range(PAGES)]

        def read() -> None:
            for number, future in enumerate([pool.read(*page) for page in pages]):
                try:
                    _check(future.result())
                except Exception as error:
                    raise AssertionError(f"page {number}: {error}") from error

        return read, PAGES, sum(len(html) for html, *_ in pages)

    return make


def _settings(chance: random.Random, _: Path) -> Asked:
    number = chance.choice((1, 1, 2, 4))
    given = {chance.choice(NAMES): chance.choice(_VALUES) for _ in range(number)}

    def read() -> None:
        try:
            read_settings(given)
        except SettingsError as error:
            if len(str(error)) > 1_100:
                raise AssertionError(f"a message of {len(str(error))} characters") from error

    return read, 1, 0


def _addresses(chance: random.Random, _: Path) -> Asked:
    """Sixty addresses, of which many are damaged."""
    asked = [
        f"http://a.example/{chance.randrange(9)}/{n}?id={n}&s={chance.randrange(3)}"
        for n in range(40)
    ]
    asked += [chance.choice(_URLS) for _ in range(20)]
    pieces = (b"%", b"?", b"&", b"=", b"/", b"#", b"[", b"]", b";", b"..", b"\xc3", b" ")
    for n, url in enumerate(asked):
        if chance.random() < 0.4:
            broken = damaged(chance, url.encode("utf-8", "surrogatepass"), pieces)
            asked[n] = broken.decode("utf-8", "replace")

    def read() -> None:
        for url in asked:
            key_of(url)

    return read, len(asked), sum(map(len, asked))


def _run(*arguments: str) -> str:
    """Run a command in this process; returns what it prints. Raises what it did not expect."""
    with CliRunner().isolation() as (out, err, _):
        status = command(list(arguments))
        sys.stdout.flush()
        sys.stderr.flush()
        printed, told = out.getvalue().decode("utf-8", "replace"), err.getvalue().decode()
    if status not in (0, 1) or "Traceback" in told:
        raise AssertionError(f"status {status}: {told[-1_000:]}")
    return printed


def _lines(lines: Sequence[dict[str, Any]], *arguments: str) -> Make:
    """Return what gives a command a file of lines, of which every second one is damaged."""

    def make(chance: random.Random, folder: Path) -> Asked:
        path = folder / "lines.jsonl"
        some = enumerate([chance.choice(lines) for _ in range(LINES)])
        whole = json.dumps
        data = b"\n".join(damaged_line(chance, s) if n % 2 else whole(s).encode() for n, s in some)
        path.write_bytes(data)
        said = [argument.format(path=path, folder=folder) for argument in arguments]
        return lambda: _run(*said), LINES, len(data)

    return make


def _warc(html: bytes, number: int, *more: str) -> bytes:
    lines = "\r\n".join(
        ("HTTP/1.1 200 OK", "Content-Type: text/html; charset=utf-8", *more, "", "")
    )
    http = lines.encode() + html
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/{number}\r\n"
        "WARC-Date: 2024-01-01T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\n"
        f"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-{number:012d}>\r\n"
        f"Content-Length: {len(http)}\r\n\r\n"
    )
    return head.encode() + http + b"\r\n\r\n"


def _archive(chance: random.Random, folder: Path, original: Original) -> Asked:
    """A WARC file, plain or of gzip members, or a WACZ with it: damaged before or after it."""
    records = []
    for number in range(5):
        html, odd = original(chance)[:3_000], chance.sample(_HEADERS, chance.choice((0, 0, 1, 3)))
        records.append(_warc(gzip.compress(html) if chance.random() < 0.2 else html, number, *odd))
    early = chance.random() < 0.5
    records = [damaged(chance, r, _PIECES) if early else r for r in records]
    kind = chance.choice(("warc", "warc.gz", "wacz"))
    data = b"".join(records if kind == "warc" else [gzip.compress(r, mtime=0) for r in records])
    if kind == "wacz":
        whole = io.BytesIO()
        with zipfile.ZipFile(whole, "w") as packed:
            packed.writestr(zipfile.ZipInfo("archive/data.warc.gz"), data)
            packed.writestr(zipfile.ZipInfo("datapackage.json"), b"{}")
        data = whole.getvalue()
    path = folder / f"pages.{kind}"
    path.write_bytes(data if early else damaged(chance, data, _PIECES))
    command = chance.choice(("replay", "fingerprint", "pairs"))
    return lambda: _run(command, str(path), *_INLINE), len(records), len(data)


def _original(folder: Path | None) -> Original:
    if folder is None:
        return lambda chance: generate(chance.randrange(500))
    files = sorted(folder.rglob("*.htm*"))
    return lambda chance: chance.choice(files).read_bytes()


def _kinds(folder: Path, original: Original) -> dict[str, Make]:
    """Return the kinds, with files as the commands themselves write them."""
    source, store = folder / "pages.jsonl", f"sqlite:///{folder}/store"
    pages = [
        {"url": f"http://a.example/{n}", "html": generate(n // 2).decode(), "time": 1.7e9 + n}
        for n in range(60)
    ]
    source.write_text("\n".join(map(json.dumps, pages)), encoding="utf-8")
    verdicts = _run("replay", str(source), "-s", f"SIMHASH_GATE_STORE={store}", *_INLINE)
    exported = _run("store", "export", store)
    told, kept = ([*map(json.loads, out.splitlines())] for out in (verdicts, exported))
    if not told or not kept:
        raise AssertionError("no verdicts, or no pages, to damage")

    other = "sqlite:///{folder}/other"
    return {
        "reader": _reader(original),
        "pages": _pages(original),
        "settings": _settings,
        "addresses": _addresses,
        "archives": lambda chance, folder: _archive(chance, folder, original),
        "manifests": _lines(pages[:20], "replay", "{path}", *_INLINE),
        "imports": _lines(kept, "store", "import", other, "{path}", *_INLINE),
        "reports": _lines(told, "report", "{path}", "-o", "{folder}/report.html"),
        "questions": _lines(told, "why", "http://a.example/1", "{path}", *_INLINE),
    }


def fuzz(
    name: str, make: Make, seed: int, seconds: float, folder: Path
) -> tuple[dict[str, Any], list[str]]:
    """Return how many inputs there were, the slowest beside the median, and what went wrong."""
    end, inputs, wrong = time.monotonic() + seconds, 0, list[str]()
    rates: list[tuple[float, float, int]] = []
    while time.monotonic() < end:
        ask, count, size = make(random.Random(f"{name} {seed}"), folder)
        began = time.process_time()
        try:
            ask()
        except Exception as error:
            wrong.append(f"{name} --seed {seed}: {type(error).__name__}: {str(error)[:300]}")
        taken = time.process_time() - began
        rates.append((taken / (size + 5_000), taken, seed))
        inputs, seed = inputs + count, seed + 1
    usual = sorted(rate for rate, _, _ in rates)[len(rates) // 2]
    worst, taken, its_seed = max(rates)
    if worst > SLOW * usual and taken > _LEAST:
        wrong.append(f"{name} --seed {its_seed}: {taken:.2f} s, {worst / usual:.0f} × the usual")
    row = {"input": name, "inputs": inputs, "slowest ÷ median": worst / usual, "wrong": len(wrong)}
    return row, wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Try all kinds, print a table and what went wrong; the status tells whether anything did."""
    flags: dict[str, tuple[Any, ...]] = {
        "--seconds": (60.0, "of each kind"),
        "--seed": (1, "of the first input"),
        "--only": (str, "one kind"),
        "--pages": (Path, "a folder of HTML files"),
    }
    given = options_of(__doc__, arguments, flags)
    rows, wrong = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, make in _kinds(folder, _original(given.pages)).items():
            if given.only in (None, kind):
                say(kind)
                row, found = fuzz(kind, make, given.seed, given.seconds, folder)
                rows.append(row)
                wrong += found
    print(table(rows))
    print(*wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
