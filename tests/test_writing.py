"""Files that are whole or not there, and lines that are added to files."""

from __future__ import annotations

import os
import stat
import threading
from contextlib import suppress

import pytest

from simhash_gate.writing import check_writable, open_to_append, whole_file


def test_a_file_takes_its_name_when_all_of_it_is_there(tmp_path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before")
    with whole_file(path) as file:
        file.write(b"after")
        assert path.read_bytes() == b"before"
    assert path.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_what_was_there_and_nothing_else(tmp_path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before")
    with suppress(KeyboardInterrupt), whole_file(path) as file:
        file.write(b"after")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_leads_where_it_led_and_a_pipe_stays_a_pipe(tmp_path) -> None:
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(tmp_path / "file")
    with whole_file(link) as file:
        file.write(b"said")
    assert link.is_symlink()
    assert (tmp_path / "file").read_bytes() == b"said"

    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    with whole_file(pipe) as file:
        file.write(b"said")
    reader.join(60)
    assert read == [b"said"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_what_can_be_written_is_told_before_and_left_as_it_is(tmp_path) -> None:
    path, pipe = tmp_path / "file", tmp_path / "pipe"
    path.write_bytes(b"before")
    os.mkfifo(pipe)
    for there in (path, pipe, tmp_path / "new"):
        check_writable(there)
    assert sorted(tmp_path.iterdir()) == [path, pipe]
    assert path.read_bytes() == b"before"
    for no_place, error in (
        (tmp_path, IsADirectoryError),
        (path / "in-a-file", NotADirectoryError),
        (tmp_path / "nowhere/file", FileNotFoundError),
    ):
        with pytest.raises(error):
            check_writable(no_place)


def test_a_line_that_was_cut_off_is_ended_before_others_are_added(tmp_path) -> None:
    path = tmp_path / "lines"
    for before, after in ((None, b"new\n"), (b"old\n", b"old\nnew\n"), (b"ol", b"ol\nnew\n")):
        if before is not None:
            path.write_bytes(before)
        with open_to_append(path) as file:
            file.write(b"new\n")
        assert path.read_bytes() == after
