"""The notes on a site that a store keeps: one JSON object, with a key for each kind of notes.

Its values are objects by domain. The value of `answers` is an object by the hash of a text.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from simhash_gate.common.urls import is_of_domain

MOST_DOMAINS = 1_000
"""Domains in one kind of notes. The oldest notes go first."""


def note_in(notes: bytes, key: str) -> dict[str, Any]:
    """Return the notes under a key, empty if there are none or they can't be read."""
    note: dict[str, Any] = notes_of(notes).get(key, {})
    return note


def with_note(notes: bytes, key: str, note: dict[str, Any]) -> bytes:
    """Return the notes with `note` under a key. The other keys stay as they are."""
    values = {name: value for name, value in notes_of(notes).items() if name != key}
    if note:
        values[key] = dict([*note.items()][-MOST_DOMAINS:])
    return json.dumps(values, separators=(",", ":")).encode() if values else b""


def merged(notes: bytes, others: bytes) -> bytes:
    """Merge two sets of notes. Those of `others` replace the ones on the same domains."""
    for key in notes_of(others):
        notes = with_note(notes, key, {**note_in(notes, key), **note_in(others, key)})
    return notes


def without_domain(notes: bytes, domain: str) -> bytes:
    """Return the notes without those on a domain and its subdomains."""
    for key, note in notes_of(notes).items():
        left = {n: data for n, data in note.items() if not is_of_domain(f"http://{n}/", domain)}
        if left != note:
            notes = with_note(notes, key, left)
    return notes


def notes_of(notes: bytes) -> dict[str, Any]:
    """Return all notes as a dictionary, empty if they can't be read."""
    with suppress(ValueError):
        values = json.loads(notes)
        if isinstance(values, dict):
            return {key: note for key, note in values.items() if isinstance(note, dict)}
    return {}
