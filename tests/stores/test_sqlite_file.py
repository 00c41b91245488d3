"""The file of a database: its schema, its damage, a full disk, and what stands in its place."""

import os
import random
import re
import sqlite3
from contextlib import closing, suppress
from dataclasses import replace

import pytest

from simhash_gate.stores import StoreError, StoreUnavailable
from tests.stores.kept import sqlite_store

BASE = 0x9E3779B97F4A7C15


def everything_below(folder):
    return {entry: entry.read_bytes() for entry in folder.rglob("*") if entry.is_file()}


def overwrite(start, end, content=bytes):
    def harm(path):
        kept = path.read_bytes()
        path.write_bytes(kept[:start] + content(end - start) + kept[end:])

    return harm


def run(*statements, afresh=False):
    def harm(path):
        if afresh:
            path.unlink()
        with closing(sqlite3.connect(path)) as db:
            for statement in statements:
                db.execute(statement)
            db.commit()

    return harm


HARMS = {
    "header": (overwrite(0, 7_000, content=lambda size: b"x" * size), "no SQLite database"),
    "cut": (lambda path: os.truncate(path, path.stat().st_size // 2), "damaged"),
    "middle": (overwrite(20_000, 40_000, content=random.Random(1).randbytes), "damaged"),
    "schema": (overwrite(100, 4_000), "damaged"),
    "table": (run("DROP TABLE scope"), "no such table"),
    "version": (run("PRAGMA user_version = 999"), "version 999.*update simhash-gate"),
    "another": (
        run("CREATE TABLE page (id)", "PRAGMA application_id = 7", afresh=True),
        "another program",
    ),
    "without a mark": (
        run("PRAGMA journal_mode = WAL", "CREATE TABLE notes (text)", afresh=True),
        "another program",
    ),
}


@pytest.mark.parametrize(("harm", "what"), HARMS.values(), ids=HARMS)
def test_a_damaged_or_foreign_file_is_named_and_left_as_it_is(filled, harm, what):
    harm(filled)
    before = everything_below(filled.parent)
    for _ in range(2):
        with pytest.raises(StoreError, match=f"{re.escape(str(filled))}.*{what}") as caught:
            sqlite_store(filled)
        assert not isinstance(caught.value, StoreUnavailable)
    assert everything_below(filled.parent) == before


@pytest.mark.parametrize("body", ["CAST(substr(body, 1, 64) || X'FFFFFFFFFF' AS BLOB)", "X'FF'"])
def test_a_page_of_broken_text_or_numbers_is_damage_and_others_go_in(filled, make_record, body):
    run(f"UPDATE page SET body = {body}")(filled)
    with closing(sqlite_store(filled)) as store:
        store.begin("second")
        with pytest.raises(StoreError, match=f"{re.escape(str(filled))}.*damaged"):
            store.check_and_add(make_record(0, run="second"), 3)
        assert store.check_and_add(make_record(BASE, run="second"), 3).added


def test_a_directory_and_a_path_below_a_file_are_named(tmp_path):
    with pytest.raises(StoreError, match=f"{re.escape(str(tmp_path))}.*directory"):
        sqlite_store(tmp_path)
    assert [*tmp_path.iterdir()] == []
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "store.sqlite"
    with pytest.raises(StoreError, match=f"{re.escape(str(path))}.*can be written"):
        sqlite_store(path)


def test_a_folder_or_file_that_cannot_be_written_is_named(without_root):
    filled, other = without_root / "store.sqlite", without_root / "other.sqlite"
    filled.touch()
    sqlite_store(filled).close()  # an empty file becomes a database
    for target, mode, path in ((filled, 0o444, filled), (without_root, 0o555, other)):
        before = everything_below(without_root)
        target.chmod(mode)
        try:
            with pytest.raises(StoreError, match=f"{re.escape(str(path))}.*can be written"):
                sqlite_store(path)
            assert everything_below(without_root) == before
        finally:
            target.chmod(0o755)


def fill_up(store):
    """Let the file of a store grow no more, as on a full disk."""
    pages = store.driver._cursor.execute("PRAGMA page_count").fetchone()[0]
    store.driver._cursor.execute(f"PRAGMA max_page_count = {pages}")


def make_room(store):
    store.driver._cursor.execute("PRAGMA max_page_count = 1000000")


def test_a_full_disk_loses_the_page_in_hand_only(filled, make_record):
    with closing(sqlite_store(filled)) as store:
        store.begin("second")
        kept = [*store.records()]
        fill_up(store)

        def fill():
            for number in range(1_000):
                page = make_record(~(number << 30) % 2**64, run="second", title="x" * 3_000)
                store.check_and_add(page, 0)
                kept.append(page)

        with pytest.raises(StoreUnavailable, match=f"{re.escape(str(filled))}.*full"):
            fill()
        assert [*store.records()] == kept
        make_room(store)
        page = make_record(~((len(kept) - 300) << 30) % 2**64, run="second")  # failed before
        assert store.check_and_add(page, 0).added
        assert store.check_and_add(page, 0).match == (page, 0)


def test_a_batch_in_which_a_call_fails_is_taken_back_whole(filled, make_record):
    with closing(sqlite_store(filled)) as store, closing(sqlite_store(filled)) as other:
        store.begin("second")
        before = [*other.records()]
        fill_up(store)
        small = make_record(BASE, run="second")
        big = [make_record(BASE ^ (n << 30), run="second", title="x" * 9_000) for n in range(9)]

        def add(*pages, ignored=()):
            with store.batch():
                for page in pages:
                    with suppress(*ignored):
                        store.check_and_add(page, None)

        with pytest.raises(StoreUnavailable, match="full"):
            add(small, *big)
        assert [*other.records()] == [*store.records()] == before
        with pytest.raises(StoreError, match="taken back"):
            add(small, *big, small, ignored=[StoreError])
        assert [*store.records()] == before
        make_room(store)
        other.begin("other")
        page = make_record(~BASE % 2**64, run="other")  # takes the number of what was taken back
        assert other.check_and_add(page, 3).added
        assert store.check_and_add(replace(page, run="second"), 3).match.record == page
        add(small)
        assert [*other.records()] == [*before, page, small]
