"""Find the kinds of the paths of a command, and the files in their folders."""

from __future__ import annotations

import os
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path

from simhash_gate.common.warc import GZIP
from simhash_gate.common.wording import Complain, MissingExtraError, how_many, need, unread, why
from simhash_gate.sources import STDIN, File, files, httpcache, jsonl, opened, parquet, warc
from simhash_gate.stores.base import without_password

HTML, TEXT, WARC, WACZ, JSONL, PARQUET = "HTML", "text", "WARC", "WACZ", "JSON Lines", "Parquet"
STORE, FOLDER, CACHE = "store", "folder", "HttpCache"
_SUFFIXES = {
    HTML: (".html", ".htm", ".xhtml", ".xht"),
    TEXT: (".txt", ".md"),
    WARC: warc.SUFFIXES,
    WACZ: (warc.WACZ_SUFFIX,),
    JSONL: (".jsonl", ".ndjson"),
    PARQUET: (parquet.SUFFIX,),
}
_STARTS = {b"<": HTML, b"WARC/": WARC, b"PAR1": PARQUET, b"PK\x03\x04": WACZ, b"PK\x05\x06": WACZ}
_NEEDED: dict[str, Callable[[], object]] = {
    WARC: partial(need, "fastwarc", "reading WARC files", "warc"),
    WACZ: partial(need, "fastwarc", "reading WARC files", "warc"),
    PARQUET: parquet.load,
}
_NO_PAGE = (
    f"no page in this folder: no file in it ends in {', '.join(chain(*_SUFFIXES.values()))}, and "
    "it is no HttpCache"
)
_CACHED, _OTHER = "response", "other"
_NAMED = 3  # sources, in a message


@dataclass(frozen=True)
class Given:
    """One path of a command and its kind. `counts` are the numbers of files in a folder, by kind.

    `fingerprints` tells whether its files have fingerprints alone. What is `written` by the command
    is not read; `others` are some more that are not.
    """

    path: str
    kind: str
    written: frozenset[str] = frozenset()
    counts: Counter[str] = field(default_factory=Counter)
    others: deque[str] = field(default_factory=lambda: deque(maxlen=3))
    fingerprints: bool = False

    def files(self, complain: Complain) -> Iterator[File]:
        """Yield the files of a folder in the order of their names. An HttpCache comes last."""
        if self.kind != FOLDER:
            yield File(self.path, self.kind)
            return
        named = self._named()
        for path, kind in self.walk(lambda error: complain(str(error.filename), why(error))):
            if kind == _CACHED or not self.counts[kind]:
                continue
            if kind in (HTML, TEXT) and hash(os.path.normpath(path)) in named:
                continue
            if _is_source(path, kind, fingerprints=self.fingerprints):
                yield File(path, kind, self.path)
        if self.counts[_CACHED]:
            yield File(self.path, CACHE, self.path)

    def _named(self) -> set[int]:
        """Return hashes of the paths that manifests of the folder name. Their lines read them."""
        return {
            hash(os.path.normpath(named))
            for path, kind in (self.walk() if self.counts[JSONL] else ())
            if kind == JSONL and "path" in jsonl.first_object(path)
            for named in files.paths(path)
        }

    def total(self) -> int | None:
        """Return the number of pages, None if counting is not cheap."""
        if self.kind == JSONL:
            return jsonl.count_lines(self.path)
        counts = self.counts if self.kind == FOLDER else {self.kind: 1}
        if any(counts.get(kind) for kind in (WARC, WACZ, JSONL, PARQUET, STORE)):
            return None
        return sum(counts.get(kind, 0) for kind in (HTML, TEXT, _CACHED))

    def shown(self) -> str:
        """Return a description of the files in a folder."""
        parts = [how_many(self.counts[k], f"{k} file") for k in _SUFFIXES if self.counts[k]]
        if self.counts[_CACHED]:
            parts.append(f"an HttpCache of {how_many(self.counts[_CACHED], 'response')}")
        if self.counts[_OTHER]:
            parts.append(unread(self.path, self.counts[_OTHER], self.others))
        return f"{self.path}: {', '.join(parts)}"

    def walk(self, failed: Callable[[OSError], object] | None = None) -> Iterator[tuple[str, str]]:
        """Yield the files of a folder with their kinds, and the folders of cache entries."""
        for folder, folders, names in os.walk(self.path, onerror=failed):
            if not httpcache.FILES.isdisjoint(names):
                yield folder, _CACHED
                continue
            place = Path(folder).resolve()
            folders[:] = sorted(it for it in folders if str(place / it) not in self.written)
            for name in sorted(it for it in names if str(place / it) not in self.written):
                yield str(Path(folder, name)), _kind_of_name(name)


def look_at(
    paths: Sequence[str],
    complain: Complain,
    say: Callable[[str], object],
    *,
    fingerprints: bool = False,
    written: Iterable[str] = (),
) -> list[Given]:
    """Return the kind of each path. Folders are searched, and `say` gets a description of each.

    A path that is named more than once counts once. With `fingerprints`, a folder of files that
    have only fingerprints is a source, too. What the command has `written` into a folder is none.
    `complain` is called for a folder without sources, and for one with files that need a missing
    package. Raises `MissingExtraError` if the user named such a file.
    """
    named = [Path(it).parent.resolve() / Path(it).name for it in written]  # a link leads elsewhere
    own = frozenset(str(it) for place in named for it in (place, place.resolve()))
    given = [Given(path, FOLDER, own) for path in distinct(paths, say)]
    return [_looked_at(it, complain, say, fingerprints=fingerprints) for it in given]


