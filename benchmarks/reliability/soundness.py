"""What must hold whatever happens: files stay, no traceback is ours, the store is in order."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from benchmarks.reliability.crawls import Running
from benchmarks.reliability.stores import Memory

_RECORD = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[([^\]]+)\] ", re.MULTILINE)
_FRAME = re.compile(r'^\s+File "([^"]+)", line', re.MULTILINE)


def deleted_files(pid: int, store: Path | None) -> list[str]:
    """Return the files of a store that a process has open and that are no longer there."""
    found = []
    if store is not None:
        with suppress(OSError):
            for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - they come and go
                with suppress(OSError):
                    target = os.readlink(f"/proc/{pid}/fd/{name}")  # noqa: PTH115
                    gone = target.endswith(" (deleted)") and ".lock" not in target
                    if gone and target.startswith(f"{store}-"):
                        found.append(target)
    return found


def tracebacks(log: str) -> list[str]:
    """Return the log entries with a traceback of ours: logged by us, or raised in our code."""
    starts = [match.start() for match in _RECORD.finditer(log)]
    found = [] if starts else [log] * ("Traceback" in log)
    for start, end in zip(starts, [*starts[1:], len(log)], strict=True):
        entry = log[start:end]
        if "Traceback (most recent call last)" not in entry:
            continue
        logger = _RECORD.match(entry)
        ours = logger is not None and logger[1].startswith("simhash_gate")
        frames = _FRAME.findall(entry)
        if ours or (frames and "/simhash_gate/" in frames[-1]):
            found.append(entry.strip())
    return found


def wrong_with(crawl: Running) -> list[str]:
    """Return what is wrong with a crawl that has ended."""
    found = [f"a traceback: {entry}" for entry in tracebacks(crawl.log())]
    if left := crawl.leftovers():
        found.append(f"processes that outlived it: {left}")
    if crawl.hung:
        found.append(f"it hung; the end of its log: {crawl.log()[-3000:]}")
    elif crawl.status and not crawl.ended_by:
        found.append(f"exit status {crawl.status}: {crawl.log()[-3000:]}")
    return [f"{crawl.name}: {what}" for what in found]


def wrong_with_store(memory: Memory) -> list[str]:
    """Return what is wrong with the store when nobody uses it."""
    try:
        return [f"the store: {what}" for what in memory.faults()]
    except Exception as error:  # whatever it is: the store can't be read
        return [f"the store: {type(error).__name__}: {error}"]
