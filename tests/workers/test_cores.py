"""A process uses the cores that it is left with."""

import os
import sys

import pytest

from simhash_gate.workers import cores


@pytest.mark.skipif(sys.platform != "linux", reason="cores are given to a process on Linux")
def test_the_cores_of_the_process_count_not_those_of_the_machine() -> None:
    given = os.sched_getaffinity(0)
    os.sched_setaffinity(0, [min(given)])
    try:
        assert cores() == 1
    finally:
        os.sched_setaffinity(0, given)


@pytest.mark.parametrize(
    ("limit", "left"), [("10000 100000", 1), ("9900000 100000", 99), ("max 100000", None)]
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
