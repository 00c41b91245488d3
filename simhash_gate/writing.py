"""Files that are written whole or not at all, and files that lines are added to."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its name when the block has ended well.

    What is no ordinary file, a pipe for one, is written as it is. Raises OSError.
    """
    target, part = _target_and_part(path)
    if part is None:
        with target.open("wb") as file:
            yield file
        return
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        with suppress(OSError):
            part.unlink()


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise OSError where `whole_file` can't open a file; what is there stays as it is."""
    target, part = _target_and_part(path)
    if part is not None:
        part.touch()
        part.unlink()
    elif target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    elif not os.access(target, os.W_OK):  # to open a pipe would wait for its reader
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def open_to_append(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file to add lines; one that a full disk once cut off is ended. Raises OSError."""
    file = Path(path).open("a+b")  # noqa: SIM115 - whoever asked for it closes it
    try:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
    except BaseException:
        file.close()
        raise
    return file


def _target_and_part(path: str | os.PathLike[str]) -> tuple[Path, Path | None]:
    """Return where a path leads, and what is written first: nothing for no ordinary file."""
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        return target, None
    return target, target.with_name(f".{target.name}.{os.getpid()}.part")
