"""The values of stores: pages, blobs, the window, addresses, URLs, and errors."""

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

from simhash_gate.common.encoded import as_bytes, as_text, signed
from simhash_gate.common.urls import without_credentials

HISTORY = "history"
"""The kind of blobs that belong to runs: under each key, each run has its own."""
SITE_MEMORY, SITE_NOTES = "site_memory", "site_notes"
"""Kinds of blobs. A scope has one of each, under the key ""."""
KEPT_TEXT = "kept_text"
"""The kind of a page's text. Its key is the digest of the page, as 16 hex digits."""
RUN, LIVE, ENDED = "run", "live", "ended"
"""The kind of blobs about runs, and the scopes for live and for ended runs; see runs.py."""

NEVER = float("-inf")
NAME_BITS = 32
"""The low bits of what a sketch begins with. Those above them stand for the name of the page."""
UNKNOWN_GAVE = 1
"""What a page gave, if all that is known is that it gave something."""
_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
HEAD_BYTES = 24
HINTS = "IHBBHHI"
_HEAD = struct.Struct(f">Q{HINTS}")
_DAY = 86_400


class StoreError(Exception):
    """A store can't be opened, read or written. The message names it and says what to do."""


class StoreURLError(StoreError):
    """A URL names no store that can be opened."""


class StoreMissing(StoreError):  # noqa: N818 - a state, as below
    """The store does not exist, and must not be created."""


class StoreUnavailable(StoreError):  # noqa: N818 - a state of the store, as users know it
    """A store can't be reached or written now. Trying again later may help."""


Identity = tuple[str, str, str, str, str, int]
"""Tells a record from all others."""


@dataclass(frozen=True, slots=True)
class Record:
    """One remembered page.

    `key` is the key of the page. `digest` is an unsigned 64-bit hash of its text, equal only for
    equal texts. `first_seen` and `last_seen` are Unix times. `sketch` is for a closer look, and may
    be empty; the first 4 of its bytes stand for the name of the page, 4 more for the rest of it. A
    `settled` page can't fail any more: its callback ended well and its items are out, or its run
    has ended. `url` never has a user name or a password.

    `asker` describes the callback and the visitor that asked for the page. `carries` describes the
    other values of its request. Both are lines of text, "" if unknown or empty. `gave` is 0 if the
    page gave no item, else a number below 2**63 that stands for what it gave. Stores only keep it.
    """

    scope: str
    url: str
    key: str
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
    gave: int = UNKNOWN_GAVE

    def __post_init__(self) -> None:
        if "@" in self.url:
            object.__setattr__(self, "url", without_credentials(self.url))

    @property
    def identity(self) -> Identity:
        """Tells this record from all others."""
        return (self.scope, self.run, self.url, self.key, self.asker, self.fingerprint)

    @property
    def callback(self) -> str:
        """The name of the callback that asked for the page, "" if unknown."""
        return self.asker.partition("\n")[0]

    def stands_for(self, page: Record) -> bool:
        """Tell whether this page gave all that the request of `page` asks for."""
        same_asker = self.asker == page.asker or not (self.asker and page.asker)
        return same_asker and page.carries in ("", self.carries)


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes that a store keeps beside pages, under a kind, a scope and a key of the scope.

    `at` is the Unix time when `data` was true last. A blob of a `run` counts for other runs once
    that run has ended. With the run "", it counts at once. `size` is that of the data in bytes,
    even if the data were not read.
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
"""The place of the run among the fields of a packed record, which has no scope."""


class Match(NamedTuple):
    """A remembered page and its Hamming distance from the page in question."""

    record: Record
    distance: int


@dataclass(frozen=True, slots=True)
class Window:
    """The records of a scope that are compared: the last `pages` ones, none older than `seconds`.

    The order is that in which records were added, whenever they were first seen. The age of a
    record is the time from the last visit to its URL to the visit of the page in question. A record
    that is too old is never compared, and is evicted once it is the first. Records of all pipeline
    versions take a place, though only those of the page's version are compared.
    """

    pages: int = 10_000
    seconds: float | None = None

    def since(self, record: Record) -> float:
        """Return the lowest `last_seen` of records that `record` is compared with."""
        return NEVER if self.seconds is None else record.last_seen - self.seconds


class Answer(NamedTuple):
    """The result of `check_and_add`.

    If the page was not `added`, `match` is its best match. Else `match` is the nearest page within
    `near` bits, or None.
    """

    added: bool
    match: Match | None


def head_of(record: Record) -> bytes:
    """Return the fingerprint of a page (8 bytes) and its hints (16 bytes)."""
    return _HEAD.pack(record.fingerprint, *hints_of(record))


class Hints(NamedTuple):
    """Short hashes of a record's fields. Different values can have the same hash."""

    key: int
    run: int
    name: int
    rest: int
    asker: int
    carries: int
    url: int


