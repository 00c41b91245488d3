"""The notes on a site that a store keeps: one JSON object, in which each kind has its own key.

Under each key is an object by domain; under `answers`, by the hash of a text.
"""

from __future__ import annotations

import json
from typing import Any

from simhash_gate.common.urls import is_of_domain

MOST_DOMAINS = 1_000
"""That a kind of notes on one scope tells of: those that were noted last."""


def note_in(notes: bytes, key: str) -> dict[str, Any]:
    """Return what the notes have under a key; empty for nothing, and for what can't be read."""
    found = _read(notes).get(key)
    return found if isinstance(found, dict) else {}


def with_note(notes: bytes, key: str, note: dict[str, Any]) -> bytes:
    """Return the notes with another note under a key, and all others as they are."""
    found = {name: value for name, value in _read(notes).items() if name != key}
    if note:
        found[key] = dict([*note.items()][-MOST_DOMAINS:])
    return json.dumps(found, separators=(",", ":")).encode() if found else b""


def merged(notes: bytes, others: bytes) -> bytes:
    """Return notes with others, which take the place of those on the same domains."""
    for key in _read(others):
        notes = with_note(notes, key, {**note_in(notes, key), **note_in(others, key)})
    return notes


def without_domain(notes: bytes, domain: str) -> bytes:
    """Return the notes without those on a domain and its subdomains."""
    for key in _read(notes):
        note = note_in(notes, key)
        left = {n: data for n, data in note.items() if not is_of_domain(f"http://{n}/", domain)}
        if left != note:
            notes = with_note(notes, key, left)
    return notes


def notes_of(notes: bytes) -> dict[str, Any]:
    """Return all notes; none for what can't be read."""
    return {key: note_in(notes, key) for key in _read(notes)}


def _read(notes: bytes) -> dict[str, Any]:
    try:
        found = json.loads(notes) if notes else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
