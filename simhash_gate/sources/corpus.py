"""What a corpus that `simhash-gate dedupe` made knows of its pages, beside their Markdown."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from simhash_gate.fingerprints.hamming import from_hex
from simhash_gate.sources import Known

if TYPE_CHECKING:
    from collections.abc import Mapping

KEYS = ("fingerprint", "words", "pipeline", "title", "date")


def known_of(said: Mapping[str, Any]) -> Known | None:
    """Return the fingerprint of a page and what goes with it, if it says all of that."""
    words, digits = said.get("words"), text_of(said, "fingerprint")
    if not (digits and text_of(said, "pipeline")) or not isinstance(words, int):
        return None
    with suppress(ValueError):
        return Known(from_hex(digits), text_of(said, "title"), words, text_of(said, "pipeline"))
    return None


def text_of(said: Mapping[str, Any], key: str) -> str:
    """Return the text of a key, "" for anything else."""
    value = said.get(key)
    return value if isinstance(value, str) else ""