def hints_of(record: Record) -> Hints:
    """Return the hints of a page: key and URL have 32 bits, name and rest 8, the others 16.

    `rest` is for the second half of what its sketch begins with, behind the name.
    """
    head = head_of_sketch(record.sketch)
    key, run = hash64(record.key), hash64(record.run)
    asker, carries = hash64(record.asker) % 2**16, hash64(record.carries) % 2**16
    name, rest = (head >> NAME_BITS) % 2**8, head % 2**8
    return Hints(key % 2**32, run % 2**16, name, rest, asker, carries, hint_of_url(record.url))


def hint_of_url(url: str) -> int:
    """Return the hint of a URL, 32 bits."""
    return mmh3.hash(as_bytes(url), signed=False)


def pack(record: Record) -> bytes:
    """Return a record as bytes, without its scope, `settled` and `gave`."""
    page = (record.url, record.key, record.fingerprint, record.digest, record.words, record.title)
    asked = (record.pipeline, record.run, record.asker, record.carries)
    return join([*page, *asked, float(record.first_seen), float(record.last_seen)], record.sketch)


def join(values: Any, data: bytes) -> bytes:
    """Join values that JSON can hold with bytes."""
    head = as_bytes(_as_json(values))
    return len(head).to_bytes(4, "big") + head + data


def split(joined: bytes) -> tuple[Any, bytes]:
    """Return the values and the bytes that `join` got. Raises ValueError for other bytes."""
    end = 4 + int.from_bytes(joined[:4], "big")
    try:
        return json.loads(as_text(joined[4:end])), joined[end:]
    except ValueError:
        raise ValueError("the bytes are none that a store packed") from None


def head_of_sketch(sketch: bytes) -> int:
    """Return the number that a sketch begins with: its first half stands for the name."""
    return int.from_bytes(sketch[:8].ljust(8, b"\0"), "big")


@lru_cache(1024)  # of runs and pipeline versions there are few
def hash64(text: str) -> int:
    """Return an unsigned 64-bit hash of a text."""
    return mmh3.hash64(as_bytes(text), signed=False)[0]


def number_of(name: str) -> int:
    """Return the number of a scope or a run in a database, by its name."""
    return signed(hash64(name))


def address_of(kind: str, scope: str, key: str) -> bytes:
    """Return a blob's address: 8 bytes by its scope, then its key if that has 16, or a hash."""
    data = as_bytes(key)
    data = data if len(data) == 16 else blake2b(data, digest_size=16).digest()
    return blake2b(as_bytes(f"{kind} {scope}"), digest_size=8).digest() + data


class Server(NamedTuple):
    """A store URL taken apart: the `url` for the driver, and the `options` of the store itself.

    `name` is the store's name in messages. `lease` and `timeout` are in seconds.
    """

    url: str
    name: str
    lease: float
    timeout: float
    options: dict[str, str]


def without_password(url: str) -> str:
    """Return a store URL for the log. If it is misspelt, rather too much of it is masked."""
    shown = re.sub(r"^([^/]*:)//(?!/).*@", r"\1//***@", url)
    return re.sub(r"(password=)[^&]*", r"\1***", shown)


def refusal(url: str, why: str) -> StoreURLError:
    """Return the error to raise for a URL that names no store."""
    return StoreURLError(f"store URL {without_password(url)!r}: {why}")


def read_server(kind: str, url: str, **defaults: str) -> Server:
    """Take the store's own options out of a URL: `defaults`, `lease` and `timeout`.

    Raises ValueError if these two are not numbers of seconds, and if a port is not a number.
    """
    if "://" not in url:
        raise ValueError("two slashes follow the colon")
    base, _, query = url.partition("?")
    hosts = urlsplit(base).netloc.rpartition("@")[2].split(",")
    ports = [host.rpartition("]")[2].partition(":")[2] or "0" for host in hosts]
    # The text at the place of a port, or of a parameter, may be part of a password.
    if "@" in query.partition("=")[0] or not all(p.isdecimal() and int(p) < 1 << 16 for p in ports):
        raise ValueError("its port is no number; write / ? # @ in a password as %2F %3F %23 %40")
    pairs = parse_qsl(query, keep_blank_values=True)
    values = {"lease": "60", "timeout": "5"} | defaults
    others = [(name, value) for name, value in pairs if name not in values]
    values |= {name: value for name, value in pairs if name in values}
    if others:
        base += "?" + urlencode(others, quote_via=quote)
    try:
        lease, timeout = float(values["lease"]), float(values["timeout"])
    except ValueError:
        lease = timeout = 0.0
    if not (0.001 <= lease <= _DAY and 0.001 <= timeout <= _DAY):
        raise ValueError("timeout and lease are seconds, more than 0 and no more than a day")
    return Server(base, f"{kind} store {without_password(url)}", lease, timeout, values)
