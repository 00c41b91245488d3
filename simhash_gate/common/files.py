"""Makes every file and folder of ours: private, whatever the umask, and whole where that counts.

What is made here is its owner's alone (0600, folders 0700). What is there already keeps its
permissions: somebody may have given them on purpose.
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
    """Make a folder, and those above it, where they are missing. Raises OSError."""
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
            folder.chmod(_FOLDER)  # what the umask took


def new_file(path: str | os.PathLike[str]) -> int:
    """Make a file; return its descriptor, for reading and writing.

    Raises OSError, FileExistsError where there is one: what is there is not even opened, for
    closing it would take away the locks that this process holds on it.
    """
    return _make(path, os.O_RDWR | os.O_CREAT)


def open_anew(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file to write; what was in it is gone. Raises OSError.

    What is written up to a flush goes to its end, and whole: another crawl may write to it too.
    """
    return open(path, "wb", _WHOLE, opener=lambda to, how: _private(to, how | os.O_APPEND))


@contextmanager
def whole_file(path: str | os.PathLike[str], *, private: bool = True) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its name when the block has ended well.

    What is no ordinary file, a pipe for one, is written as it is. One that is not `private` is
    made as the umask says, like the output of other commands. Raises OSError.
    """
    target, part = _target_and_part(path)
    if part is None:
        with target.open("wb") as file:
            yield file
        return
    try:
        with open(part, "wb", opener=_private if private else None) as file:
            with suppress(FileNotFoundError):
                _allow_as(target.stat(), file.fileno())
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        with suppress(OSError):
            part.unlink()


def write_new(path: str | os.PathLike[str], data: bytes) -> None:
    """Make a file with its folders, as the umask says, like the output of other commands.

    Raises OSError, FileExistsError where there is one.
    """
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("xb") as new:
        new.write(data)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise OSError where `whole_file` can't open a file; what is there stays as it is."""
    target, part = _target_and_part(path)
    if part is not None:
        open_anew(part).close()
        part.unlink(missing_ok=True)
    elif target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    elif not os.access(target, os.W_OK):  # to open a pipe would wait for its reader
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def open_database(path: str | os.PathLike[str], **options: Any) -> sqlite3.Connection:
    """Open a SQLite database, made if there is none; its other files get its permissions.

    `:memory:` is one in memory. Raises OSError and sqlite3.Error.
    """
    if path != ":memory:" and not Path(path).exists():
        with suppress(FileExistsError):
            os.close(new_file(path))
    connection: sqlite3.Connection = sqlite3.connect(path, **options)
    return connection


def private_lock(
    path: str | os.PathLike[str], *, mode_of: str | os.PathLike[str] | None = None, **options: Any
) -> FileLock:
    """Return a lock whose file only its owner can open: others could hold it for ever.

    The file has the permissions of the file `mode_of`, if that is there. A lock file that
    is there keeps its own: before 4.2, filelock gives it those that it is told.
    """
    from filelock import FileLock  # it loads asyncio

    mode = _FILE
    if mode_of is not None:
        with suppress(OSError):
            mode |= Path(mode_of).stat().st_mode & 0o666
    with suppress(OSError):
        mode = Path(path).stat().st_mode & 0o666
    return FileLock(path, mode=mode, **options)


def is_locked(path: str | os.PathLike[str]) -> bool:
    """Tell whether somebody has locked a file, however many ask at once. Raises OSError."""
    try:
        import fcntl
    except ImportError:  # Windows, where who asks locks it
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
    """Open a file, made if there is none, as `open` asks for it."""
    try:
        return _make(path, flags)
    except FileExistsError:
        return os.open(path, flags, _FILE)


def _make(path: str | os.PathLike[str], flags: int) -> int:
    file = os.open(path, flags | os.O_EXCL, _FILE)
    with suppress(OSError, AttributeError):  # a file system, or a system, without permissions
        os.fchmod(file, _FILE)  # what the umask took
    return file


def _allow_as(target: os.stat_result, file: int) -> None:
    with suppress(OSError, AttributeError):
        if os.fstat(file).st_gid != target.st_gid:
            os.fchown(file, -1, target.st_gid)
        os.fchmod(file, stat.S_IMODE(target.st_mode))


def _target_and_part(path: str | os.PathLike[str]) -> tuple[Path, Path | None]:
    """Return where a path leads, and what is written first: nothing for no ordinary file."""
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        return target, None
    return target, target.with_name(f".{target.name}.{os.getpid()}-{get_ident()}.part")
