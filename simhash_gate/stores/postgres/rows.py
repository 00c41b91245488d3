"""Records as PostgreSQL holds them, and the statements that ask for them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from psycopg.types.numeric import Int4, Int8

from simhash_gate.fingerprints.blocks import probes, split
from simhash_gate.stores.base import NEAR_REACH, KeptText, PageHistory, Record
from simhash_gate.stores.values import signed, unsigned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simhash_gate.stores.base import Lookup

_BLOCKS = 4
# Beyond two flipped bits a block, there are about as many keys to ask for as a scope has pages.
_FARTHEST_PROBE = 3 * _BLOCKS - 1
_MOST_PAGES = (1 << 63) - 1

# A noncharacter, which no text of the web should have; it escapes itself too.
_ESCAPE = "\U0010fffe"
_UNSTORABLE = re.compile(f"[\0\ud800-\udfff{_ESCAPE}]")
_ESCAPED = re.compile(f"{_ESCAPE}([0-9a-f]{{6}})")

CHECK_AND_ADD = f"SELECT check_and_add({', '.join(['%s'] * 24)})"
# After the id, the scope and the pipeline version, the columns of the type `answer`.
_PAGES = """
SELECT page.id, scope.name, pipeline.name, page.settled OR run.state = 'ended', fingerprint, digest,
    words, first_seen, last_seen, run.name, url, request, title, sketch
FROM page
JOIN scope ON scope.id = page.scope
JOIN pipeline ON pipeline.id = page.pipeline
JOIN run ON run.id = page.run
WHERE (page.durable OR counts(run.state, run.expires))
"""
PAGES_AFTER = f"{_PAGES} AND page.id > %(after)s ORDER BY page.id LIMIT 1000"
PAGES_OF_SCOPE_AFTER = f"""{_PAGES}
    AND (page.scope, page.id) > (%(scope)s, %(after)s)
    AND (page.scope, page.id) < (%(scope)s + 1, 0)
ORDER BY page.scope, page.id LIMIT 1000
"""
LIVES = """
SELECT EXISTS (
    SELECT FROM run WHERE name = %s AND state = 'live' AND expires > clock_timestamp()
)
"""
LET_DIE = """
UPDATE run SET state = 'dead', expires = clock_timestamp() WHERE id = ANY (%s) AND state = 'live'
"""
VERSIONS = """
SELECT pipeline.name, kept.pages
FROM (SELECT pipeline, count(*) AS pages FROM page GROUP BY pipeline) AS kept
JOIN pipeline ON pipeline.id = kept.pipeline
"""
SITE_MEMORY = """
SELECT repeated FROM site_memory WHERE scope = (SELECT id FROM scope WHERE name = %s)
"""
SITE_MEMORIES = """
SELECT scope.id, scope.name, repeated FROM site_memory JOIN scope ON scope.id = scope
WHERE scope.id > %s ORDER BY scope.id LIMIT 100
"""
URL_RULES = "SELECT rules FROM url_rules WHERE scope = %s"
ALL_URL_RULES = "SELECT scope, rules FROM url_rules ORDER BY scope"
SITE_NOTES = "SELECT notes FROM site_notes WHERE scope = %s"
ALL_SITE_NOTES = "SELECT scope, notes FROM site_notes"
HISTORY = "SELECT history_of(%s, %s, %s)"
KEEP_HISTORY = "SELECT keep_history(%s, %s, %s, %s, %s, %s, %s, %s)"
_HISTORIES = """
SELECT here.id, scope.name, request, url, run.name, seen, history
FROM history AS here JOIN scope ON scope.id = here.scope JOIN run ON run.id = here.run
WHERE (durable OR run.state = 'ended') AND NOT EXISTS (
    SELECT FROM history AS other JOIN run AS its ON its.id = other.run
    WHERE other.page = here.page AND other.request = here.request
        AND (other.durable OR its.state = 'ended') AND (other.seen, other.id) > (here.seen, here.id)
)
"""
HISTORIES_AFTER = f"{_HISTORIES} AND here.id > %(after)s ORDER BY here.id LIMIT 1000"
HISTORIES_OF_SCOPE_AFTER = f"""{_HISTORIES}
    AND (here.scope, here.id) > (%(scope)s, %(after)s)
    AND (here.scope, here.id) < (%(scope)s + 1, 0)
