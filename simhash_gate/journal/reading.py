"""The dropped pages in a journal, or in one of its files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.common.complaints import why
from simhash_gate.journal.drop import DamagedError, Drop
from simhash_gate.journal.members import Gap, member_at, members
from simhash_gate.journal.records import drop_of, need_fastwarc, record, stored_of
from simhash_gate.journal.segments import segments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_gate.common.complaints import Complain
    from simhash_gate.journal.drop import Stored


class Place(NamedTuple):
    """Where a page is: its file, and the bytes at which its records and its response begin."""

    file: str
    offset: int
    response: int

    def __str__(self) -> str:
        return f"{self.file}, byte {self.offset}"


class Found(NamedTuple):
    """A dropped page; its records end before the byte `end`."""

    place: Place
    end: int
    drop: Drop


def journal_files(path: str) -> list[Path]:
    """Return the files of a journal, the oldest first, or the one file that is named.

    Raises OSError, also for a folder without any, and for an empty file.
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

    What can't be read is complained of, with its place. Raises `MissingExtraError`.
    """
    need_fastwarc()
    try:
        files = journal_files(path)
    except OSError as error:
        complain(path, why(error))
        return
    for file in files:
        try:
            yield from _drops(str(file), complain)
        except OSError as error:
            complain(str(file), why(error))


def load(place: Place) -> Stored:
    """Return the response of a dropped page. Raises `DamagedError` and OSError."""
    with Path(place.file).open("rb") as file:
        return stored_of(record(member_at(file, place.response).data))


def _drops(path: str, complain: Complain) -> Iterator[Found]:
    begun: tuple[int, str, Drop] | None = None
    kinds, nothing = set(), True
    with Path(path).open("rb") as file:
        for member in members(file):
            if isinstance(member, Gap):
                begun, nothing = None, False
                complain(path, str(member))
                continue
            try:
                found = record(member.data)
                kinds.add(found.kind)
                if found.kind == "metadata" and (drop := drop_of(found)):
                    begun = (member.start, found.headers.get("WARC-Concurrent-To", ""), drop)
                elif found.kind == "response" and begun:
                    (start, response, drop), begun = begun, None
                    if found.headers.get("WARC-Record-ID") == response:
                        nothing = False
                        yield Found(Place(path, start, member.start), member.end, drop)
            except DamagedError as error:
                begun, nothing = None, False
                complain(f"{path}, byte {member.start}", str(error))
    if begun:
        complain(path, f"cut off: no response for the record at byte {begun[0]}")
    elif nothing and kinds != {"warcinfo"}:
        complain(path, "no dropped page is in it: not written by a journal")
