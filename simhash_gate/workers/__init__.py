"""Processes that read pages beside a crawl, and how many there may be."""

from __future__ import annotations

import os
import sys
from math import ceil
from pathlib import Path

READER = "PAGE_READING_PROCESS"
"""The environment variable that marks a page-reading process. Such a process starts no others."""
PROCESSES = hasattr(os, "fork") and not hasattr(sys, "frozen") and READER not in os.environ
"""Whether pages can be read in processes. They need the pipes of POSIX, and a Python to start,
which a frozen application has not."""

_CGROUPS, _OWN_CGROUP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def default_workers() -> int:
    """Return the number of page-reading processes without a setting."""
    return max(2, cores() - 1) if PROCESSES else 0


def cores(cgroups: Path = _CGROUPS, own: Path = _OWN_CGROUP) -> int:
    """Return the number of processor cores that this process may use."""
    mine = os.sched_getaffinity(0) if sys.platform == "linux" else ()
    available = len(mine) or os.cpu_count() or 1
    try:  # the limit of a container or service: cgroups v2
        place = own.read_text("utf-8").partition("0::")[2].split("\n")[0].strip("/")
        allowed, period = (cgroups / place / "cpu.max").read_text("utf-8").split()
        return min(available, max(1, ceil(int(allowed) / int(period))))
    except (OSError, ValueError, ZeroDivisionError):
        return available
