"""The notes on a site that a store keeps: one JSON object, in which each kind has its own key."""

from __future__ import annotations

import json
from typing import Any


def note_in(notes: bytes, key: str) -> dict[str, Any]:
    """Return what the notes have under a key; empty for nothing, and for what can't be read."""
    found = _read(notes).get(key)
    return found if isinstance(found, dict) else {}


def with_note(notes: bytes, key: str, note: dict[str, Any]) -> bytes:
    """Return the notes with another note under a key, and all others as they are."""
    found = {name: value for name, value in _read(notes).items() if name != key}
    if note:
        found[key] = note
    return json.dumps(found, separators=(",", ":")).encode() if found else b""


def _read(notes: bytes) -> dict[str, Any]:
    try:
        found = json.loads(notes) if notes else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
