"""The files of a journal: bounded together, whole records only, nobody else's touched."""

import pytest

from simhash_gate.journal.segments import SEGMENTS, Segments, drops, segments
from tests.journal.pages import packed

BOUND = 1 << 20


def numbers(folder) -> list[int]:
    return [int(found.drop.url.rpartition("/")[2]) for found in drops(str(folder), pytest.fail)]


def size(folder) -> int:
    return sum(path.stat().st_size for path in segments(folder))


def test_the_oldest_pages_go_when_the_bound_is_reached_and_files_of_others_stay(tmp_path) -> None:
    others = [tmp_path / "archive.warc.gz", tmp_path / "dropped.warc.gz"]
    for path in others:
        path.write_bytes(b"x" * BOUND)
    journal = Segments(tmp_path, BOUND)
    for number in range(80):
        journal.append(packed(number, size=30_000))
        assert size(tmp_path) <= BOUND
    journal.close()
    kept = numbers(tmp_path)
    assert kept == list(range(80 - len(kept), 80))
    assert size(tmp_path) > BOUND * (SEGMENTS - 2) / SEGMENTS
    assert all(path.stat().st_size == BOUND for path in others)


def test_crawls_that_write_together_keep_the_bound_and_each_others_open_files(tmp_path) -> None:
    slow, fast = Segments(tmp_path, BOUND), Segments(tmp_path, BOUND)
    slow.append(packed(1000, size=30_000))
    for number in range(80):
        fast.append(packed(number, size=30_000))
        assert size(tmp_path) <= BOUND
    slow.append(packed(1001, size=30_000))
    slow.close()
    fast.close()
    assert {1000, 1001, 79} <= set(numbers(tmp_path))


def test_a_page_that_is_larger_than_a_file_and_more_crawls_than_there_is_room_for_are_refused(
    tmp_path,
) -> None:
    crawls = [Segments(tmp_path, BOUND) for _ in range(SEGMENTS + 1)]
    with pytest.raises(OSError, match="too large"):
        crawls[0].append(packed(size=BOUND // SEGMENTS))
    for number, journal in enumerate(crawls[:-1]):
        journal.append(packed(number))
    with pytest.raises(OSError, match="other crawls"):
        crawls[-1].append(packed())
    for journal in crawls:
        journal.close()
    crawls[-1].append(packed(SEGMENTS))
    assert numbers(tmp_path) == [*range(SEGMENTS), SEGMENTS]
