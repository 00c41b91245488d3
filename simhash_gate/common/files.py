"""Makes all files and folders of this package: private despite the umask, and whole if needed.

New files belong to their owner alone (0600, folders 0700). Existing files keep their permissions:
somebody may have set them on purpose.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from filelock import FileLock

_FILE, _FOLDER = 0o600, 0o700
_WHOLE = 1 << 20  # bytes that are written at once


def private_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder, and those above it, if they are missing. Raises OSError."""
    folder = Path(path)
    if folder.is_dir():
        return
    private_folder(folder.parent)
    try:
        folder.mkdir(_FOLDER)
    except FileExistsError:
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)) from None
    else:
        with suppress(OSError):  # a file system without permissions
            folder.chmod(_FOLDER)  # adds the permissions that the umask removed


def new_file(path: str | os.PathLike[str], flags: int = os.O_RDWR | os.O_CREAT) -> int:
    """Make a file. Return its descriptor, for reading and writing unless `flags` say otherwise.

    Raises OSError, and FileExistsError if the file exists. An existing file is not even opened:
    closing it would free the locks that this process holds on it.
    """
    file = os.open(path, flags | os.O_EXCL, _FILE)
    with suppress(OSError, AttributeError):  # a file system, or a system, without permissions
        os.fchmod(file, _FILE)  # adds the permissions that the umask removed
    return file


def open_anew(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file to write, and empty it. Raises OSError.

    All writes up to a flush go to its end in one piece: another crawl may write, too.
    """
    return open(path, "wb", _WHOLE, opener=lambda to, how: _private(to, how | os.O_APPEND))


@contextmanager
def whole_file(path: str | os.PathLike[str], *, private: bool = True) -> Iterator[BinaryIO]:
    """Open a file for writing. It takes its name when the block has ended well.

    A pipe, or anything else that is no ordinary file, is written directly. If it is not `private`,
    a new file has the permissions of the umask, like the output of other commands. Raises OSError.
    """
    target, part = _target_and_part(path)
    if part is None:
        with target.open("wb") as file:
            yield file
        return
    try:
        with open(part, "wb", opener=_private if private else None) as file:
            with suppress(OSError, AttributeError):  # a new file, or a system without permissions
                before, new = target.stat(), file.fileno()
                if os.fstat(new).st_gid != before.st_gid:
                    os.fchown(new, -1, before.st_gid)
                os.fchmod(new, stat.S_IMODE(before.st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        with suppress(OSError):
            part.unlink()


def write_new(path: str | os.PathLike[str], data: bytes) -> None:
    """Make a file and its folders, by the umask. Raises OSError, FileExistsError if it exists."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("xb") as new:
        new.write(data)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise OSError if `whole_file` can't open a file. An existing file stays as it is."""
    target, part = _target_and_part(path)
    if part is not None:
        open_anew(part).close()
        part.unlink(missing_ok=True)
    elif target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    elif not os.access(target, os.W_OK):  # opening a pipe would wait for its reader
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def open_database(path: str | os.PathLike[str], **options: Any) -> sqlite3.Connection:
    """Open a SQLite database, made if needed. The other files of SQLite get its permissions.

    `:memory:` is a database in memory. Raises OSError and sqlite3.Error.
    """
    if path != ":memory:" and not Path(path).exists():
        with suppress(FileExistsError):
            os.close(new_file(path))
    connection: sqlite3.Connection = sqlite3.connect(path, **options)
    return connection


def private_lock(
    path: str | os.PathLike[str], *, mode_of: str | os.PathLike[str] | None = None, **options: Any
) -> FileLock:
    """Return a lock whose file only its owner can open. Other users could hold it for ever.

    The file gets the permissions of the file `mode_of`, if that exists. An existing lock file keeps
    its own: filelock before 4.2 would set them to the argument `mode`.
    """
    from filelock import FileLock  # loads asyncio

    mode = _FILE
    if mode_of is not None:
        with suppress(OSError):
            mode |= Path(mode_of).stat().st_mode & 0o666
    with suppress(OSError):
        mode = Path(path).stat().st_mode & 0o666
    return FileLock(path, mode=mode, **options)


def is_locked(path: str | os.PathLike[str]) -> bool:
    """Tell whether a process has locked a file. Several may ask at once. Raises OSError."""
    try:
        import fcntl
    except ImportError:  # on Windows, asking takes the lock for a moment
        from filelock import Timeout

        with suppress(Timeout), private_lock(path).acquire(blocking=False):
            return False
        return True
    with suppress(FileNotFoundError), Path(path).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _private(path: str, flags: int) -> int:
    """Open a file with these flags, and make it if needed: an opener for `open`."""
    try:
        return new_file(path, flags)
    except FileExistsError:
        return os.open(path, flags, _FILE)


def _target_and_part(path: str | os.PathLike[str]) -> tuple[Path, Path | None]:
    """Return the file that a path leads to, and the file to write first, None if it is a pipe."""
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        return target, None
    return target, target.with_name(f".{target.name}.{os.getpid()}-{get_ident()}.part")
