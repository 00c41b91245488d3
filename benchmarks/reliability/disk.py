"""A small disk, that is full soon."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def can_mount(folder: Path) -> bool:
    """Tell whether this process may make one."""
    with small_disk(folder / "probe", 4096) as mounted:
        return mounted


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[bool]:
    """Make a disk of so many bytes at a folder, while the block runs; yield whether it is there."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    try:
        yield mounted
    finally:
        if mounted:
            # Lazily: a process that was killed may not be gone yet.
            subprocess.run(["umount", "-l", str(folder)], check=False)


def fill(folder: Path, seconds: float) -> None:
    """Leave no room on the disk of a folder for a while."""
    ballast = folder / "ballast"
    until = time.monotonic() + seconds
    with suppress(OSError), ballast.open("ab", buffering=0) as file:
        while file.write(bytes(1 << 20)):
            pass
    time.sleep(max(0.0, until - time.monotonic()))
    ballast.unlink()
