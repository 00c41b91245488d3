"""`simhash-gate fingerprint`: what the pipeline makes of each page."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.fingerprints.sketch import Sketch, decode
from simhash_gate.fingerprints.words import words
from simhash_gate.offline.console import refuse_stores
from simhash_gate.pipeline import read_closely
from simhash_gate.sources import File, Source
from simhash_gate.sources.find import JSONL
from simhash_gate.sources.jsonl import count_lines
from simhash_gate.sources.manifest import manifest as read_manifest
from simhash_gate.sources.open import open_pages, shown
from simhash_gate.sources.read_pages import extract_pages

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    from simhash_gate.offline.console import Console
    from simhash_gate.options import Options
    from simhash_gate.page import Page
    from simhash_gate.settings import Settings
    from simhash_gate.sources import Entry


def run(
    settings: Settings,
    console: Console,
    *,
    sources: Sequence[str],
    manifest: str | None,
    text: bool,
) -> int:
    """Print a line for each page; return the exit status."""
    if bool(sources) == bool(manifest):
        raise click.UsageError("Give either SOURCEs or --input FILE.")
    refuse_stores(sources)
    if manifest:
        entries = read_manifest(File(manifest, JSONL), console.complain, settings.max_bytes)
        source = Source(entries, lambda: count_lines(manifest))
    else:
        source = open_pages(sources, console.complain, settings.max_bytes, console.say)
    lines = _lines(source.entries, settings, text=text)
    if not console.write_lines(lines, source.total):
        console.complain_of_nothing(shown(*([manifest] if manifest else sources)), "no page in it")
    return console.status()


def _lines(
    entries: Iterable[Entry], settings: Settings, *, text: bool
) -> Generator[dict[str, Any]]:
    """Yield a line for each entry, in order. One without a fingerprint has a reason."""
    fields = bool(settings.options.compare)
    for entry, read in extract_pages(entries, settings, partial(_read, text=text)):
        line: dict[str, Any] = {"path": entry.path or entry.place}
        if entry.url and not entry.guessed:
            line["url"] = entry.url
        if entry.id is not None:
            line["id"] = entry.id
        if isinstance(read, dict):
            line |= read
        else:
            reason = f"unreadable: {read}" if read else entry.skipped
            line |= {"fingerprint": None, "title": "", "words": 0, "reason": reason}
            line |= _claims_as_json(Sketch(), fields=fields)
            if text:
                line["text"] = ""
        yield line


def _read(
    body: bytes, url: str, encoding: str | None, options: Options, *, text: bool
) -> dict[str, Any]:
    reading = read_closely(body, url=url, encoding=encoding, options=options)
    line = as_json(reading.page, fields=bool(options.compare))
    return line | {"text": reading.text} if text else line


def as_json(page: Page, *, fields: bool) -> dict[str, Any]:
    """Return what a line says of a page. It has a reason if there is no fingerprint.

    `fields` adds what the user's selectors find.
    """
    digits = None if page.fingerprint is None else to_hex(page.fingerprint)
    line = {"fingerprint": digits, "title": page.title, "words": page.words}
    if not digits:
        line["reason"] = page.reason
    return line | _claims_as_json(sketch_of(page), fields=fields)


def sketch_of(page: Page) -> Sketch:
    """Return the sketch of a page. A page without text says nothing."""
    return decode(page.sketch) if page.sketch else Sketch()


def names_of(sketch: Sketch) -> list[str]:
    """Return the names of a page, the headline first, each once."""
    found: dict[tuple[str, ...], str] = {}
    for name in filter(None, (sketch.headline, *sketch.names)):
        found.setdefault(words_of_name(name), name)
    return list(found.values())


def words_of_name(name: str) -> tuple[str, ...]:
    """Return the words that tell a name from others. A name without words is one itself."""
    return tuple(words(name)) or (name,)


def _claims_as_json(sketch: Sketch, *, fields: bool) -> dict[str, Any]:
    said: dict[str, Any] = {"names": names_of(sketch), "offered": dict(sketch.offered)}
    return said | {"fields": dict(sketch.compared)} if fields else said
