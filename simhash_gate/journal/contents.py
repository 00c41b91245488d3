"""Find the dropped pages of a journal, or of one of its files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from simhash_gate.common.wording import Complain, DamagedError, complaining
from simhash_gate.journal.segments import segments
from simhash_gate.journal.warc import Drop, body_of, drop_of, member_at, need_fastwarc, record_of


class Found(NamedTuple):
    """A dropped page in a journal, with its place for messages, and its decoded body."""

    place: str
    drop: Drop
    body: bytes


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
    begun: tuple[str, str, Drop] | None = None
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
                    response = record.headers.get("WARC-Concurrent-To", "")
                    begun = (f"{path}, byte {place}", response, drop)
                elif record.kind == "response" and begun:
                    (start, response, drop), begun = begun, None
                    if record.headers.get("WARC-Record-ID") == response:
                        nothing = False
                        yield Found(start, drop, body_of(record))
            except DamagedError as error:
                begun, nothing = None, False
                complain(f"{path}, byte {place}", str(error))
    if begun:
        complain(path, f"cut off: no response for {begun[0]}")
    elif nothing and kinds != {"warcinfo"}:
        complain(path, "no dropped page is in it: not written by a journal")
