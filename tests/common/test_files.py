"""Files that are whole or not there, and lines that are added to files."""

import os
import sqlite3
import stat
import threading
from contextlib import suppress

import pytest

from simhash_gate.common.files import (
    check_writable,
    new_file,
    open_anew,
    open_database,
    private_folder,
    private_lock,
    whole_file,
)


def test_a_file_takes_its_name_when_all_of_it_is_there_and_a_failure_leaves_what_was_there(
    tmp_path,
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before")
    with suppress(KeyboardInterrupt), whole_file(path) as file:
        file.write(b"cut")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == [path]
    with whole_file(path) as file:
        file.write(b"after")
        assert path.read_bytes() == b"before"
    assert path.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_leads_where_it_led_and_a_pipe_stays_a_pipe(tmp_path) -> None:
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(tmp_path / "file")
    open_anew(link).close()  # which leads nowhere yet
    assert modes(tmp_path)["file"] == 0o600
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


def test_what_can_not_be_made_or_written_is_told_before_and_what_is_there_is_left_as_it_is(
    tmp_path,
) -> None:
    path, pipe = tmp_path / "file", tmp_path / "pipe"
    path.write_bytes(b"before")
    os.mkfifo(pipe)
    for there in (path, pipe, tmp_path / "new"):
        check_writable(there)
    assert sorted(tmp_path.iterdir()) == [path, pipe]
    assert path.read_bytes() == b"before"
    os.close(new_file(tmp_path / "new"))
    for use, no_place, error in (
        (check_writable, tmp_path, IsADirectoryError),
        (check_writable, path / "in-a-file", NotADirectoryError),
        (check_writable, tmp_path / "nowhere/file", FileNotFoundError),
        (new_file, tmp_path / "new", FileExistsError),
        (private_folder, path, NotADirectoryError),
        (private_folder, path / "folder", NotADirectoryError),
    ):
        with pytest.raises(error):
            use(no_place)


@pytest.fixture(params=[0, 0o777], ids=oct)
def umask(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


def modes(folder) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in sorted(folder.rglob("*"))}


@pytest.mark.usefixtures("umask")
def test_what_is_made_is_its_owners_alone(tmp_path) -> None:
    folder = tmp_path / "in/two"
    private_folder(folder)
    private_folder(folder)
    with whole_file(folder / "whole") as whole, open_anew(folder / "anew") as anew:
        assert set(modes(folder).values()) == {0o600}  # before anything is in them
        whole.write(b"said")
        anew.write(b"said")
    os.close(new_file(folder / "new"))
    with private_lock(folder / "lock"):
        pass
    database = open_database(folder / "database")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE page (id)")
    check_writable(folder / "nothing")
    assert modes(tmp_path) == {"in": 0o700, "two": 0o700} | dict.fromkeys(
        ("anew", "database", "database-shm", "database-wal", "lock", "new", "whole"), 0o600
    )
    database.close()


@pytest.mark.usefixtures("umask")
def test_what_is_there_keeps_its_permissions_and_gives_them_to_its_lock(tmp_path) -> None:
    names = ("anew", "database", "lock", "whole")
    for name in names:
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o664)
    tmp_path.chmod(0o755)
    private_folder(tmp_path)
    with whole_file(tmp_path / "whole") as file:
        file.write(b"said")
    open_anew(tmp_path / "anew").close()
    with private_lock(tmp_path / "lock"), private_lock(tmp_path / "new", mode_of=tmp_path / "lock"):
        pass
    with sqlite3.connect(tmp_path / "database") as database:
        open_database(tmp_path / "database").close()
    database.close()
    assert modes(tmp_path) == dict.fromkeys([*names, "new"], 0o664)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_a_table_is_made_as_the_umask_says(tmp_path) -> None:
    before = os.umask(0o027)
    with whole_file(tmp_path / "table", private=False) as file:
        file.write(b"said")
    os.umask(before)
    assert modes(tmp_path) == {"table": 0o640}
