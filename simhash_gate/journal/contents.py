"""Find the dropped pages of a journal, or of one of its files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from simhash_gate.common.warc import read_records
from simhash_gate.common.wording import Complain, complaining
from simhash_gate.journal.segments import segments
from simhash_gate.journal.warc import Drop, body_of, drop_of, need_fastwarc


class Found(NamedTuple):
    """A dropped page in a journal, with its place for messages, and its decoded body."""

    place: str
    drop: Drop
    body: bytes


class _Begun(NamedTuple):
    """The metadata of a page. Its response, with this record ID, comes next."""

    place: str
    drop: Drop
    response: str | None


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


def _drops(path: str, complain: Complain) -> Iterator[Found]:
    """Yield the pages of a file, up to the place where it is damaged."""
    begun: _Begun | None = None
    kinds, complaints, number = set[str](), list[str](), 0

    def tell(place: str, message: str) -> None:
        if not complaints:  # the first says where the damage begins
            complain(place, message)
        complaints.append(message)

    with Path(path).open("rb") as file:
        for place, record, block in read_records(file, path, tell):
            before, begun = begun, None
            kinds.add(kind := str(record.headers.get("WARC-Type")))
            with complaining(tell, place):
                if kind == "metadata" and (drop := drop_of(record, block)):
                    begun = _Begun(place, drop, record.headers.get("WARC-Concurrent-To"))
                elif kind == "response" and before and before.response == record.record_id:
                    number += 1
                    yield Found(before.place, before.drop, body_of(record, block))
    if complaints:
        return
    if begun:
        complain(path, f"cut off: no response for {begun.place}")
    elif not number and kinds != {"warcinfo"}:
        complain(path, "no dropped page is in it: not written by a journal")
