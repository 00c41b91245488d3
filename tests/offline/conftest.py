"""The command as users run it, from a folder of theirs.

It runs in the process of the test. What only a process shows (terminals, pipes, signals, what is
left running) is tested in processes.
"""

import contextlib
import fcntl
import io
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from simhash_gate.cli import main
from simhash_gate.stores import Record, open_store
from tests.crawls.harness import ROOT, page, text
from tests.offline.command import COMMAND


@dataclass
class Result:
    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict]:
        return [json.loads(line) for line in self.out.splitlines()]

    def column(self, name: str) -> list:
        return [line[name] for line in self.lines]


Run = Callable[..., Result]

READS_PAGES = {"why", "dedupe", "fingerprint", "import", "pairs", "replay", "similar"}
INLINE = "SIMHASH_GATE_WORKERS=0"
"""Pages are read by the command itself, unless a test says otherwise: to start processes for two
or three pages takes a second."""


@pytest.fixture
def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}


@pytest.fixture
def run_with_input(tmp_path: Path, environment, monkeypatch) -> Run:
    def run(text: str | bytes, *arguments: object) -> Result:
        words = [*map(str, arguments)]
        if "SIMHASH_GATE_WORKERS" not in str(words) and not READS_PAGES.isdisjoint(words[:2]):
            words += ["-s", INLINE]
        monkeypatch.chdir(tmp_path)
        given = text.encode() if isinstance(text, str) else text
        stdin = io.BufferedReader(io.BytesIO(given))
        with CliRunner(env=environment).isolation(stdin) as (out, err, _):
            status = main(words)
            sys.stdout.flush()
            sys.stderr.flush()
            return Result(status, out.getvalue().decode(), err.getvalue().decode())

    return run


@pytest.fixture
def run(run_with_input) -> Run:
    return partial(run_with_input, "")


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a page of a seed, among other furniture for each `noise`; return its path."""

    def write(name: str, seed: int, **kwargs) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(page(seed, **kwargs).body)
        return path

    return write


@pytest.fixture
def write_named(tmp_path: Path) -> Callable[..., Path]:
    """Write a page whose whole text is that of others; return its path."""

    def write_named(file: str, name: str, price: str = "", seed: int = 0) -> Path:
        path = tmp_path / file
        price = price and f'<p class="price">{price}</p>'
        path.write_text(
            f"<!doctype html><html><head><title>{name}</title></head><body><main><article>"
            f"<h1>{name}</h1>{price}<p>{text(seed, 80)}.</p></article></main></body></html>"
        )
        return path

    return write_named


@pytest.fixture
def manifest(tmp_path: Path) -> Callable[..., Path]:
    """Write a manifest of these objects, or lines as they are; return its path."""

    def manifest(*records: dict | str | bytes, name: str = "manifest.jsonl") -> Path:
        lines = [json.dumps(r) if isinstance(r, dict) else r for r in records]
        path = tmp_path / name
        path.write_bytes(
            b"".join((x if isinstance(x, bytes) else x.encode()) + b"\n" for x in lines)
        )
        return path

    return manifest


@pytest.fixture
def pages(write, manifest) -> Path:
    """A manifest of a story, a copy of it, and another story."""
    write("a.html", 1)
    write("copy.html", 1, noise=5)
    write("b.html", 2)
    names = ("a", "copy", "b")
    return manifest(
        *({"path": f"{n}.html", "url": f"https://example.com/{n}", "id": n} for n in names)
    )


@pytest.fixture
def url(tmp_path) -> str:
    return f"sqlite:///{tmp_path}/pages.sqlite"


@pytest.fixture
def fill(url):
    """Remember these pages in a run."""

    def fill(*pages: Record, run: str = "crawl") -> None:
        with closing(open_store(url)) as store:
            store.begin(run)
            for page in pages:
                assert store.check_and_add(page, None).added
            store.end(run)

    return fill


@pytest.fixture
def start(tmp_path, environment) -> Callable[..., subprocess.Popen]:
    """Start the command in a process of its own."""

    def start(*words: object, stdout=subprocess.PIPE, **kwargs) -> subprocess.Popen:
        command = [*COMMAND, *map(str, words)]
        streams = {"stdout": stdout, "stderr": subprocess.PIPE} | kwargs
        where = {"cwd": tmp_path, "env": environment} | streams
        return subprocess.Popen(command, **where)

    return start


@pytest.fixture
def at_terminal(tmp_path, environment):
    """Run the command with these of its streams on a terminal; return what came there."""

    def at_terminal(*arguments: str, stdout: bool, stderr: bool, status: int = 0, **env: str):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        with subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=tmp_path,
            env=environment | {"TERM": "xterm"} | env,
            stdout=theirs if stdout else subprocess.DEVNULL,
            stderr=theirs if stderr else subprocess.DEVNULL,
        ) as process:
            os.close(theirs)
            seen = b""
            with contextlib.suppress(OSError):  # the terminal's end, on Linux
                while chunk := os.read(ours, 1 << 16):
                    seen += chunk
            os.close(ours)
            assert process.wait(60) == status
        return seen.decode()

    return at_terminal
