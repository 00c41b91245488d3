"""What the paths of a command are, and the files in their folders: each is of one kind."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path

from simhash_gate.common.wording import Complain, MissingExtraError, how_many, need, why
from simhash_gate.sources import File, files, httpcache, jsonl, parquet, warc
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


@dataclass(frozen=True)
class Given:
    """What one path of a command is. `counts` are those of the files in a folder, by kind.

    `fingerprints` tells that its files have these alone.
    """

    path: str
    kind: str
    counts: Counter[str] = field(default_factory=Counter)
    fingerprints: bool = False

    def files(self, complain: Complain) -> Iterator[File]:
        """Yield the files of a folder by name; the responses of an HttpCache come last."""
        if self.kind != FOLDER:
            yield File(self.path, self.kind)
            return
        named = self._named()
        for path, kind in _walk(self.path, lambda error: complain(str(error.filename), why(error))):
            if kind == _CACHED or not self.counts[kind]:
                continue
            if kind in (HTML, TEXT) and hash(os.path.normpath(path)) in named:
                continue
            if _is_source(path, kind, fingerprints=self.fingerprints):
                yield File(path, kind, self.path)
        if self.counts[_CACHED]:
            yield File(self.path, CACHE, self.path)

    def _named(self) -> set[int]:
        """Return the files that manifests of the folder name, as hashes: they are read as named."""
        return {
            hash(os.path.normpath(named))
            for path, kind in (_walk(self.path) if self.counts[JSONL] else ())
            if kind == JSONL and "path" in jsonl.first_object(path)
            for named in files.paths(path)
        }

    def total(self) -> int | None:
        """Return how many pages there are, None where that is not cheap to know."""
        if self.kind == JSONL:
            return jsonl.count_lines(self.path)
        counts = self.counts if self.kind == FOLDER else {self.kind: 1}
        if any(counts.get(kind) for kind in (WARC, WACZ, JSONL, PARQUET, STORE)):
            return None
        return sum(counts.get(kind, 0) for kind in (HTML, TEXT, _CACHED))

    def shown(self) -> str:
        """Return what a folder is taken for."""
        found = [how_many(self.counts[k], f"{k} file") for k in _SUFFIXES if self.counts[k]]
        if self.counts[_CACHED]:
            found.append(f"an HttpCache of {how_many(self.counts[_CACHED], 'response')}")
        if self.counts[_OTHER]:
            found.append(f"{how_many(self.counts[_OTHER], 'other file')} not read")
        return f"{self.path}: {', '.join(found)}"


def look_at(
    paths: Sequence[str],
    complain: Complain,
    say: Callable[[str], object],
    *,
    fingerprints: bool = False,
) -> list[Given]:
    """Tell what each path is. A folder is searched, and `say` told what it is taken for.

    A path that is named more than once is taken once. With `fingerprints`, files that have these
    alone are sources too, but not among pages. A folder without any source is complained of, as is
    one that has files for which a package is missing. Raises `MissingExtraError` for such a file
    that is named.
    """
    return [_given(path, complain, say, fingerprints=fingerprints) for path in distinct(paths, say)]


def files_of(given: Iterable[Given], complain: Complain) -> Iterator[File]:
    """Yield all files, in order. Folders that can't be read are complained of."""
    for one in given:
        yield from one.files(complain)


def total(given: Iterable[Given]) -> int | None:
    """Return how many pages there are, None where that is not cheap to know."""
    known = [one.total() for one in given]
    return None if None in known else sum(filter(None, known))


def names_store(path: str) -> bool:
    """Tell if a source is the URL of a store. That of a crawl, `sqlite:`, has no path."""
    return ("://" in path and not path.startswith(("http://", "https://"))) or path == "sqlite:"


def is_folder(path: str) -> bool:
    """Tell if a source is a folder."""
    return not names_store(path) and os.path.isdir(path)  # noqa: PTH112 - Path raises for some names


def shown(*paths: str) -> str:
    """Return sources as messages show them: the URLs of stores without passwords."""
    return ", ".join(
        without_password(path) if names_store(path) else jsonl.shown_path(path) for path in paths
    )


