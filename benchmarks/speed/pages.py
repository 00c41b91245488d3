"""The pages that are read or served: real ones of a folder, or some that are made."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

from benchmarks.servers import Pages

SEED = 4
GENERATED = 400
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]


def load(folder: Path, most: int | None = None) -> list[bytes]:
    """Return the pages of a folder, at most so many, evenly from all; ValueError for none."""
    suffixes = {".html", ".htm", ".xhtml"}
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in suffixes)
    if not paths:
        raise ValueError(f"{folder}: no .html files")
    step = max(1, len(paths) // (most or len(paths)))
    return [path.read_bytes() for path in paths[::step][:most]]


def _to_serve(folder: Path | None) -> list[bytes]:
    if folder is None:
        return [generate(number) for number in range(GENERATED)]
    pages = load(folder)
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


def renewed(page: bytes, number: int) -> bytes:
    """Return a page with other bytes for each number: what is cached by bytes finds none."""
    return b"<!-- copy %d -->" % number + page


async def _serve(folder: Path | None, pipe: Connection) -> None:
    loop, pages = asyncio.get_running_loop(), _to_serve(folder)

    def answer(target: bytes) -> bytes:
        number = int(target.rpartition(b"/")[2])
        return pages[number % len(pages)] + b"<!-- %d -->" % number

    server = await loop.create_server(lambda: Pages(answer), "127.0.0.1", 0)
    pipe.send(server.sockets[0].getsockname()[1])
    with suppress(EOFError):  # it ends with the process behind it
        await loop.run_in_executor(None, pipe.recv)


def _run(folder: Path | None, pipe: Connection) -> None:
    asyncio.run(_serve(folder, pipe))


@contextmanager
def running(folder: Path | None) -> Iterator[tuple[str, int]]:
    """Serve from memory, in a process of its own, as long as the block lasts.

    `/page/N` is another page for every N, in its bytes too. The value is the URL and the median
    size of a page.
    """
    sizes = sorted(map(len, _to_serve(folder)))
    context = multiprocessing.get_context("spawn")
    pipe, theirs = context.Pipe()
    process = context.Process(target=_run, args=(folder, theirs))
    process.start()
    theirs.close()
    with closing(pipe):
        yield f"http://127.0.0.1:{pipe.recv()}", sizes[len(sizes) // 2]
    process.join()
