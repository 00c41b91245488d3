"""A small disk, that is full soon."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
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
