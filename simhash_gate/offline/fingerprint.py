"""`simhash-gate fingerprint`: what the pipeline makes of each file."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from simhash_gate.fingerprints.claims import Claims
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.offline.claimed import claims_of, describe_claims
from simhash_gate.offline.reading import extract_pages
from simhash_gate.pipeline import read_closely

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from simhash_gate.options import Options
    from simhash_gate.page.page import Page
    from simhash_gate.settings import Settings
    from simhash_gate.sources.entry import Entry


def fingerprints(
    entries: Iterable[Entry], settings: Settings, *, text: bool = False
) -> Generator[dict[str, Any]]:
    """Yield a line for each entry, in order; one without a fingerprint has a reason.

    With `text`, it says as well what the page's Markdown says, its marks taken off.
    """
    fields = bool(settings.options.compare)
    for entry, said in extract_pages(entries, settings, partial(_say, text=text)):
        line: dict[str, Any] = {"path": entry.path}
        if entry.id is not None:
            line["id"] = entry.id
        if isinstance(said, dict):
            line |= said
        else:
            reason = f"unreadable: {said}" if said else entry.skipped
            line |= {"fingerprint": None, "title": "", "words": 0, "reason": reason}
            line |= describe_claims(Claims(), fields=fields)
            line |= {"text": ""} if text else {}
        yield line


def _say(
    body: bytes, url: str, encoding: str | None, options: Options, *, text: bool
) -> dict[str, Any]:
    reading = read_closely(body, url=url, encoding=encoding, options=options)
    line = describe(reading.page, fields=bool(options.compare))
    return line | {"text": reading.text} if text else line


def describe(page: Page, *, fields: bool) -> dict[str, Any]:
    """Return what a line says of a page; its reason only where there is no fingerprint.

    `fields` asks for what the user's selectors find.
    """
    digits = None if page.fingerprint is None else to_hex(page.fingerprint)
    line = {"fingerprint": digits, "title": page.title, "words": page.words}
    line |= {} if digits else {"reason": page.reason}
    return line | describe_claims(claims_of(page), fields=fields)