ORDER BY here.scope, here.id LIMIT 1000
"""
TEXT = "SELECT data FROM kept_text WHERE digest = %s AND scope = %s"
KEEP_TEXT = "SELECT keep_text(%s, %s, %s, %s, %s)"
TEXTS_AFTER = """
SELECT id, scope, digest, at, length(data) FROM kept_text
WHERE id > %(after)s AND (%(scope)s::text IS NULL OR scope = %(scope)s) ORDER BY id LIMIT 1000
"""
CURRENT = f"""{_PAGES}
    AND page.bucket0 = bucket((SELECT id FROM scope WHERE name = %s), %s, 0)
    AND page.fingerprint = %s AND page.request = %s AND run.name = %s
ORDER BY page.id DESC LIMIT 1
"""


def question(lookup: Lookup, run: int, pipeline: int) -> list[Any]:
    """Return what CHECK_AND_ADD is asked with; `run` and `pipeline` are numbers on the server.

    Values have the types that the function takes: for other types it would be prepared again.
    """
    record, radius = lookup.record, lookup.radius
    scanning, probing = lookup.reach > _FARTHEST_PROBE, lookup.reach > NEAR_REACH
    keys: list[list[Int4]] | list[None] = [None] * _BLOCKS  # those of the page itself
    if probing:
        keys = _keys(record.fingerprint, -1 if scanning else lookup.reach)
    refused = [
        _identity_in_scope(other) for other in lookup.dismissed if other.scope == record.scope
    ]
    return [
        Int8(run),
        as_stored(record.scope),
        Int4(pipeline),
        as_stored(record.url),
        as_stored(record.request),
        Int8(signed(record.fingerprint)),
        Int8(signed(record.digest)),
        Int8(record.words),
        as_stored(record.title),
        record.first_seen,
        record.last_seen,
        record.sketch,
        record.settled,
        None if radius is None else Int4(radius),
        Int4(lookup.limit),
        Int8(max(0, min(lookup.window.pages, _MOST_PAGES))),
        lookup.since,
        lookup.exact,
        scanning,
        *keys,
        refused or None,
    ]


def identity(record: Record) -> tuple[str, str, str, Int8]:
    """Return scope, run, request and fingerprint: what tells a record from every other."""
    scope, run, request, fingerprint = record.identity
    return as_stored(scope), as_stored(run), as_stored(request), Int8(signed(fingerprint))


def _identity_in_scope(record: Record) -> str:
    """Return what the server's function `identity` does."""
    _, run, request, fingerprint = identity(record)
    return f"{fingerprint} {len(run)} {run}{request}"


def to_record(scope: str, pipeline: str, row: Sequence[Any]) -> Record:
    """Return the record of an answer less its first two values, or of a row from there on."""
    settled, fingerprint, digest, words, first_seen, last_seen, *texts, sketch = row
    run, url, request, title = map(from_stored, texts)
    return Record(
        scope,
        url,
        request,
        unsigned(fingerprint),
        unsigned(digest),
        words,
        title,
        pipeline,
        run,
        first_seen,
        last_seen,
        sketch,
        settled,
    )


def to_history(row: Sequence[Any]) -> PageHistory:
    """Return the history of a row of HISTORIES_AFTER or HISTORIES_OF_SCOPE_AFTER."""
    _, *texts, seen, history = row
    scope, request, url, run = map(from_stored, texts)
    return PageHistory(scope, request, url, run, seen, bytes(history))


def to_kept_text(row: Sequence[Any]) -> KeptText:
    """Return which text a row of TEXTS_AFTER is about."""
    _, scope, digest, at, size = row
    return KeptText(from_stored(scope), unsigned(digest), at, size)


def as_stored(text: str) -> str:
    """Return text with NUL and lone surrogates escaped: broken pages have them, no database."""
    if text.isascii() and "\0" not in text:
        return text
    return _UNSTORABLE.sub(lambda found: f"{_ESCAPE}{ord(found[0]):06x}", text)


def from_stored(stored: str) -> str:
    """Return the text that was given to `as_stored`."""
    if _ESCAPE not in stored:
        return stored
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), stored)


def _keys(fingerprint: int, radius: int) -> list[list[Int4]]:
    """Return what to look up in each block so that nothing within `radius` is missed."""
    keys: list[list[Int4]] = [[] for _ in range(_BLOCKS)]
    for table, flips in probes(_BLOCKS, radius) if radius >= 0 else ():
        block = split(_BLOCKS)[table]
        own = fingerprint >> block.shift & block.mask
        keys[table] = [Int4(own ^ flip) for flip in flips]
    return keys
