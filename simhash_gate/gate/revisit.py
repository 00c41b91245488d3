"""A page that was visited before: what it said then, and whether it says the same now.

A distance does not tell: of pages that changed by less than a hundredth of their words, nearly all
are within three bits of what they were. So a page is unchanged only if its text is the very same,
but for the lines that change by themselves, and with it what it calls itself and offers.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterator
from dataclasses import replace
from typing import NamedTuple

from simhash_gate.common.wording import how_many
from simhash_gate.compare.names import words_of_name
from simhash_gate.compare.offers import TEXT_ALONE, UNKNOWN, fields_apart
from simhash_gate.compare.sketch import Offered, decode
from simhash_gate.fingerprints.hamming import hamming_distance
from simhash_gate.gate.policy import Policy
from simhash_gate.gate.verdict import Verdict
from simhash_gate.gate.visit import Visit, what_else
from simhash_gate.history.versions import History, Version
from simhash_gate.identity.keys import Keys
from simhash_gate.page import Page
from simhash_gate.stores.base import HISTORY, Blob, Match, Record
from simhash_gate.stores.histories import PageHistory, history_in
from simhash_gate.stores.store import Store

MOST_VISITED = 50_000
"""Pages of which a run knows that it has visited them; another content of one is no update."""
APART = 16
"""Texts that have nothing in common differ in about 32 bits, seldom in fewer than these."""
_SHOWN = 60
_OF_VERSION = (
    *("fingerprint", "digest", "words", "title", "pipeline", "run", "first_seen", "last_seen"),
    *("asker", "carries"),
)


class Revisit(NamedTuple):
    """What is known of a page's visits, and the version it is compared with, None for none.

    `kept` is the record of that version, as far as it is known.
    """

    history: History
    previous: Version | None = None
    kept: Record | None = None


class Revisits:
    """The visits to pages that one run makes, as a store remembers them."""

    def __init__(self, store: Store, run: str, pipeline: str, keys: Keys) -> None:
        self._store, self._keys = store, keys
        self._run = run
        self._pipeline = pipeline
        # Addresses of this run, the latest last, by whom a page was visited for or what was found.
        self._visited: OrderedDict[tuple[str, str, Hashable], str] = OrderedDict()

    def of(self, visit: Visit, policy: Policy) -> Revisit:
        """Return what is known of the page of a visit. Raises `StoreError`.

        What is older than the policy's age limit, or was read under another pipeline version, is
        no version to compare with; nor is what this run kept itself, until `revisit_after`.
        A page of which nothing is known has the past of the key that it has `moved_from`.
        """
        if not policy.history:
            return Revisit(History())
        history = self._history(visit)
        moved = bool(visit.moved_from) and not history.versions
        if moved:
            visit = visit.under(visit.moved_from)
            history = self._history(visit)
        last = history.last_of(self._pipeline, visit.asker)
        if last is None or history.gone is not None or not self.counts(last, visit.at, policy):
            return Revisit(history)
        kept = record_of(last, visit)
        if moved:
            last = replace(last, url=visit.url)
            history = replace(history, versions=(last,))
        return Revisit(history, last, kept)

    def at(self, visit: Visit, page: Page, policy: Policy) -> tuple[Visit, Revisit]:
        """Return the visit under the key that its page has, and what is known of that page.

        An address that was visited as a page of its own goes on as that, from its last visit, under
        its key of now if no other page has it. Else a key is of the address that brought a
        version, and of those that bring the like. Of two contents that a run finds under one key,
        the second has its own. So has another rendition: a copy, or a page with a wrong link, but
        for an address that the key is of, with the same claims. Raises `StoreError`.
        """
        revisit = self.of(visit, policy)
        last = revisit.history.last_of(self._pipeline, visit.asker)
        has_moved = revisit.kept is not None and revisit.kept.key != visit.key
        precise, key_of = self._keys.precise, self._keys.key_of
        url, plain = precise(visit.url), key_of(visit.url)
        mine = last is not None and precise(last.url) == url
        if has_moved or (mine and visit.key == plain):
            return visit, revisit
        own = visit.under(self._keys.own_key(visit.url))
        keys = {plain} if last is None else {own.key, plain}
        # A page may have had the key of an address that it names, as long as no other page had it.
        if last is None and {*map(key_of, page.canonical.splitlines())} - {plain}:
            keys.update(kept.key for kept in self._store.at_address(visit.scope, visit.url))
        found = [(record_of(last, visit), visit, revisit)] if last and mine else []
        for key in sorted(keys - {visit.key}):
            now = visit.under(key)
            its = self.of(now, policy)
            before = its.history.last_of(self._pipeline, visit.asker)
            if before is not None and precise(before.url) == url:
                found.append((record_of(before, now), now if last else visit, its))
        if len(found) > 1:  # a later visit under another key has replaced the record
            found.sort(key=lambda it: (self._store.current(it[0]) is not None, it[0].last_seen))
        if found:
            return found[-1][1:]
        if last is None or not what_changed(last, page, policy, visit):
            return visit, revisit
        bits = hamming_distance(last.fingerprint, page.fingerprint or 0)
        one = bits <= policy.near and not visit.rendition
        if not one and bits <= APART and last.headline and not [*_other_claims(last, page)]:
            keys = {key_of(version.url) for version in revisit.history.versions}
            one = not page.listing and (visit.key in keys if visit.rendition else keys != {plain})
        if not one or last.run == self._run or self.has_visited(visit):
            return own, self.of(own, policy)
        return visit, revisit

    def found_at(self, visit: Visit, version: Version) -> str:
        """Return the address at which this run first found a version of a page, "" for none."""
        return self._visited.get((visit.scope, visit.key, _contents(version)), "")

    def has_visited(self, visit: Visit) -> bool:
        """Tell whether this run has visited a page before, for the same asker, or any if ""."""
        return (visit.scope, visit.key, visit.asker) in self._visited

    def keep(self, revisit: Revisit, version: Version, visit: Visit, policy: Policy) -> None:
        """Note that a visit found a version of a page. Raises `StoreError`.

        It is the previous one, seen again, if that is still in `revisit`. What was known of the
        address under another key, of a page that it named, tells of it no more.
        """
        if policy.history:
            if revisit.kept and revisit.kept.key != visit.key and not visit.moved_from:
                self.close(visit.under(revisit.kept.key))
            history = revisit.history.visited(version, again=revisit.previous, most=policy.history)
            contents = _contents(history.versions[-1])
            self._write(visit, history, version.last_seen)
            self._visited.setdefault((visit.scope, visit.key, contents), visit.url)

    def note_items(self, record: Record, items: str) -> None:
        """Note what the items of a kept page said, as `Version.items`. Raises `StoreError`.

        Of the versions for one asker, only the last can be compared with a later visit.
        """
        history = self._history(record)
        last = history.last_of(record.pipeline, record.asker)
        if last is None or (last.run, last.fingerprint) != (record.run, record.fingerprint):
            return
        for_whom = record.pipeline, record.asker
        versions = tuple(
            replace(it, items=items * (it is last)) if (it.pipeline, it.asker) == for_whom else it
            for it in history.versions
        )
        if versions != history.versions:
            self._put(record, replace(history, versions=versions), record.last_seen)

    def close(self, visit: Visit) -> None:
        """Note that a page became a copy: its text is new if it comes back. Raises `StoreError`."""
        history = self._history(visit)
        if history.versions:
            self._write(visit, replace(history, gone=visit.at), visit.at)

    def take_back(self, record: Record) -> None:
        """Forget the visit of this run that kept a record. Raises `StoreError`."""
        visit = (record.run, record.url, record.first_seen)
        versions = self._history(record).versions
        rest = tuple(it for it in versions if (it.run, it.url, it.first_seen) != visit)
        if any(it.run == self._run for it in rest):
            self._write(record, History(rest), record.last_seen)
        else:  # what counted before this run counts
            self._store.put(Blob(HISTORY, record.scope, record.key, b"", run=self._run))

    def found_gone(self, visit: Visit, kept: Collection[Record]) -> Record | None:
        """Note that the page of a visit is gone; return what was kept of it.

        `kept` was delivered by the address that is gone. None if it was known, or if another
        address has delivered the page, or this run has fetched it by another one.
        """
        history = self._history(visit)
        last = history.last
        if last is None:
            return None
        its = record_of(last, visit)
        if all(its.identity != replace(other, url=its.url).identity for other in kept):
            here = last.run == self._run or self.has_visited(visit)
            same = self._keys.precise if here else self._keys.key_of
            if same(its.url) != same(visit.url):
                return None
        self._write(visit, replace(history, gone=visit.at), visit.at)
        return its if history.gone is None else None

    def _history(self, page: Visit | Record) -> History:
        kept = self._store.get(HISTORY, page.scope, page.key, run=self._run)
        try:
            return History.decode(history_in(kept))
        except ValueError:  # of a later release, or damaged: the page is new then
            return History()

    def counts(self, last: Version, at: float, policy: Policy) -> bool:
        """Tell whether a version that a run kept is an earlier one at the time of a visit."""
        age = at - last.last_seen  # below zero if a clock was wrong, or a capture is older
        if policy.ttl is not None and age > policy.ttl:
            return False
        if last.run != self._run:
            return True
        return policy.revisit_after is not None and abs(age) >= policy.revisit_after

    def _put(self, page: Visit | Record, history: History, at: float) -> None:
        packed = history.encode()
        self._store.put(PageHistory(page.scope, page.key, page.url, self._run, at, packed).blob)

    def _write(self, page: Visit | Record, history: History, at: float) -> None:
        self._put(page, history, at)
        for asker in (page.asker, ""):
            self._visited.setdefault((page.scope, page.key, asker), page.url)
        while len(self._visited) > MOST_VISITED:
            self._visited.popitem(last=False)


def _contents(version: Version) -> Hashable:
    """Return what tells a version from others: what was said, to whom, and for what."""
    return version.digest, version.fingerprint, version.asker, version.carries


def version_of(page: Page, record: Record, visit: Visit) -> Version:
    """Return the version of a page that a visit found, with the record of it."""
    version = _version(record, *_name_and_offers(page.sketch))
    answer = visit.validators._asdict() | {"variant": visit.variant}
    return replace(version, links=page.links, structure=page.structure, **answer)


def version_in(record: Record, history: History) -> Version:
    """Return the version that a record remembers, also if its history does not."""
    for version in history.versions:
        if (version.run, version.fingerprint) == (record.run, record.fingerprint):
            return version
    try:
        return _version(record, *_name_and_offers(record.sketch))
    except ValueError:  # it has a sketch of another version
        return _version(record, "", None, of_text=False)


def _version(record: Record, headline: str, offers: Offered | None, of_text: bool) -> Version:
    known = {name: getattr(record, name) for name in _OF_VERSION}
    if of_text:  # in HTML the same text has other blocks
        known["digest"] = 0
    return Version(**known, headline=headline, offers=offers, url=record.url)


def record_of(version: Version, visit: Visit) -> Record:
    """Return the record of an earlier version of the page of a visit, as far as it is known."""
    fields = {name: getattr(version, name) for name in _OF_VERSION}
    return Record(visit.scope, version.url or visit.url, visit.key, **fields, settled=True)


def unfetched(revisit: Revisit, visit: Visit, policy: Policy) -> Verdict:
    """Return the verdict on a known page that was not fetched: it is said to be as it was."""
    before, kept = revisit.previous, revisit.kept
    assert before is not None
    assert kept is not None
    said = (before.title, before.words, before.fingerprint, before.digest)
    page = Page(*said, False, None, url=visit.url, structure=before.structure)
    reason = f"not modified (304), {before.age(visit.at)}"
    return Verdict("unchanged", reason, policy, page, Match(kept, 0), previous=before)


def what_changed(
    before: Version, page: Page, policy: Policy, visit: Visit, text: str | None = None
) -> str:
    """Return in words what a page, or its request, says other than before; "" for the same.

    `text` is what a closer look found to differ in its text, None where none was possible.
    """
    assert page.fingerprint is not None
    found = [*filter(None, [what_else(before, visit)]), *_other_claims(before, page)]
    bits = hamming_distance(before.fingerprint, page.fingerprint)
    is_another = bool(text)
    if text is None:
        is_another = before.digest != page.digest if before.digest else bits > policy.threshold
    if is_another:
        found.append(f"{how_many(before.words, 'word')}, now {page.words}; distance {bits}")
    return "; ".join(found)


def _other_claims(before: Version, page: Page) -> Iterator[str]:
    """Yield in words what a page calls itself, and offers, other than before."""
    headline, offers, _ = _name_and_offers(page.sketch)
    named = bool(before.headline and headline)
    if named and words_of_name(before.headline) != words_of_name(headline):
        yield f"headline {before.headline[:_SHOWN]!r}, now {headline[:_SHOWN]!r}"
    for field, *values in fields_apart(before.offers, offers) if before.offers is not None else ():
        was, becomes = ("none" if it is None else it[:_SHOWN] for it in values)
        yield f"{field} {was!r}, now {becomes!r}"


def _name_and_offers(data: bytes) -> tuple[str, Offered, bool]:
    """Return what a page claims, and if it was read from its text, which does not tell all."""
    if not data:
        return "", (), False
    sketch = decode(data)
    offers = (*sketch.offered, *sketch.compared)
    known = tuple(it for it in offers if it[1] != UNKNOWN and it[0] != TEXT_ALONE)
    return sketch.headline, known, len(known) < len(offers)
