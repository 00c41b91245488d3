"""The file of a database: its schema, its damage, a full disk, and what stands in its place."""

from __future__ import annotations

import random
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from importlib.resources import files

import pytest

from simhash_gate.stores import PageHistory, StoreError, StoreUnavailable, Window
from simhash_gate.stores.sqlite import SQLiteStore
from simhash_gate.stores.sqlite.file import APPLICATION_ID
from tests.stores.crawler_process import fingerprint_of

BASE = 0x9E3779B97F4A7C15


def everything_below(folder):
    return {entry: entry.read_bytes() for entry in folder.rglob("*") if entry.is_file()}


def damage_header(path):
    path.write_bytes(b"garbage" * 1_000)


def damage_by_cutting(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def damage_in_the_middle(path):
    content = bytearray(path.read_bytes())
    content[20_000:40_000] = random.Random(1).randbytes(20_000)
    path.write_bytes(content)


def damage_the_schema(path):
    content = bytearray(path.read_bytes())
    content[100:4_000] = bytes(3_900)
    path.write_bytes(content)


def lose_a_table(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TABLE scope")


def be_of_a_newer_version(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 999")


def be_of_another_program(path):
    path.unlink()
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE record (id, scope, run)")
        db.execute("PRAGMA application_id = 7")


def be_of_a_program_that_leaves_no_mark(path):
    path.unlink()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE notes (text)")


@pytest.mark.parametrize(
    ("harm", "what"),
    [
        (damage_header, "no SQLite database"),
        (damage_by_cutting, "damaged"),
        (damage_in_the_middle, "damaged"),
        (damage_the_schema, "damaged"),
        (lose_a_table, "no such table"),
        (be_of_a_newer_version, "version 999.*update simhash-gate"),
        (be_of_another_program, "another program"),
        (be_of_a_program_that_leaves_no_mark, "another program"),
    ],
)
def test_a_damaged_or_foreign_file_is_named_and_left_as_it_is(filled, harm, what):
    harm(filled)
    before = everything_below(filled.parent)
    for _ in range(2):
        with pytest.raises(StoreError, match=f"{re.escape(str(filled))}.*{what}") as caught:
            SQLiteStore(filled)
        assert not isinstance(caught.value, StoreUnavailable)
    assert everything_below(filled.parent) == before


def test_text_that_is_none_is_damage_too(filled, make_record):
    with closing(sqlite3.connect(filled)) as db:
        db.execute("UPDATE record SET title = CAST(X'FF' AS TEXT)")
        db.commit()
    with closing(SQLiteStore(filled)) as store:
        store.begin("second")
        with pytest.raises(StoreError, match=f"{re.escape(str(filled))}.*damaged"):
            store.check_and_add(make_record(0, run="second"), 3)
        with pytest.raises(StoreError, match=f"{re.escape(str(filled))}.*damaged"):
            next(store.records())
        assert store.check_and_add(make_record(BASE, run="second"), 3).added


def test_a_page_whose_run_is_gone_is_damage_too(filled, make_record):
    with closing(sqlite3.connect(filled)) as db:
        db.execute("UPDATE run SET id = id + 7")
        db.commit()
    with closing(SQLiteStore(filled)) as store:
        store.begin("second")
        with pytest.raises(StoreError, match=f"{re.escape(str(filled))}.*damaged"):
            store.check_and_add(make_record(0, run="second"), 3)
        assert store.check_and_add(make_record(BASE, run="second"), 3).added


def test_a_directory_is_named(tmp_path):
    with pytest.raises(StoreError, match=f"{re.escape(str(tmp_path))}.*directory"):
        SQLiteStore(tmp_path)
    assert [*tmp_path.iterdir()] == []


def test_a_path_below_a_file_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    path = tmp_path / "file" / "store.sqlite"
    with pytest.raises(StoreError, match=f"{re.escape(str(path))}.*can be written"):
        SQLiteStore(path)


def test_a_folder_or_file_that_cannot_be_written_is_named(without_root, make_record):
    filled = without_root / "store.sqlite"
    with closing(SQLiteStore(filled)) as store:
        store.begin("run")
        store.check_and_add(make_record(1), 0)
        store.end("run")
    other = without_root / "other.sqlite"
    for target, mode, path in ((filled, 0o444, filled), (without_root, 0o555, other)):
        before = everything_below(without_root)
        target.chmod(mode)
        try:
            with pytest.raises(StoreError, match=f"{re.escape(str(path))}.*can be written"):
                SQLiteStore(path)
            assert everything_below(filled.parent) == before
        finally:
            target.chmod(0o755)


def test_an_empty_file_becomes_a_database(path, make_record):
    path.touch()
    with closing(SQLiteStore(path)) as store:
        store.begin("run")
        assert store.check_and_add(make_record(1), 3).added


def test_the_file_says_whose_it_is_and_which_schema(filled):
    with closing(sqlite3.connect(filled)) as db:
        assert db.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert db.execute("PRAGMA user_version").fetchone() == (6,)
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_file_of_the_first_schema_is_brought_to_this_one_with_its_pages(path, make_record):
    script = files("simhash_gate.stores.sqlite").joinpath("schema_001.sql").read_text("utf-8")
    with closing(sqlite3.connect(path)) as db:
        db.executescript(script)
        db.execute("INSERT INTO run (name, live) VALUES ('old', 0)")
        db.execute("INSERT INTO scope (name) VALUES ('example.com')")
        db.execute(
            "INSERT INTO record (scope, run, url, request, fingerprint, digest, words, title, "
            "pipeline, first_seen, last_seen, sketch) "
            "VALUES (1, 1, 'u', 'r', -1, -2, 9, 't', 'v1', 1.0, 2.0, x'')"
        )
        db.execute("PRAGMA user_version = 1")
        db.commit()
    with closing(SQLiteStore(path)) as store:
        store.begin("run")
        (old,) = store.records()
        assert old == make_record(
            2**64 - 1, url="u", request="r", digest=2**64 - 2, words=9, title="t", run="old",
            first_seen=1.0, last_seen=2.0, settled=True,
        )  # fmt: skip
        assert store.check_and_add(make_record(2**64 - 4), 3).match.record.identity == old.identity


def test_a_file_of_the_second_schema_keeps_its_pages_its_window_and_its_numbers(path, make_record):
    folder = files("simhash_gate.stores.sqlite")
    add = (
        "INSERT INTO record (scope, run, url, request, fingerprint, digest, words, title, "
        "pipeline, first_seen, last_seen, sketch, settled) "
        "VALUES (1, 1, ?, 'r', ?, 1, 9, 't', 'v1', 1.0, 2.0, x'', 1)"
    )
    with closing(sqlite3.connect(path)) as db:
        for name in ("schema_001.sql", "schema_002.sql"):
            db.executescript(folder.joinpath(name).read_text("utf-8"))
        db.execute("INSERT INTO run (name, live) VALUES ('old', 0)")
        db.execute("INSERT INTO scope (name) VALUES ('example.com')")
        db.executemany(add, [(f"u{number}", number << 40) for number in range(5)])
        db.execute("DELETE FROM record WHERE id = 5")
        db.execute("PRAGMA user_version = 2")
        db.commit()
    with closing(SQLiteStore(path)) as store:
        store.begin("run")
        assert [page.url for page in store.records()] == ["u0", "u1", "u2", "u3"]
        page = make_record(77 << 20)
        assert store.check_and_add(page, 3, window=Window(pages=3)).added
        assert [page.url for page in store.records()] == ["u2", "u3", page.url]
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT max(id) FROM record").fetchone() == (6,)


def test_a_file_of_the_fifth_schema_keeps_its_pages_and_takes_histories(path, make_record):
    folder = files("simhash_gate.stores.sqlite")
    with closing(sqlite3.connect(path)) as db:
        for number in range(1, 6):
            db.executescript(folder.joinpath(f"schema_00{number}.sql").read_text("utf-8"))
        db.execute("INSERT INTO run (name, live) VALUES ('old', 0)")
        db.execute("INSERT INTO scope (name) VALUES ('example.com')")
        db.execute(
            "INSERT INTO record (id, scope, run, url, request, fingerprint, digest, words, title, "
            "pipeline, first_seen, last_seen, sketch) "
            "VALUES (1, 1, 1, 'u', 'r', 7, 7, 9, 't', 'v1', 1.0, 2.0, x'')"
        )
        db.execute("INSERT INTO url_rules VALUES ('example.com', x'78')")
        db.execute("PRAGMA user_version = 5")
        db.commit()
    with closing(SQLiteStore(path)) as store:
        assert [page.url for page in store.records()] == ["u"]
        assert store.url_rules("example.com") == b"x"
        store.begin("run")
        history = PageHistory("example.com", "r", "u", "run", 3.0, b"said")
        store.keep_history(history)
        store.keep_text("example.com", 7, b"text", 3.0, 100)
        store.end("run")
        assert [*store.histories()] == [history]
        assert store.texts_size() == 4


def test_nothing_but_the_database_stays_after_a_crawl(filled):
    assert [*filled.parent.iterdir()] == [filled]


def test_a_full_disk_loses_the_page_in_hand_only(filled, make_record):
    with closing(SQLiteStore(filled)) as store:
        store.begin("second")
        kept = [*store.records()]
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count = {pages}")

        def fill():
            for number in range(1_000):
                page = make_record(~(number << 30) % 2**64, run="second", title="x" * 3_000)
                store.check_and_add(page, 0)
                kept.append(page)

        with pytest.raises(StoreUnavailable, match=f"{re.escape(str(filled))}.*full"):
            fill()
        assert [*store.records()] == kept
        store._db.execute("PRAGMA max_page_count = 1000000")
        for number in range(len(kept) - 300, 1_000):  # the page that failed first
            page = make_record(~(number << 30) % 2**64, run="second")
            assert store.check_and_add(page, 0).added
            assert store.check_and_add(page, 0).match == (page, 0)


def test_a_fingerprint_keeps_all_its_bits(path, make_record):
    pages = [make_record(fingerprint_of(group), digest=2**64 - 1 - group) for group in range(50)]
    with closing(SQLiteStore(path)) as store:
        store.begin("run")
        for page in pages:
            store.check_and_add(page, 0)
        store.end("run")
    with closing(SQLiteStore(path)) as store:
        assert [*store.records()] == [replace(page, settled=True) for page in pages]


def test_what_was_forgotten_and_swept_is_in_no_file(path, make_record):
    """Nor in what SQLite leaves free: pages, and the names of their scope and run."""
    words = (
        "secret-page", "secret-title", "secret.example", "secret-run", "secret-sentence",
        "secret-history", "secret-text", "secret-note",
    )  # fmt: skip
    with closing(SQLiteStore(path)) as store:
        store.begin(words[3])
        pages = [
            make_record(n << 20, url=words[0], title=words[1] * n, scope=words[2], run=words[3])
            for n in range(300)
        ]
        for page in pages:
            store.check_and_add(page, 0)
            store.keep_history(
                PageHistory(page.scope, page.request, page.url, page.run, 1.0, words[5].encode())
            )
            store.keep_text(page.scope, page.digest, words[6].encode(), 1.0, 10**6)
        store.keep_site_memory(words[2], words[4].encode() * 1_000)
        store.keep_site_notes(words[2], words[7].encode() * 1_000)
        store.end(words[3])
    content = path.read_bytes()
    assert all(word.encode() in content for word in words)
    with closing(SQLiteStore(path)) as store:
        for page in pages:
            assert store.forget(page)
            store.forget_history(page.scope, page.request)
            store.forget_text(page.scope, page.digest)
        store.keep_site_notes(words[2], b"")
        store.sweep()
    for content in everything_below(path.parent).values():
        assert not any(word.encode() in content for word in words)


def test_a_sweep_while_a_run_lives_leaves_the_numbers_of_scopes(path, make_record):
    with closing(SQLiteStore(path)) as store, closing(SQLiteStore(path)) as other:
        store.begin("run")
        page = make_record(BASE)
        store.check_and_add(page, 3)
        store.keep_site_memory(page.scope, b"a")
        store.forget(page)
        other.sweep()
        assert [*other.site_memories()] == []
        assert store.check_and_add(page, 3).added
        assert [*other.records()] == [page]