def distinct(paths: Sequence[str], say: Callable[[str], object]) -> list[str]:
    """Return each source once, without what a folder that is a source too has in it."""
    if len(paths) == 1:
        return list(paths)
    folders = {os.path.realpath(path) for path in paths if is_folder(path)}
    known: set[str] = set()
    found: list[str] = []
    again: list[str] = []
    for path in paths:
        place = path if names_store(path) else os.path.realpath(path)
        within = not folders.isdisjoint(map(str, Path(place).parents)) and (
            is_folder(place) or _kind_of_name(place) != _OTHER
        )
        (again if place in known or within else found).append(path)
        known.add(place)
    if again:
        say(f"sources named more than once are read once: {shown(*dict.fromkeys(again))}")
    return found


def _given(
    path: str, complain: Complain, say: Callable[[str], object], *, fingerprints: bool
) -> Given:
    if names_store(path):
        return Given(path, STORE)
    if not is_folder(path):
        kind = _kind_of_file(path)
        _NEEDED.get(kind, lambda: None)()
        return Given(path, kind)
    failed: list[OSError] = []
    counts, alone, unread = _counted(path, failed)
    # Among pages, fingerprints are those of a log: of the very same pages.
    if fingerprints and alone and not counts.keys() - {_OTHER}:
        given = Given(path, FOLDER, counts - Counter({_OTHER: alone.total()}) + alone, True)
    else:
        given = Given(path, FOLDER, counts)
    for message, number in unread.items():
        complain(path, f"{how_many(number, 'file')} can't be read: {message}")
    if given.counts.keys() - {_OTHER}:
        say(given.shown())
    elif not failed and not unread:
        dbm = any(file.name.endswith(httpcache.DATABASES) for file in Path(path).iterdir())
        complain(path, httpcache.NOT_FILES if dbm else _NO_PAGE)
    return given


def _counted(path: str, failed: list[OSError]) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Count the files of a folder by kind; those of fingerprints alone; and by missing package."""
    counts: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    unread: Counter[str] = Counter()
    for place, kind in _walk(path, failed.append):
        if missing := _missing(kind):
            unread[missing] += 1
        elif _is_source(place, kind):
            counts[kind] += 1
            continue
        elif _is_source(place, kind, fingerprints=True):
            alone[kind] += 1
        counts[_OTHER] += 1
    return counts, alone, unread


@lru_cache
def _missing(kind: str) -> str:
    """Return which package is missing for files of a kind, "" for none."""
    try:
        _NEEDED.get(kind, lambda: None)()
    except MissingExtraError as error:
        return str(error)
    return ""


def _walk(
    path: str, failed: Callable[[OSError], object] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the files of a folder, by name, and their kinds; and the folders of cache entries."""
    for folder, folders, names in os.walk(path, onerror=failed):
        if not httpcache.FILES.isdisjoint(names):
            yield folder, _CACHED
            continue
        folders.sort()
        for name in sorted(names):
            yield str(Path(folder, name)), _kind_of_name(name)


def _kind_of_name(path: str) -> str:
    """Return the kind that the end of a name tells. (wget leaves the query of a URL in it.)"""
    name = path.lower().partition("?")[0]
    return next((kind for kind, ends in _SUFFIXES.items() if name.endswith(ends)), _OTHER)


def _kind_of_file(path: str) -> str:
    """Return the kind of a file that was named: by its name, else by its start."""
    kind = _kind_of_name(path)
    if kind != _OTHER or path == jsonl.STDIN:
        return JSONL if kind == _OTHER else kind
    try:
        with Path(path).open("rb") as file:
            start = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    except (OSError, ValueError):
        return JSONL
    return next((kind for mark, kind in _STARTS.items() if start.startswith(mark)), JSONL)


def _is_source(path: str, kind: str, *, fingerprints: bool = False) -> bool:
    """Tell of a file in a folder if there may be pages, or fingerprints, in it."""
    if kind in (JSONL, PARQUET):
        keys = jsonl.first_object(path) if kind == JSONL else parquet.columns_of(path)
        # One that can't be read is named where it is read.
        wanted = (*files.PAGES, *(jsonl.WITH_FINGERPRINTS if fingerprints else ()))
        return not keys or any(key in keys for key in wanted)
    return kind != _OTHER
