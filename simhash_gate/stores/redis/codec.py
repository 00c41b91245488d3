"""Pages, queries and names as the bytes that the scripts of a Redis store take apart."""

from __future__ import annotations

import struct
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import quote, unquote

from simhash_gate.fingerprints.blocks import probes
from simhash_gate.stores.base import Record
from simhash_gate.stores.values import as_bytes, as_text

if TYPE_CHECKING:
    from simhash_gate.stores.base import Lookup

SETTLED, DURABLE = 1, 2
"""Flags of a page."""

# When it was added in µs of the server's clock (the script fills it in), fingerprint, run, digest,
# first and last seen, flags, words, lengths of request, pipeline, URL and title. Texts follow.
_HEAD = struct.Struct(">7xQ8sQddBIIIII")
_QUERY = struct.Struct(">bBBbbbbQdQ")
_TABLES = 4
# Beyond two flipped bits a block there are more buckets to ask for than there are.
_FARTHEST_PROBE = 3 * _TABLES - 1
_ALL = 127
# Above what any window holds, and below where Lua's numbers lose their last bit.
_MOST = 1 << 40
# A key outlives its window by this much: clocks differ, and windows may.
_EXPIRY_SLACK = 3600.0


class Run(NamedTuple):
    """What is known of the run of a page."""

    name: str
    state: Literal["live", "ended", "dead"]


@lru_cache
def scope_key(prefix: str, scope: str) -> str:
    """Return the key of a scope; the braces make it the hash tag in a cluster."""
    return f"{prefix}scope:{{{quote(scope, safe='', errors='surrogatepass')}}}"


def site_key(prefix: str, scope: str) -> str:
    """Return the key of what a scope repeats, in a cluster beside that of the scope."""
    return f"{prefix}site:{{{quote(scope, safe='', errors='surrogatepass')}}}"


def url_key(prefix: str, scope: str) -> str:
    """Return the key of what is known of the URLs of a scope."""
    return f"{prefix}urls:{{{quote(scope, safe='', errors='surrogatepass')}}}"


def note_key(prefix: str, scope: str) -> str:
    """Return the key of the notes on a scope."""
    return f"{prefix}notes:{{{quote(scope, safe='', errors='surrogatepass')}}}"


def visit_keys(prefix: str, scope: str) -> list[str]:
    """Return the keys of the histories of a scope, and of their order; on one node of a cluster."""
    tag = quote(scope, safe="", errors="surrogatepass") or "/"  # an empty one would be none
    return [f"{prefix}visits:{{{tag}}}", f"{prefix}visited:{{{tag}}}"]


def scope_of(key: str) -> str:
    """Return the scope that a key is of, whose prefix has no braces."""
    return unquote(key.partition("{")[2][:-1].strip("/"), errors="surrogatepass")


@lru_cache
def run_digest(run: str) -> bytes:
    """Return the 8 bytes that stand for a run in its pages."""
    return sha256(as_bytes(run)).digest()[:8]


def pack(record: Record) -> bytes:
    """Return a page as bytes."""
    request, pipeline = pack_request(record.request), as_bytes(record.pipeline)
    url, title = as_bytes(record.url), as_bytes(record.title)
    head = _HEAD.pack(
        record.fingerprint,
        run_digest(record.run),
        record.digest,
        record.first_seen,
        record.last_seen,
        SETTLED if record.settled else 0,
        record.words,
        len(request),
        len(pipeline),
        len(url),
        len(title),
    )
    return b"".join((head, request, pipeline, url, title, record.sketch))


def added_at(page: bytes) -> int:
    """Return when a page was added, in µs of its server's clock."""
    return int.from_bytes(page[:7], "big")


def run_of(page: bytes) -> bytes:
    """Return the digest of the run of a page."""
    return page[15:23]


def unpack(scope: str, data: bytes, run: Run) -> Record | None:
    """Return the page that was packed, or None if it counts no more: it died with its run."""
    head = _HEAD.unpack_from(data)
    fingerprint, _, digest, first_seen, last_seen, flags, words, *lengths = head
    if run.state == "dead" and not flags & DURABLE:
        return None
    texts, start = [], _HEAD.size
    for length in lengths:
        texts.append(data[start : start + length])
        start += length
    request, pipeline, url, title = texts
    return Record(
        scope,
        as_text(url),
        unpack_request(request),
        fingerprint,
        digest,
        words,
        as_text(title),
        as_text(pipeline),
        run.name,
        first_seen,
        last_seen,
        data[start:],
        bool(flags & SETTLED) or run.state == "ended",
    )


def identity(record: Record) -> bytes:
    """Return what tells a page from every other of its scope."""
    number = struct.pack(">Q", record.fingerprint)
    return number + run_digest(record.run) + pack_request(record.request)


def query(lookup: Lookup) -> bytes:
    """Return what `match.lua` is asked for."""
    window = lookup.window
    expiry = 0 if window.seconds is None else int((window.seconds + _EXPIRY_SLACK) * 1000)
    return _QUERY.pack(
        -1 if lookup.radius is None else lookup.radius,
        min(lookup.limit, 64),
        lookup.exact,
        *_reaches(lookup.reach),
        min(window.pages, _MOST),
        lookup.since,
        expiry if expiry < _MOST else 0,
    )


def numbers_in(head: bytes) -> range:
    """Return the numbers of the pages that a scope may hold; `head` is its field "scope"."""
    first, last = (int.from_bytes(head[start : start + 5], "big") for start in (5, 10))
    return range(first, last + 1)


@lru_cache
def _reaches(radius: int) -> tuple[int, ...]:
    """Return how many bits of each block to flip; -1 where the others suffice."""
    if radius > _FARTHEST_PROBE:
        return (_ALL,) * _TABLES
    found = {probe.table: probe.flips[-1].bit_count() for probe in probes(_TABLES, radius)}
    return tuple(found.get(table, -1) for table in range(_TABLES))


def pack_request(text: str) -> bytes:
    """Pack a request fingerprint: digits by twos, anything else as it is, and a mark of which."""
    try:
        digits = bytes.fromhex(text)
    except ValueError:
        digits = b""
    return b"x" + digits if digits.hex() == text else b"t" + as_bytes(text)


def unpack_request(data: bytes) -> str:
    """Return the request fingerprint that was packed."""
    return data[1:].hex() if data[:1] == b"x" else as_text(data[1:])
