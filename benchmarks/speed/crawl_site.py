"""A site on loopback in a process of its own, that costs next to nothing: pages lie in memory.

`/page/N` is another page for every N, in its bytes too; `/same/N` is always the same page.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[2]
SEED = 4
GENERATED = 400
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]


def load(folder: Path | None) -> list[bytes]:
    """Return the files of a folder in a random but fixed order, or generated pages."""
    if folder is None:
        return [generate(number) for number in range(GENERATED)]
    pages = [path.read_bytes() for path in sorted(folder.rglob("*.html"))]
    if not pages:
        raise ValueError(f"{folder}: no *.html file there")
    Random(SEED).shuffle(pages)
    return pages


def generate(number: int) -> bytes:
    """Return a page of about 100 KB: an article of 300 to 1500 words, and much around it."""
    rng = Random(f"{SEED}/{number}")

    def words(count: int) -> str:
        return " ".join("".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(count))

    def sentences(count: int) -> str:
        return " ".join(f"{words(rng.randint(6, 20)).capitalize()}." for _ in range(count))

    def links(count: int, css: str) -> str:
        return "".join(
            f'<li class="{css} {css}--{n % 7}" data-id="{rng.randrange(10**9)}">'
            f'<a class="{css}__a" href="/{words(1)}/{rng.randrange(10**6)}-{words(1)}">'
            f"<span>{words(4)}</span></a></li>"
            for n in range(count)
        )

    paragraphs = "".join(
        f'<p class="text">{sentences(2)} <a href="/{words(1)}">{words(2)}</a> <em>{words(2)}</em> '
        f"{sentences(2)}</p>"
        for _ in range(rng.randint(6, 30))
    )
    cards = "".join(
        f'<div class="card"><a href="/{words(1)}/{n}"><img src="/img/{n}.jpg" alt="{words(3)}">'
        f'<h3 class="card__title">{words(6)}</h3></a><p class="card__teaser">{sentences(1)}</p>'
        f'<svg viewBox="0 0 24 24"><path d="{"M1 2L3 4" * 8}"/></svg></div>'
        for n in range(50)
    )
    script = f"window.state={{{','.join(f'k{n}:{rng.randrange(10**9)}' for n in range(900))}}};"
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>{words(6)} | The Daily</title><meta name="description" content="{sentences(1)}">
<style>{"".join(f".c{n}{{margin:{n}px;color:#{n:06x}}}" for n in range(500))}</style>
<script>{script}</script></head><body>
<header class="header"><nav class="nav"><ul>{links(60, "nav")}</ul></nav></header>
<div class="layout"><main id="content"><article class="story"><h1>{words(7)}</h1>
<p class="byline">By {words(2)}, <time>{rng.randint(1, 23)}:{rng.randint(10, 59)}</time></p>
{paragraphs}
<h2>{words(4)}</h2><ul><li>{words(8)}</li><li>{words(8)}</li></ul></article>
<section class="related">{cards}</section></main>
<aside class="sidebar"><ol>{links(60, "most-read")}</ol></aside></div>
<footer class="footer"><ul>{links(80, "footer")}</ul></footer>
<script>{script}</script></body></html>""".encode()


class _Connection(asyncio.Protocol):
    def __init__(self, pages: list[bytes]) -> None:
        self._pages = pages
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *requests, self._received = (self._received + data).split(b"\r\n\r\n")
        for request in requests:
            kind, number = request.split(b" ", 2)[1].strip(b"/").split(b"/")
            self._answer(kind, int(number))

    def _answer(self, kind: bytes, number: int) -> None:
        body = self._pages[number % len(self._pages) if kind == b"page" else 0]
        stamp = b"<!-- %d -->" % number if kind == b"page" else b""
        self._transport.write(  # type: ignore[attr-defined]
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s%s"
            % (len(body) + len(stamp), body, stamp)
        )


async def _serve(folder: Path | None) -> None:
    loop = asyncio.get_running_loop()
    pages = load(folder)
    server = await loop.create_server(lambda: _Connection(pages), "127.0.0.1", 0)
    sizes = sorted(map(len, pages))
    print(server.sockets[0].getsockname()[1], sizes[len(sizes) // 2], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)  # ends with the process behind it


@contextmanager
def running(folder: Path | None) -> Iterator[tuple[str, int]]:
    """Serve as long as the block lasts; the value is the URL and the median size of a page."""
    process = subprocess.Popen(
        [sys.executable, "-m", __name__, *([str(folder.absolute())] if folder else [])],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline().split()
        if len(line) != 2:
            raise ValueError("the site did not start; its message is above")
        yield f"http://127.0.0.1:{line[0]}", int(line[1])
    finally:
        process.communicate()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]) if sys.argv[1:] else None))