def files_of(given: Iterable[Given], complain: Complain) -> Iterator[File]:
    """Return all files, in order. `complain` is called for folders that can't be read."""
    return chain.from_iterable(path_given.files(complain) for path_given in given)


def total(given: Iterable[Given]) -> int | None:
    """Return the number of pages, None if counting is not cheap."""
    totals = [path.total() for path in given]
    return None if None in totals else sum(filter(None, totals))


def names_store(path: str) -> bool:
    """Tell whether a source is the URL of a store (`sqlite:` is that of the crawl itself)."""
    return ("://" in path and not path.startswith(("http://", "https://"))) or path == "sqlite:"


def is_folder(path: str) -> bool:
    """Tell whether a source is a folder."""
    return not names_store(path) and os.path.isdir(path)  # noqa: PTH112 - Path raises for some names


def shown(*paths: str) -> str:
    """Return sources for a message, the last ones, with URLs of stores without passwords."""
    named = ", ".join(
        without_password(it) if names_store(it) else jsonl.shown_path(it) for it in paths[-_NAMED:]
    )
    return f"{named} and {len(paths) - _NAMED} more" if len(paths) > _NAMED else named


def distinct(paths: Sequence[str], say: Callable[[str], object]) -> list[str]:
    """Return each source once, without files and folders within another source."""
    if len(paths) == 1:
        return list(paths)
    folders = {os.path.realpath(path) for path in paths if is_folder(path)}
    places: set[str] = set()
    once: list[str] = []
    again: list[str] = []
    for path in paths:
        place = path if names_store(path) else os.path.realpath(path)
        within = not folders.isdisjoint(map(str, Path(place).parents)) and (
            is_folder(place) or _kind_of_name(place) != _OTHER
        )
        (again if place in places or within else once).append(path)
        places.add(place)
    if again:
        say(f"sources named more than once are read once: {shown(*dict.fromkeys(again))}")
    return once


def _looked_at(
    given: Given, complain: Complain, say: Callable[[str], object], *, fingerprints: bool
) -> Given:
    path = given.path
    if names_store(path):
        return Given(path, STORE)
    if not is_folder(path):
        kind = _kind_of_file(path)
        _NEEDED.get(kind, lambda: None)()
        return Given(path, kind)
    failed: list[OSError] = []
    missing = _count(given, failed)
    # Fingerprints beside pages are those of a log about the same pages.
    if fingerprints and not given.counts.keys() - {_OTHER}:
        given = Given(path, FOLDER, given.written, fingerprints=True)
        missing = _count(given, failed)
    for message, number in missing.items():
        complain(path, f"{how_many(number, 'file')} can't be read: {message}")
    if given.counts.keys() - {_OTHER}:
        say(given.shown())
    elif not failed and not missing:
        dbm = any(file.name.endswith(httpcache.DATABASES) for file in Path(path).iterdir())
        complain(path, httpcache.NOT_FILES if dbm else _NO_PAGE)
    return given


def _count(given: Given, failed: list[OSError]) -> Counter[str]:
    """Count the files of a folder by kind. Return those that can't be read by message."""
    missing = Counter[str]()
    for place, kind in given.walk(failed.append):
        if message := _missing(kind):
            missing[message] += 1
        elif _is_source(place, kind, fingerprints=given.fingerprints):
            given.counts[kind] += 1
            continue
        given.counts[_OTHER] += 1
        given.others.append(place)
    return missing


@lru_cache
def _missing(kind: str) -> str:
    """Return a message on the package that files of a kind lack, "" if none is missing."""
    try:
        _NEEDED.get(kind, lambda: None)()
    except MissingExtraError as error:
        return str(error)
    return ""


def _kind_of_name(path: str) -> str:
    """Return the kind of a file by the end of its name, or of what wget has before a query."""
    names = path.lower().partition("?")[0], path.lower()
    return next((it for n in names for it, ends in _SUFFIXES.items() if n.endswith(ends)), _OTHER)


def _kind_of_file(path: str) -> str:
    """Return the kind of a file by its name, else by its first bytes."""
    kind = _kind_of_name(path)
    if kind != _OTHER:
        return kind
    with suppress(OSError, ValueError), opened(path) as file:
        start = file.peek()
        if start.startswith(GZIP):
            with suppress(zlib.error):
                start = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(start, 64)
            return WARC if start.startswith(b"WARC/") else JSONL
        start = start[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
        kind = next((kind for mark, kind in _STARTS.items() if start.startswith(mark)), JSONL)
    if path == STDIN and kind in (PARQUET, WACZ):
        raise OSError(f"<stdin>: {kind} can't be read from a pipe. Name the file")
    return JSONL if kind == _OTHER else kind


def _is_source(path: str, kind: str, *, fingerprints: bool) -> bool:
    if kind in (JSONL, PARQUET):
        keys = jsonl.first_object(path) if kind == JSONL else parquet.columns_of(path)
        wanted = {*files.PAGES, *(("fingerprint",) if fingerprints else ())}
        # A file without keys may be unreadable: it stays, and reading it reports the error.
        return not keys or not wanted.isdisjoint(keys)
    return kind != _OTHER
