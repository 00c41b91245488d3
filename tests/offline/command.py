"""How the tests run the command, and what they do to its files."""

import json
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

COMMAND = [sys.executable, "-m", "simhash_gate.cli"]


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """Let no file grow beyond a size, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def write_lines(path: Path, lines: list[dict]) -> str:
    """Write JSON Lines; return the name of the file."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path.name
