"""The pages of sources as members of a collection: read, or with the fingerprint that they have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from simhash_gate.collection.gathered import Member
from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import Complain, Say, complaining
from simhash_gate.gate.policy import scope_of
from simhash_gate.options import pipeline_version
from simhash_gate.settings import Settings
from simhash_gate.sources import File, Known, find
from simhash_gate.sources.files import is_pages
from simhash_gate.sources.fingerprints import Numbered, fingerprinted, is_list, read_list
from simhash_gate.sources.jsonl import first_object
from simhash_gate.sources.open import open_kept, pages_of
from simhash_gate.sources.parquet import FINGERPRINT, ParquetFile, columns_of
from simhash_gate.sources.read_pages import read_pages
from simhash_gate.workers.pool import ReadError

Total = Callable[[], int | None]


@dataclass
class Members:
    """Reads the pages of sources: files of pages or of fingerprints, and stores.

    `say` is told what a folder is taken for. `watch` is given what is read, and what counts it; it
    returns what is read. `passed_over` counts pages without a fingerprint.
    """

    settings: Settings
    complain: Complain
    say: Say
    watch: Callable[[Iterable[Any], Total], Iterable[Any]] = lambda things, _: things
    passed_over: int = 0

    def of(self, paths: Sequence[str]) -> Iterator[Member]:
        """Yield the pages of sources, in order. Raises `StoreError` and `MissingExtraError`."""
        given = find.look_at(paths, self.complain, self.say, fingerprints=True)
        for member in self.watch(self._of(given), lambda: find.total(given)):
            if member is None:
                self.passed_over += 1
                continue
            yield member._replace(name=without_credentials(member.name))

    def numbered(self, path: str) -> Iterator[Numbered] | None:
        """Return the fingerprints of a source that has no names for them, else None."""
        (given,) = find.look_at([path], lambda *_: None, lambda _: None)
        reader = self._reader_of(File(path, given.kind))
        if reader == self._of_list:
            return read_list(path, self.complain)
        if reader == self._of_parquet:
            with suppress(OSError, ValueError):  # it is told when the file is read as others are
                if not (parquet := ParquetFile(path)).named:
                    return (numbered for numbered, _ in parquet.batches(self.complain))
        return None

    def _of(self, given: Sequence[find.Given]) -> Iterator[Member | None]:
        for reader, same in groupby(find.files_of(given, self.complain), self._reader_of):
            if reader is None:
                yield from self._of_pages(same)
            else:
                for file in same:
                    yield from reader(file.path)

    def _reader_of(self, file: File) -> Callable[[str], Iterator[Member | None]] | None:
        """Return what reads the fingerprints of a file, None if it has pages."""
        if file.kind == find.STORE:
            return self._of_store
        if file.kind == find.PARQUET:
            columns = columns_of(file.path)
            return None if is_pages(columns) and FINGERPRINT not in columns else self._of_parquet
        if not file.folder and file.kind in (find.JSONL, find.TEXT) and is_list(file.path):
            return self._of_list
        if file.kind == find.JSONL and "fingerprint" in first_object(file.path):
            return self._of_lines
        return None

    def _of_list(self, path: str) -> Iterator[Member]:
        for batch in read_list(path, self.complain):
            for number, bits in zip(*(part.tolist() for part in batch), strict=True):
                yield Member(f"{path}:{number}", "", bits, "", 0)

    def _of_store(self, url: str) -> Iterator[Member]:
        with open_kept(url) as store:
            for record in store.records():
                page = record.title, record.words, record.pipeline
                yield Member(record.url, record.scope, record.fingerprint, *page)

    def _of_lines(self, path: str) -> Iterator[Member | None]:
        for place, record, bits in fingerprinted(path, self.complain):
            yield None if bits is None else self._member(place, bits, record)

    def _of_parquet(self, path: str) -> Iterator[Member]:
        with complaining(self.complain, path):
            for (numbers, values), texts in ParquetFile(path).batches(self.complain):
                rows = zip(numbers.tolist(), values.tolist(), strict=True)
                for row, (number, bits) in enumerate(rows):
                    known = {name: column[row] for name, column in texts.items()}
                    yield self._member(f"{path}:{number}", bits, known)

    def _member(self, place: str, bits: int, known: Mapping[str, Any]) -> Member:
        """Return the page of a line or a row. An id that is no text names no page."""
        url, words, known_as = (known.get(name) for name in ("url", "words", "id"))
        url, known_as = url or "", known_as if isinstance(known_as, str) else ""
        name = url or known.get("path") or known_as or place
        scope = known.get("scope") or scope_of(url, self.settings.scope)
        title, pipeline = known.get("title") or "", known.get("pipeline") or ""
        return Member(name, scope, bits, title, words if isinstance(words, int) else 0, pipeline)

    def _of_pages(self, files: Iterable[File]) -> Iterator[Member | None]:
        version = pipeline_version(self.settings.options)
        entries = pages_of(files, self.complain, self.settings.max_bytes)
        for entry, page in read_pages(entries, self.settings, known=True):
            if isinstance(page, ReadError):
                self.complain(entry.place, str(page))
                continue
            said = None if entry.skipped else entry.known
            if page is not None and page.fingerprint is not None:
                said = Known(page.fingerprint, page.title, page.words, version)
            scope = entry.scope or scope_of(entry.url, self.settings.scope)
            yield Member(entry.own_name, scope, *said) if said else None
