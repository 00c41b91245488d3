"""The pages that are read: real ones of a folder, or those of the demonstration site."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from random import Random

from crawler.site.news import Site

_SUFFIXES = frozenset({".html", ".htm", ".xhtml"})
_ARTICLES = 40


def load(folder: Path | None, most: int) -> list[bytes]:
    """Return at most so many pages, evenly from all; raises ValueError if there are none."""
    if folder is None:
        site = Site(articles=_ARTICLES, seed=7)
        pages = [site.reply(href).body for href in site.views]
    else:
        paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES)
        pages = [path.read_bytes() for path in paths[:: max(1, len(paths) // most)]]
    if not pages:
        raise ValueError(f"{folder}: no .html files")
    return pages[:: max(1, len(pages) // most)][:most]


def renewed(page: bytes, number: int) -> bytes:
    """Return a page with other bytes for each number: what is cached by bytes finds none."""
    return b"<!-- copy %d -->" % number + page


def grown(size: int, kind: str) -> bytes:
    """Return an article of about so many bytes: `prose`, or `markup` that is dense."""
    rng = Random(f"{size}/{kind}")
    letters = "abcdefghiklmnoprstuvw"

    def words(number: int) -> str:
        return " ".join("".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(number))

    def paragraph() -> str:
        if kind == "prose":
            return f"<p>{words(60)}, <a href='/{words(1)}'>{words(2)}</a>.</p>\n"
        items = "".join(
            f"<li class=c{rng.randint(0, 99)}><b>{words(1)}</b> <i>{words(1)}</i></li>"
            for _ in range(8)
        )
        return f"<div class=part><h2>{words(2)}</h2><p>{words(9)}</p><ul>{items}</ul></div>\n"

    # What is repeated is long: no page of a site repeats itself from paragraph to paragraph.
    parts = [paragraph() for _ in range(min(1000, 1 + size // 300))]
    body: list[str] = []
    length = 0
    for number in count():
        if length >= size:
            break
        body.append(f"{parts[number % len(parts)]}<p>{number} {words(3)}</p>")
        length += len(body[-1])
    title = words(4)
    return (
        f"<html><head><title>{title}</title></head><body><article><h1>{title}</h1>"
        f"{''.join(body)}</article></body></html>"
    ).encode()
