"""How many processor cores a process may use, and how many page-reading processes that makes."""

from __future__ import annotations

import os
import sys
from math import ceil
from pathlib import Path

READER = "PAGE_READING_PROCESS"
"""The environment variable of such a process. It starts no others, whatever program it is."""
PROCESSES = hasattr(os, "fork") and not hasattr(sys, "frozen") and READER not in os.environ
"""Whether pages can be read in processes: their pipes are those of POSIX, and a frozen application
has no Python to start."""

_CGROUPS, _OWN_CGROUP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def default_workers() -> int:
    """Return how many page-reading processes run unless a setting says otherwise."""
    return max(2, cores() - 1) if PROCESSES else 0


def cores(cgroups: Path = _CGROUPS, own: Path = _OWN_CGROUP) -> int:
    """Return how many processor cores this process may use: all, or those that it is left with."""
    if sys.platform == "linux":
        available = len(os.sched_getaffinity(0))
    else:
        available = os.cpu_count() or 1
    return min(available, _quota(cgroups, own) or available)


def _quota(cgroups: Path, own: Path) -> int | None:
    """Return how many cores' time a container or service has (cgroups v2); None for no limit."""
    try:
        place = own.read_text("utf-8").partition("0::")[2].split("\n")[0].strip("/")
        allowed, period = (cgroups / place / "cpu.max").read_text("utf-8").split()
        return max(1, ceil(int(allowed) / int(period)))
    except (OSError, ValueError, ZeroDivisionError):
        return None
