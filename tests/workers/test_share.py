"""Crawls on one machine share its cores: real processes count one another, until they end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from simhash_gate.workers import share
from simhash_gate.workers.share import cores

ROOT = Path(share.__file__).parents[2]
READER = """
import sys
from simhash_gate.workers.share import default_workers, join
if "join" in sys.argv:
    join()
print(default_workers(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def start(tmp_path):
    """Start a process that reads pages; return it and how many workers it takes."""
    started = []

    def start(*arguments: str) -> tuple[subprocess.Popen, int]:
        process = subprocess.Popen(
            [sys.executable, "-c", READER, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)},
        )
        started.append(process)
        return process, int(process.stdout.readline())

    yield start
    for process in started:
        process.kill()
        process.communicate()


def alone() -> int:
    return max(2, cores() - 1)


def one_of(number: int) -> int:
    return max(1, cores() // number)


def test_each_that_begins_takes_its_part_of_what_is_there(start, tmp_path) -> None:
    start()  # reads no pages, and is not counted
    crawls = [start("join") for _ in range(3)]
    assert [share for _, share in crawls] == [alone(), one_of(2), one_of(3)]
    (folder,) = tmp_path.iterdir()
    assert oct(folder.stat().st_mode)[-3:] == "700"
    assert len(list(folder.glob("reader-*.lock"))) == 3
    crawls[0][0].kill()
    crawls[1][0].communicate()
    crawls[0][0].wait()
    assert start("join")[1] == one_of(2)
    assert len(list(folder.glob("reader-*.lock"))) == 2  # those of the ended are gone


def test_a_folder_that_is_not_its_own_is_not_used(start, tmp_path) -> None:
    path = tmp_path / f"simhash_gate-{os.getuid()}"
    (tmp_path / "elsewhere").mkdir()
    path.symlink_to("elsewhere")
    assert start("join")[1] == start("join")[1] == alone()
    path.unlink()
    path.mkdir()
    path.chmod(0o777)
    assert start("join")[1] == start("join")[1] == alone()
    assert not list(tmp_path.rglob("*.lock"))


@pytest.mark.skipif(sys.platform != "linux", reason="cores are given to a process on Linux")
def test_the_cores_of_the_process_count_not_those_of_the_machine() -> None:
    given = os.sched_getaffinity(0)
    os.sched_setaffinity(0, [min(given)])
    try:
        assert cores() == 1
    finally:
        os.sched_setaffinity(0, given)


@pytest.mark.parametrize(
    ("limit", "left"),
    [("10000 100000", 1), ("9900000 100000", 99), ("max 100000", None)],
)
def test_a_container_has_the_cores_that_its_limit_gives(tmp_path, limit, left) -> None:
    own = tmp_path / "cgroup"
    own.write_text("0::/system.slice/crawl.service\n")
    place = tmp_path / "system.slice/crawl.service"
    place.mkdir(parents=True)
    whole = cores(tmp_path / "nowhere", own)
    assert whole == cores(tmp_path, tmp_path / "nowhere") >= 1
    (place / "cpu.max").write_text(limit + "\n")
    assert cores(tmp_path, own) == min(whole, left or whole)
