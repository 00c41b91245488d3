"""What stores speak in: pages, what is kept beside them, the window, addresses, and errors."""

from __future__ import annotations

import json
import re
import struct
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import mmh3

from simhash_gate.common.encoded import as_bytes, as_text
from simhash_gate.common.urls import without_credentials

HISTORY = "history"
"""The kind of blobs that belong to runs: under each key, each run has its own."""
SITE_MEMORY, URL_RULES, SITE_NOTES = "site_memory", "url_rules", "site_notes"
"""Kinds of which a scope has one, under the key ""."""
KEPT_TEXT = "kept_text"
"""Under the digest of a page, as 16 hex digits."""
RUN, LIVE, ENDED = "run", "live", "ended"
"""What is known of runs, and the scopes of those that live and that have ended; see runs.py."""

NEVER = float("-inf")
NAME_BITS = 32
"""Of a key: those before them stand for the name of the page."""
_quoted = json.encoder.encode_basestring
_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
HEAD_BYTES = 24
HINTS = "IHBBHHI"
_HEAD = struct.Struct(f">Q{HINTS}")
_DAY = 86_400


class StoreError(Exception):
    """A store can't be opened, read or written; the message names it and says what to do."""


class StoreURLError(StoreError):
    """No store can be opened by such a URL."""


class StoreMissing(StoreError):  # noqa: N818 - a state, as below
    """There is no store yet, and none is to be made."""


class StoreUnavailable(StoreError):  # noqa: N818 - a state of the store, as users know it
    """A store can't be reached or written just now: worth trying again later."""


Identity = tuple[str, str, str, str, int]
"""What tells a record from all others."""


