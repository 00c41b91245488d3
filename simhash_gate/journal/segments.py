"""The files of a journal, and the dropped pages in them.

The files are filled one after the other; the oldest go to keep the bound. A crawl locks the file
that it writes, so that no other crawl removes it. The operating system frees the lock when the
process ends, however it ends.
"""

from __future__ import annotations

import io
import os
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from simhash_gate.common.files import is_locked, new_file, private_folder, private_lock, whole_file
from simhash_gate.common.warc import read_records
from simhash_gate.common.wording import Complain, complaining
from simhash_gate.journal.warc import Drop, body_of, drop_of, need_fastwarc, warcinfo

SEGMENTS = 8
"""The number of files in a full journal."""
MOST_BYTES = 1 << 30
"""The bytes that a journal keeps, compressed."""
_NAME = re.compile(r"dropped-\d{8}T\d{12}Z-[0-9a-f]{8}\.warc\.gz")
_HEAD = 1024  # bytes: the first record of a file is shorter
_LONGEST_WAIT = 10.0  # seconds for the lock of the folder, which others hold for a moment


def segments(folder: Path) -> list[Path]:
    """Return the files of a journal, the oldest first. Raises OSError."""
    return sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))


class Segment:
    """A file of whole records. Records that can't be written completely are removed again."""

    def __init__(self, path: Path) -> None:
        """Make the file. Raises OSError, also if it exists."""
        self.path = path
        self.size = 0
        self._file = new_file(path)
        try:
            import fcntl  # Windows has none, and no journal

            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # a file system without locks
            self.close()
            raise

    def append(self, records: bytes) -> None:
        """Write records. If it raises OSError, none of them is in the file."""
        left = memoryview(records)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except BaseException:
            with suppress(OSError):
                os.ftruncate(self._file, self.size)
                os.lseek(self._file, self.size, os.SEEK_SET)
            raise
        self.size += len(records)

    def close(self) -> None:
        """Close the file, and remove it if nothing was written."""
        if not self.size:
            self.path.unlink(missing_ok=True)
        os.close(self._file)


class Segments:
    """Appends to the journal in a folder, which is made if needed.

    The folder keeps at most `bound` bytes from all crawls together, not counting other files.
    """

    def __init__(self, folder: Path, bound: int) -> None:
        self._folder = folder
        self._bound = bound
        self._largest = bound // SEGMENTS
        self._segment: Segment | None = None

    def check(self) -> None:
        """Make the folder, and check that a file can be made and locked. Raises OSError."""
        private_folder(self._folder)
        Segment(self._folder / f"probe-{uuid.uuid4().hex}").close()

    def append(self, records: bytes) -> None:
        """Write records. Raises OSError."""
        if _HEAD + len(records) > self._largest:
            raise OSError(f"a page too large for a file of the journal, {self._largest} bytes")
        if self._segment is not None and self._segment.size + len(records) > self._largest:
            self.close()
        if self._segment is None:
            private_folder(self._folder)
            with private_lock(self._folder / ".lock").acquire(timeout=_LONGEST_WAIT):
                self._make_room()
                now = datetime.now(timezone.utc)
                name = f"dropped-{now:%Y%m%dT%H%M%S%f}Z-{uuid.uuid4().hex[:8]}.warc.gz"
                self._segment = Segment(self._folder / name)
        if not self._segment.size:
            self._segment.append(warcinfo())
        self._segment.append(records)

    def close(self) -> None:
        """Close the current file."""
        segment, self._segment = self._segment, None
        if segment is not None:
            segment.close()

    def _make_room(self) -> None:
        room = self._bound - self._largest
        files = segments(self._folder)
        ended = [path for path in files if not is_locked(path)]
        taken = self._largest * (len(files) - len(ended))
        taken += sum(path.stat().st_size for path in ended)
        for path in ended:
            if taken <= room:
                break
            taken -= path.stat().st_size
            path.unlink()
        if taken > room:
            raise OSError("other crawls are writing all that the journal has room for")


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
    with complaining(complain, path):
        for file in journal_files(path):
            with complaining(complain, str(file)):
                yield from _drops(str(file), complain)


def forget(path: str, is_gone: Callable[[Drop], bool], complain: Complain, *, dry_run: bool) -> int:
    """Remove dropped pages from a journal, or only count them. Raises `MissingExtraError`.

    `complain` gets what can't be read, and the files that a crawl is writing: these stay.
    """
    need_fastwarc()
    removed = 0
    with complaining(complain, path):
        for file in journal_files(path):
            with complaining(complain, str(file)):
                if is_locked(file):
                    raise OSError("a crawl is writing it. Repeat this when the crawl has ended")
                gone = [is_gone(found.drop) for found in _drops(str(file), complain)]
                if any(gone) and not dry_run:
                    _rewrite(file, gone)
                removed += sum(gone)
    return removed


def _rewrite(file: Path, gone: Sequence[bool]) -> None:
    """Write a file without some of its pages: two records each, after the first one of all."""
    from fastwarc.warc import ArchiveIterator

    data = file.read_bytes()
    records = ArchiveIterator(io.BytesIO(data), parse_http=False)
    starts = [*(record.stream_pos for record in records), len(data)]
    if len(starts) != 2 * len(gone) + 2:
        raise ValueError("damaged: no page of it can be removed. Remove the file")
    pages = (data[start:end] for start, end in pairwise(starts[1::2]))
    with whole_file(file) as whole:
        whole.write(data[: starts[1]])
        whole.writelines(page for page, is_gone in zip(pages, gone, strict=True) if not is_gone)


def _drops(path: str, complain: Complain) -> Iterator[Found]:
    """Yield the pages of a file, up to the place where it is damaged."""
    begun: tuple[Found, str | None] | None = None  # a page, and the record ID of its response
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
                    begun = Found(place, drop, b""), record.headers.get("WARC-Concurrent-To")
                elif kind == "response" and before and before[1] == record.record_id:
                    number += 1
                    yield before[0]._replace(body=body_of(record, block))
    if complaints:
        return
    if begun:
        complain(path, f"cut off: no response for {begun[0].place}")
    elif not number and kinds != {"warcinfo"}:
        complain(path, "no dropped page is in it: not written by a journal")
