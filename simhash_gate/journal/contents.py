"""Find, load and copy the dropped pages of a journal, or of one of its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

from simhash_gate.common.urls import is_of_domain, without_credentials
from simhash_gate.common.wording import Complain, DamagedError, complaining
from simhash_gate.journal.segments import Segment, segments
from simhash_gate.journal.warc import (
    Drop,
    Stored,
    drop_of,
    member_at,
    need_fastwarc,
    record_of,
    stored_of,
    warcinfo,
)


class Place(NamedTuple):
    """The place of a page: its file, and the bytes where its records and its response begin."""

    file: str
    offset: int
    response: int

    def __str__(self) -> str:
        return f"{self.file}, byte {self.offset}"


class Found(NamedTuple):
    """A dropped page in a journal. Its records end before the byte `end`."""

    place: Place
    end: int
    drop: Drop


@dataclass(frozen=True, slots=True)
class Selection:
    """Conditions for pages, which must meet all. Times are Unix times, distances in bits."""

    domain: str = ""
    matched_url: str = ""
    spider: str = ""
    since: float = float("-inf")
    until: float = float("inf")
    distances: tuple[int, int] = (0, 64)

    def has(self, drop: Drop) -> bool:
        """Tell whether a dropped page meets all conditions."""
        low, high = self.distances
        return (
            (not self.domain or is_of_domain(drop.url, self.domain))
            and without_credentials(self.matched_url) in ("", without_credentials(drop.matched_url))
            and self.spider in ("", drop.spider)
            and self.since <= drop.time <= self.until
            and low <= drop.distance <= high
        )


def journal_files(path: str) -> list[Path]:
    """Return the files of a journal, the oldest first, or the one file at `path`.

    Raises OSError, also for a folder without such files, and for an empty file.
    """
    named = Path(path)
    if not named.is_dir():
        if named.is_file() and not named.stat().st_size:
            raise OSError("no dropped page is in it: an empty file")
        return [named]
    files = segments(named)
    if not files:
        raise OSError("no journal of dropped pages is in this folder")
    return files


def drops(path: str, complain: Complain) -> Iterator[Found]:
    """Yield the pages of a journal, or of one file, the oldest first.

    `complain` gets the place of everything that can't be read. Raises `MissingExtraError`.
    """
    need_fastwarc()
    files: list[Path] = []
    with complaining(complain, path):
        files = journal_files(path)
    for file in files:
        with complaining(complain, str(file)):
            yield from _drops(str(file), complain)


def load(place: Place) -> Stored:
    """Return the response of a dropped page. Raises `DamagedError` and OSError."""
    with Path(place.file).open("rb") as file:
        member = member_at(file, place.response)
    if member is None:
        raise DamagedError("not there any more")
    return stored_of(record_of(member[0]))


def selected(
    path: str, selection: Selection, complain: Complain, versions: Counter[str]
) -> Iterator[Found]:
    """Yield the selected pages of a journal, as `drops` does. Count them by pipeline version.

    Raises `MissingExtraError`.
    """
    for page in drops(path, complain):
        if selection.has(page.drop):
            versions[page.drop.pipeline] += 1
            yield page


def line(page: Found) -> dict[str, Any]:
    """Return the line of a dropped page for a list: all its values but its text."""
    drop = page.drop
    names = "distance threshold outcome reason title words fingerprint pipeline"
    return {
        "url": without_credentials(drop.url),
        "matched_url": without_credentials(drop.matched_url),
        **{name: getattr(drop, name) for name in names.split()},
        "time": datetime.fromtimestamp(drop.time, timezone.utc).isoformat(timespec="milliseconds"),
        "spider": drop.spider,
        "callback": drop.request.get("callback") or "parse",
        "file": page.place.file,
    }


def copy(pages: Iterable[Found], to: str) -> int:
    """Write the records of pages to a new file, unchanged. Return the number of pages.

    Raises OSError, also if the file exists. The pages before an error stay in the file.
    """
    number = 0
    with closing(Segment(Path(to))) as segment:
        for page in pages:
            if not number:
                segment.append(warcinfo())
            with Path(page.place.file).open("rb") as file:
                file.seek(page.place.offset)
                segment.append(file.read(page.end - page.place.offset))
            number += 1
    return number


def _drops(path: str, complain: Complain) -> Iterator[Found]:
    """Yield the pages of a file, up to the place where it is damaged."""
    begun: tuple[int, str, Drop] | None = None
    kinds, nothing, place, end = set(), True, 0, 0
    with Path(path).open("rb") as file:
        while True:
            try:
                member = member_at(file, end)
            except DamagedError as error:
                complain(path, f"{error}; nothing after it can be read")
                return
            if member is None:
                break
            place, (data, end) = end, member
            try:
                record = record_of(data)
                kinds.add(record.kind)
                if record.kind == "metadata" and (drop := drop_of(record)):
                    begun = (place, record.headers.get("WARC-Concurrent-To", ""), drop)
                elif record.kind == "response" and begun:
                    (start, response, drop), begun = begun, None
                    if record.headers.get("WARC-Record-ID") == response:
                        nothing = False
                        yield Found(Place(path, start, place), end, drop)
            except DamagedError as error:
                begun, nothing = None, False
                complain(f"{path}, byte {place}", str(error))
    if begun:
        complain(path, f"cut off: no response for the record at byte {begun[0]}")
    elif nothing and kinds != {"warcinfo"}:
        complain(path, "no dropped page is in it: not written by a journal")