@dataclass(frozen=True, slots=True)
class Record:
    """One remembered page.

    `request` is Scrapy's request fingerprint in hex; `digest` an unsigned 64-bit hash of the
    page's text, equal only for equal texts; `first_seen` and `last_seen` are Unix times;
    `sketch` is what a closer look needs, if anything: it begins with a key of 8 bytes, of which 4
    stand for the name of the page. A `settled` page can't fail any more: its callback ended well
    and its items are out, or its run has ended. `url` never has a user name or a password.

    `asker` is for which callback and which visitor the page was asked for, `carries` what its
    request handed on beside that; both are lines of text, "" where that is not known or nothing.
    `gave` tells whether an item came of the page, or nobody knows.
    """

    scope: str
    url: str
    request: str
    fingerprint: int
    digest: int
    words: int
    title: str
    pipeline: str
    run: str
    first_seen: float
    last_seen: float
    sketch: bytes = b""
    settled: bool = False
    asker: str = ""
    carries: str = ""
    gave: bool = True

    def __post_init__(self) -> None:
        if "@" in self.url:
            object.__setattr__(self, "url", without_credentials(self.url))

    @property
    def identity(self) -> Identity:
        """What tells this record from every other."""
        return (self.scope, self.run, self.request, self.asker, self.fingerprint)

    def stands_for(self, page: Record) -> bool:
        """Tell whether what came of this page is all that the request of another one is for."""
        known = bool(self.asker and page.asker)
        return (not known or self.asker == page.asker) and page.carries in ("", self.carries)


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes that a store keeps beside pages, under a kind, a scope and a key of the scope.

    `at` is a Unix time: when `data` was true last. What belongs to a `run` counts for others once
    the run has ended; with "" it belongs to nobody, and counts at once. `size` is that of the data,
    in bytes, also where they were not read.
    """

    kind: str
    scope: str
    key: str
    data: bytes
    at: float = 0.0
    run: str = ""
    size: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", self.size or len(self.data))


RUN_FIELD = Record.__match_args__.index("run") - 1
"""The place of the run in what a record is packed as, which has no scope."""


class Match(NamedTuple):
    """A remembered page and its Hamming distance from the page in question."""

    record: Record
    distance: int


@dataclass(frozen=True, slots=True)
class Window:
    """How much of a scope counts as recent: its last `pages` records, none older than `seconds`.

    The last are those that were added last, whenever they were first seen: an old page that an
    archive brings is one of them. Age counts from the last visit to the record's own URL to the
    time of the page in question: with an age limit, a record that is too old then is never
    compared, wherever it stands. It is evicted once it is the first. Records of all pipeline
    versions take their place in a window, though only those of one are compared.
    """

    pages: int = 10_000
    seconds: float | None = None

    def since(self, record: Record) -> float:
        """Return the `last_seen` that a record must reach to count when `record` comes."""
        return NEVER if self.seconds is None else record.last_seen - self.seconds


class Answer(NamedTuple):
    """What `check_and_add` did.

    Not added: `match` is the best one within the radius. Added: `match` is the nearest page within
    `near` that is none, or None.
    """

    added: bool
    match: Match | None


def head_of(record: Record) -> bytes:
    """Return the fingerprint of a page, 8 bytes, and hints of 16 bytes what else it is."""
    return _HEAD.pack(record.fingerprint, *hints_of(record))


class Hints(NamedTuple):
    """Hashes of what a page is, so short that pages that differ can have the same."""

    request: int
    run: int
    name: int
    key: int
    asker: int
    carries: int
    url: int


def hints_of(record: Record) -> Hints:
    """Return the hints of a page: those of request and URL have 32 bits, name and key 8, others 16.

    `key` is the rest of the key of its sketch, behind the name.
    """
    key = key_of(record.sketch)
    request, run = hash64(record.request), hash64(record.run)
    asker, carries = hash64(record.asker) % 2**16, hash64(record.carries) % 2**16
    name, rest = (key >> NAME_BITS) % 2**8, key % 2**8
    url = mmh3.hash(as_bytes(record.url), signed=False)
    return Hints(request % 2**32, run % 2**16, name, rest, asker, carries, url)


def pack(record: Record) -> bytes:
    """Return all of a record but its scope, and whether it is settled."""
    named = (record.url, record.request, record.title, record.pipeline, record.run)
    texts = map(_quoted, (*named, record.asker, record.carries))
    url, request, title, pipeline, run, asker, carries = texts
    numbers = f"{record.fingerprint},{record.digest},{record.words}"
    times = f"{float(record.first_seen)!r},{float(record.last_seen)!r}"
    names = f"{title},{pipeline},{run},{asker},{carries}"
    head = as_bytes(f"[{url},{request},{numbers},{names},{times}]")
    return len(head).to_bytes(4, "big") + head + record.sketch


def join(values: Any, data: bytes) -> bytes:
    """Return what JSON can tell, and bytes, as one."""
    head = as_bytes(_as_json(values))
    return len(head).to_bytes(4, "big") + head + data


def split(joined: bytes) -> tuple[Any, bytes]:
    """Return what was joined. Raises ValueError for other bytes."""
    end = 4 + int.from_bytes(joined[:4], "big")
    try:
        return json.loads(as_text(joined[4:end])), joined[end:]
    except ValueError:
        raise ValueError("nothing that a store packs") from None


def key_of(sketch: bytes) -> int:
    """Return the key that a sketch begins with."""
    return int.from_bytes(sketch[:8].ljust(8, b"\0"), "big")


@lru_cache(1024)  # of runs and pipeline versions there are few
def hash64(text: str) -> int:
    """Return an unsigned 64-bit hash of a text."""
    return mmh3.hash64(as_bytes(text), signed=False)[0]


def address_of(kind: str, scope: str, key: str) -> bytes:
    """Return what a blob is found by, 24 bytes: those of a scope begin with the same 8.

    A key of 16 bytes, such as that of a run, stands for itself.
    """
    of_scope, name = blake2b(as_bytes(f"{kind} {scope}"), digest_size=8).digest(), as_bytes(key)
    return of_scope + (name if len(name) == 16 else blake2b(name, digest_size=16).digest())


class Server(NamedTuple):
    """A store URL taken apart: what the driver is given, and the values of the store's own.

    `name` is that of the store in messages; `lease` and `timeout` are in seconds.
    """

    url: str
    name: str
    lease: float
    timeout: float
    own: dict[str, str]


def without_password(url: str) -> str:
    """Return a store URL as it may be logged: rather too little of it, if it is misspelt."""
    shown = re.sub(r"^([^:/]*:)//(?!/).*@", r"\1//***@", url)
    return re.sub(r"(password=)[^&]*", r"\1***", shown)


def refusal(url: str, why: str) -> StoreURLError:
    """Return what is to be raised for a URL that no store can be opened by."""
    return StoreURLError(f"store URL {without_password(url)!r}: {why}")


def read_server(kind: str, url: str, **defaults: str) -> Server:
    """Take the query parameters of these names out of a URL, and `lease` and `timeout`.

    Raises ValueError if one of these two is no number of seconds, and if a port is no number.
    """
    if "://" not in url:
        raise ValueError("two slashes follow the colon")
    base, _, query = url.partition("?")
    hosts = urlsplit(base).netloc.rpartition("@")[2].split(",")
    ports = [host.rpartition("]")[2].partition(":")[2] or "0" for host in hosts]
    # What is taken for a port, or for a parameter, may be part of a password.
    if "@" in query.partition("=")[0] or not all(p.isdecimal() and int(p) < 1 << 16 for p in ports):
        raise ValueError("its port is no number; write / ? # @ in a password as %2F %3F %23 %40")
    given = parse_qsl(query, keep_blank_values=True)
    own = {"lease": "60", "timeout": "5"} | defaults
    others = [(name, value) for name, value in given if name not in own]
    own |= {name: value for name, value in given if name in own}
    if others:
        base += "?" + urlencode(others, quote_via=quote)
    try:
        lease, timeout = float(own["lease"]), float(own["timeout"])
    except ValueError:
        lease = timeout = 0.0
    if not (0.001 <= lease <= _DAY and 0.001 <= timeout <= _DAY):
        raise ValueError("timeout and lease are seconds, more than 0 and no more than a day")
    return Server(base, f"{kind} store {without_password(url)}", lease, timeout, own)
