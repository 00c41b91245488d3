"""What is left of a page: its verdict, what a store remembers, and the page itself.

Verdict logs, stores, journals and files of pages are searched by any address of the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from simhash_gate.common.times import shown
from simhash_gate.common.urls import host_of, without_credentials
from simhash_gate.common.wording import Complain, MissingExtraError, Say, complaining
from simhash_gate.fingerprints.hamming import hamming_distance
from simhash_gate.history.texts import KeptPage
from simhash_gate.history.versions import History, Version
from simhash_gate.identity.keys import key_of
from simhash_gate.journal.segments import drops, journal_files
from simhash_gate.offline.chosen import Chosen, text_of
from simhash_gate.offline.logs import WITH_LOG, entry_of, is_log, left_by, logs_in, logs_of_project
from simhash_gate.offline.why import compared, trial_of
from simhash_gate.pipeline import Reading, read_closely
from simhash_gate.report import explanation as hint
from simhash_gate.report.explanation import Explanation, Side
from simhash_gate.report.judged import LoggedMatch, LoggedVerdict
from simhash_gate.settings import Settings
from simhash_gate.sources import Entry
from simhash_gate.sources.find import is_folder
from simhash_gate.sources.jsonl import json_objects
from simhash_gate.sources.open import names_store, open_kept, open_pages
from simhash_gate.stores import StoreError
from simhash_gate.stores.base import Record
from simhash_gate.values import PREFIX

_EXAMPLE = "those of a verdict log"


@dataclass
class PageTraces:
    """What is known of the page of a URL.

    `crawl` is what the crawl that reached the `verdict` says of itself. `copies` are URLs of its
    copies. `entries` are the page itself, `record` is what a store remembers of it, `markdown` its
    text if that is kept. `versions` are what it said at its visits, each with the text that is kept
    of it. `asked` are the places that were looked in.
    """

    url: str
    verdict: LoggedVerdict | None = None
    crawl: dict[str, Any] = field(default_factory=dict)
    copies: list[str] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    record: Record | None = None
    markdown: str = ""
    matched_markdown: str = ""
    versions: list[tuple[Version, KeptPage | None]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    _rank: int = 0

    def __post_init__(self) -> None:
        self.url = without_credentials(self.url)
        self._key, self._host = key_of(self.url), host_of(self.url).removeprefix("www.")

    def look(
        self, sources: Sequence[str], settings: Settings, complain: Complain, say: Say
    ) -> None:
        """Look in sources; then in what the project has, the newest verdict log first.

        Raises `StoreError`, `MissingExtraError`, and FileNotFoundError if there is nothing.
        """
        self.look_in(sources, settings, complain, say)
        logs = logs_of_project()
        while logs and self.verdict is None and self.record is None:
            self.look_in([logs.pop()], settings, complain, say)
        for place in left_by(self.crawl):
            if place not in self.asked and not self.entries:
                with suppress(StoreError, MissingExtraError):
                    self.look_in([place], settings, lambda *_: None, lambda _: None)
        if not self.asked:
            raise FileNotFoundError(f"nothing of it here. Name a SOURCE, or {WITH_LOG}")

    def look_in(
        self, sources: Iterable[str], settings: Settings, complain: Complain, say: Say
    ) -> None:
        """Look in sources of any kind. Raises `StoreError` and `MissingExtraError`."""
        pages = []
        for source in sources:
            self.asked.append(source)
            if names_store(source):
                self._look_in_store(source, complain)
            elif _is_journal(source):
                self._look_in_journal(source, complain)
            elif logs := logs_in(source, say) if is_folder(source) else [source] * is_log(source):
                for log in logs:
                    self._look_in_log(log, complain)
            else:
                pages.append(source)
        if pages:
            for entry in open_pages(pages, complain, settings.max_bytes, say).entries:
                if not entry.skipped and self._is_page(entry.url or entry.name):
                    self.entries.append(entry)

    def read(self, settings: Settings) -> Iterator[tuple[str, Reading]]:
        """Yield where the page is and when it was fetched, with the page, read; the last first."""
        for it in reversed(self.entries):
            at = f", fetched at {shown(it.time)}" if it.time else ""
            read = read_closely(it.body, url=it.url, encoding=it.encoding, options=settings.options)
            yield f"{it.place}{at}", read

    def _read_as_judged(
        self, settings: Settings, say: Say, words: int | None, mark: int | None, bits: int | None
    ) -> Reading | None:
        """Return the page that was judged, read, with a fingerprint `bits` from `mark`, or None."""
        digests = [self.record.digest] if self.record and self.record.url == self.url else []
        found = [*self.read(settings)]
        for _, read in found:
            page = read.page
            known = None not in (mark, bits, page.fingerprint)
            apart = known and hamming_distance(mark, page.fingerprint) != bits  # type: ignore[arg-type]
            of_store = page.digest in digests or not digests
            if not apart and of_store and words in (None, page.words):
                return read
        for place, _ in found[:1]:
            say(f"not the page that was judged: {place}")
        return None

    def answer(self, kept: PageTraces | None, settings: Settings, say: Say) -> Explanation | None:
        """Return what became of the page, None if unknown; `kept` is what it was compared with."""
        verdict = self.verdict
        if verdict is None and self.record is not None:
            reason = f"remembered; last seen {shown(self.record.last_seen)}"
            verdict = LoggedVerdict(self.record.url, "kept", reason, at=self.record.first_seen)
        if verdict is None:
            return None
        policy = settings.policies.site_of(self.url).policy
        limits = {name: getattr(verdict, name) for name in ("threshold", "near")}
        policy = replace(policy, **{name: it for name, it in limits.items() if it is not None})
        known, its = (settings, say), verdict.kept
        page = self._read_as_judged(*known, verdict.words, verdict.fingerprint, 0)
        seen = its and (its.words, verdict.fingerprint, verdict.distance)
        other = kept._read_as_judged(*known, *seen) if kept and seen else None
        if page is not None and other is not None and kept is not None:
            both = compared((kept.url, other), (verdict.url, page), settings, url=verdict.url)
            return replace(both, verdict=verdict, policy=policy, copies=self.copies)
        found = Explanation(verdict, self._side(page, verdict), None, policy, copies=self.copies)
        found = replace(found, hints=self._hints(verdict, settings))
        if verdict.means.revisit and verdict.kept:
            return replace(found, kept=self._earlier(verdict, verdict.kept))
        if kept is None or verdict.kept is None:
            return found
        kept.markdown = kept.markdown or self.matched_markdown
        trial = trial_of(kept.record, page.page if page else None)
        return replace(found, kept=kept._side(other, verdict.kept), is_copy=trial)

    def _hints(self, verdict: LoggedVerdict, settings: Settings) -> list[str]:
        """Return how to see the words that differ, but for what the crawl had set."""
        journals = f"{PREFIX}JOURNAL" in (self.crawl.get("settings") or {})
        hints = [hint.IN_SOURCES] * (not verdict.means.revisit)
        hints += [hint.KEEP_TEXTS] * (not settings.keep_markdown)
        return hints + [hint.KEEP_COPIES] * (verdict.dropped and not journals)

    def _earlier(self, verdict: LoggedVerdict, before: LoggedMatch) -> Side:
        """Return what the page said at the visit before the one of a verdict."""
        for version, text in self.versions:
            if version.last_seen == verdict.previous_at:
                markdown = text.markdown if text else ""
                return Side.known(before.url, version, markdown)._replace(words=before.words)
        if verdict.outcome == "unchanged":
            return self._side(None, before)
        return Side.known(before.url, before)

    def _side(self, read: Reading | None, logged: LoggedVerdict | LoggedMatch) -> Side:
        if read is not None:
            return Side.read(logged.url, read.page, read.lines)
        if self.record is not None and self.record.url == logged.url:
            return Side.known(logged.url, self.record, self.markdown)
        return Side.known(logged.url, logged, self.markdown)

    def _is_page(self, url: str | None) -> bool:
        return bool(url) and self._host in str(url) and key_of(str(url)) == self._key

    def _look_in_log(self, path: str, complain: Complain) -> None:
        crawl: dict[str, Any] = {}
        for place, line in json_objects(path, complain, _EXAMPLE):
            if isinstance(line.get("crawl"), dict):
                crawl = line["crawl"]
            if "outcome" not in (line := line.get("came", line)):
                continue  # it is no verdict
            if line.get("outcome") == "duplicate" and self._is_page(line.get("matched_url")):
                self.copies.append(str(line.get("url")))
            with complaining(complain, place):
                self._take(line, crawl)

    def _take(self, line: dict[str, Any], crawl: dict[str, Any]) -> None:
        """Take a verdict, unless a known one is more surely on this page. Raises ValueError."""
        url, outcome = line.get("url"), line["outcome"]
        by_canonical = self._is_page(line.get("canonical_url"))
        sure = 3 if url == self.url else 2 if self._is_page(url) else int(by_canonical)
        of_itself = sure == 1 or self._is_page(line.get("matched_url"))
        # What it became counts more than that it was seen again, and its copies count least.
        rank = sure * 3 - (2 if outcome == "duplicate" else outcome == "unchanged") * of_itself
        if rank > 0 and rank >= self._rank:
            self.verdict, self.crawl, self._rank = LoggedVerdict.of(line), crawl, rank

    def _look_in_journal(self, path: str, complain: Complain) -> None:
        for found in drops(path, complain):
            drop = found.drop
            if not self._is_page(drop.url):
                continue
            if self.verdict is None:
                self._take({**vars(drop), "dropped": True}, {"name": drop.spider})
            self.matched_markdown = drop.matched_markdown
            self.entries.append(entry_of(found))

    def _look_in_store(self, url: str, complain: Complain) -> None:
        with open_kept(url) as store:
            chosen = Chosen(page=self.url)
            for record in chosen.of(store):
                if self.record is None or self.record.url != self.url:
                    self.record = record
            if self.record is None:
                return
            scope = self.record.scope
            with complaining(complain, self.record.url):
                text = text_of(store, scope, self.record.digest)
                self.markdown = text.markdown if text else ""
                for past in chosen.histories(store):
                    found = History.decode(past.history).versions
                    self.versions += [(it, text_of(store, scope, it.digest)) for it in found]


def _is_journal(path: str) -> bool:
    with suppress(OSError):
        return Path(path).is_dir() and bool(journal_files(path))
    return False
