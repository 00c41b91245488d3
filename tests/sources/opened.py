"""What comes out of sources, as a command gets it."""

import gzip
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from simhash_gate.sources import Entry
from simhash_gate.sources.open import open_pages
from tests.crawls.harness import page
from tests.offline.test_replay_warc import record

MAX_BYTES = 100_000


class Opened(NamedTuple):
    entries: list[Entry]
    complaints: list[tuple[str, str]]
    said: list[str]
    total: int | None


def opened(*paths: Path | str, max_bytes: int = MAX_BYTES) -> Opened:
    """Read all pages of some sources."""
    complaints: list[tuple[str, str]] = []
    said: list[str] = []
    source = open_pages(
        [*map(str, paths)], lambda *told: complaints.append(told), max_bytes, said.append
    )
    total = source.total()
    return Opened([*source.entries], complaints, said, total)


_MEASURED = """
import sys
from pathlib import Path
from simhash_gate.sources.open import open_pages
told = []
source = open_pages(sys.argv[1:], lambda *complaint: told.append(complaint), 100_000, print)
skipped = [entry.skipped for entry in source.entries]
peak = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
print(peak, len(skipped), skipped.count("too large"), len(told))
"""


def measured(path: Path) -> tuple[int, list[int]]:
    """Read a source in a process of its own.

    Return its memory in bytes, and how many pages, too large ones and complaints there were.
    """
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, path], capture_output=True, text=True, check=True
    )
    memory, *counts = map(int, done.stdout.splitlines()[-1].split())
    return memory << 10, counts


def html(folder: Path, *names: str, head: str = "") -> None:
    """Write pages, each under its name, of its own text."""
    for seed, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(page(seed).body.replace(b"<title>", f"{head}<title>".encode(), 1))


def warc_of(*urls: str, **headers: str) -> bytes:
    """Return a packed WARC file with a page for each URL."""
    return b"".join(
        gzip.compress(record(page(seed).body, url=url, **headers), mtime=0)
        for seed, url in enumerate(urls)
    )


def write_warc(path: Path, *urls: str, **headers: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(warc_of(*urls, **headers))
    return path
