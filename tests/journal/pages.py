"""Dropped pages for the tests of the journal."""

import random

from simhash_gate.journal.warc import Drop, Stored, pack

NOON = 1717243200.0  # of 1 June 2024


def drop(number: int = 0, **values) -> Drop:
    known = {
        "url": f"https://hive.example/{number}",
        "time": NOON + number,
        "spider": "hive",
        "pipeline": "9c1f",
        "outcome": "duplicate",
        "reason": "distance 2, threshold 3",
        "matched_url": "https://hive.example/bees",
        "distance": 2,
        "threshold": 3,
        "title": "Bees in summer",
        "words": 72,
        "fingerprint": "b0621b61d9d51ad2",
    }
    return Drop(**{**known, **values})


def packed(number: int = 0, *, body: bytes = b"<p>Bees", size: int = 0, **values) -> bytes:
    """Return the records of a page; with `size`, of so many bytes that won't compress."""
    body += random.Random(number).randbytes(size)
    return pack(drop(number, **values), Stored(200, [(b"Content-Type", b"text/html")], body))
