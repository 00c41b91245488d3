"""Histories, notes and texts of a store: counted, moved to another, removed with their pages."""

from __future__ import annotations

import json
import time
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

import pytest

from simhash_gate.history.texts import pack
from simhash_gate.history.versions import History, Version
from simhash_gate.stores import PageHistory, open_store
from tests.offline.kept_pages import record

DAY = 86_400
NOTES = {
    "redesign": {"a.example": 1.0, "example.com": 2.0},
    "validators": {"news.example.com": {"etag": {"until": 3.0}}},
}
PLENTY = 1 << 40


class Past(NamedTuple):
    """What a store knows besides pages: by URLs, digests and scopes."""

    histories: list[str]
    texts: list[int]
    notes: dict[str, dict]


def past(url: str) -> Past:
    with closing(open_store(url)) as store:
        return Past(
            sorted(history.url for history in store.histories()),
            sorted(text.digest & 0xFFFF for text in store.texts()),
            {scope: json.loads(notes) for scope, notes in sorted(store.all_site_notes())},
        )


def visited(number: int, seen: float) -> PageHistory:
    """Two versions of a page: the second is that of its record."""
    page, history = record(number), History()
    for digest in (1_000 + number, page.digest):
        version = Version(seen, seen, 7, digest, 100, "Title", "crawl", "v1")
        history = history.visited(version, again=None, most=10)
    return PageHistory(page.scope, page.request, page.url, "crawl", seen, history.encode())


def text(number: int) -> bytes:
    return pack(url=f"https://example.com/{number}", title="", markdown=f"Said {number}", time=1.0)


@pytest.fixture
def fill_past():
    """Fill a store with four pages, of which the first two were last seen long ago."""

    def fill(url: str) -> None:
        now = time.time()
        with closing(open_store(url)) as store:
            store.begin("crawl")
            for number in range(4):
                seen = now - (40 if number < 2 else 1) * DAY
                page = record(number, last_seen=seen)
                assert store.check_and_add(page, None).added
                store.keep_history(visited(number, seen))
                for digest in (page.digest, 1_000 + number):
                    store.keep_text(page.scope, digest, text(digest & 0xFFFF), seen, PLENTY)
            store.keep_text("a.example", 5_000, text(5_000), now, PLENTY)  # of no page
            for scope in ("a.example", "*"):
                store.keep_site_notes(scope, json.dumps(NOTES).encode())
            store.end("crawl")

    return fill


@pytest.fixture
def filled(fill_past, url) -> str:
    fill_past(url)
    return url


def pages(*numbers: int) -> list[str]:
    return [f"https://example.com/{number}" for number in numbers]


def texts(*numbers: int) -> list[int]:
    return [*numbers, *(1_000 + number for number in numbers)]


def test_info_counts_histories_texts_and_kinds_of_notes(run, filled) -> None:
    lines = {line["scope"]: line for line in run("store", "info", filled).lines}
    size = len(text(0)) + len(text(2)) + len(text(1_000)) + len(text(1_002)) + len(text(5_000))
    assert [lines["a.example"][name] for name in ("histories", "texts", "text_bytes")] == [
        2,
        5,
        size,
    ]
    assert lines["b.example"]["histories"] == 2
    assert lines["b.example"]["notes"] == []
    assert lines["a.example"]["notes"] == lines["*"]["notes"] == ["redesign", "validators"]
    assert (lines["*"]["pages"], lines["*"]["histories"]) == (0, 0)


FORGOTTEN = [
    (("forget", "--scope", "a.example"), (1, 3), ["*"]),
    (("forget", "--page", "https://me:secret@example.com/1"), (0, 2, 3), ["*", "a.example"]),
    (("forget", "--age", "10d"), (2, 3), ["*", "a.example"]),
    (("forget", "--age", "10d", "--scope", "b.example"), (0, 2, 3), ["*", "a.example"]),
    (("forget", "--domain", "other.example"), (0, 1, 2, 3), ["*", "a.example"]),
    (("forget", "--domain", "a.example"), (0, 1, 2, 3), ["*"]),
    (("prune",), (0, 1, 2, 3), ["*", "a.example"]),
    (("prune", "--age", "10d"), (2, 3), ["*", "a.example"]),
    (("prune", "--pages", "1"), (2, 3), ["*", "a.example"]),
    (("prune", "--pages", "0"), (), []),
]


@pytest.mark.parametrize(("command", "left", "noted"), FORGOTTEN)
def test_what_is_known_of_pages_and_sites_goes_with_them(run, filled, command, left, noted) -> None:
    result = run("store", command[0], filled, *command[1:])
    assert result.status == 0
    found = past(filled)
    assert found.histories == pages(*left)
    assert found.texts == texts(*left)
    assert sorted(found.notes) == noted
    assert f"texts removed: {9 - 2 * len(left)}\n" in result.err


def test_what_is_removed_is_told(run, filled) -> None:
    assert run("store", "forget", filled, "--scope", "a.example").err == (
        "pages removed: 2\nhistories removed: 2\ntexts removed: 5\n"
        "notes were removed of 1 scope\n"
    )  # fmt: skip


def test_of_a_domain_in_a_scope_of_several_its_own_notes_go(run, filled) -> None:
    assert run("store", "forget", filled, "--domain", "example.com").status == 0
    found = past(filled)
    assert found.histories == []
    assert found.texts == []
    assert found.notes == {scope: {"redesign": {"a.example": 1.0}} for scope in ("*", "a.example")}


def test_histories_without_pages_are_removed_too(run, filled) -> None:
    with closing(open_store(filled)) as store:
        for page in [*store.records()]:
            store.forget(page)
    assert run("store", "forget", filled, "--page", pages(1)[0]).status == 0
    assert past(filled).histories == pages(0, 2, 3)
    assert run("store", "forget", filled, "--domain", "example.com").status == 0
    assert past(filled)[:2] == ([], [])


@pytest.mark.parametrize(
    ("options", "numbers", "noted"),
    [
        ((), (0, 1, 2, 3), ["*", "a.example"]),
        (("--scope", "a.example"), (0, 2), ["a.example"]),
        (("--page", "https://example.com/3"), (3,), []),
        (("--age", "10d"), (0, 1), []),
    ],
)
def test_an_export_has_what_is_known_of_its_pages(run, filled, options, numbers, noted) -> None:
    lines = run("store", "export", filled, *options).lines
    histories = {line["url"]: line for line in lines if "page_history" in line}
    assert sorted(histories) == pages(*numbers)
    digests = sorted(int(line["digest"], 16) & 0xFFFF for line in lines if "kept_text" in line)
    assert digests == texts(*numbers) + ([] if options else [5_000])
    assert [line["scope"] for line in lines if "site_notes" in line] == noted
    assert all(line["site_notes"] == NOTES for line in lines if "site_notes" in line)
    assert {line["run"] for line in histories.values()} == {"crawl"}


def test_what_is_exported_is_the_same_in_another_store(
    run, run_with_input, filled, lasting_url
) -> None:
    result = run_with_input(run("store", "export", filled).out, "store", "import", lasting_url)
    assert (result.status, result.err) == (
        0,
        "pages added: 4, copies: 0, skipped: 0\nhistories added: 4\ntexts added: 9\n"
        "notes were added of 2 scopes\n",
    )
    with closing(open_store(filled)) as store, closing(open_store(lasting_url)) as other:
        for history in store.histories():
            there = other.history(history.scope, history.request, "new")
            assert there == history.history
        for kept in store.texts():
            assert other.text(kept.scope, kept.digest) == store.text(kept.scope, kept.digest)
        assert sorted(store.texts()) == sorted(other.texts())
        assert past(filled) == past(lasting_url)


def test_an_import_changes_nothing_that_is_newer(
    run, run_with_input, filled, url, fill_past
) -> None:
    there = f"{url}2"
    fill_past(there)
    with closing(open_store(there)) as store:
        store.begin("later")
        newer = replace(visited(0, time.time()), run="later")
        store.keep_history(newer)
        store.end("later")
        store.keep_site_notes("*", json.dumps({"redesign": {"c.example": 9.0}}).encode())
    exported = run("store", "export", filled).out
    assert run_with_input(exported, "store", "import", there).status == 0
    assert past(there).notes["*"] == {
        "redesign": {"c.example": 9.0, **NOTES["redesign"]},
        "validators": NOTES["validators"],
    }
    with closing(open_store(there)) as store:
        (found,) = [history for history in store.histories() if history.url == pages(0)[0]]
    assert found == newer


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({"page_history": "AAAA"}, "no history of a page"),
        ({"page_history": "?"}, "'page_history' is '?'"),
        ({"seen": "now"}, "'seen' is 'now'"),
        ({"kept_text": "AAAA", "digest": "0" * 16, "at": 1.0}, "no text of a page"),
        ({"site_notes": [1]}, "'site_notes' is [1]: expected an object"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_the_rest_added(
    run, filled, url, line, why, tmp_path
) -> None:
    lines = run("store", "export", filled, "--page", pages(1)[0]).lines
    good = next(line for line in lines if "page_history" in line)
    bad = {"scope": "a.example", **line}
    bad = good | line if "seen" in line or "page_history" in line else bad
    (tmp_path / "in.jsonl").write_text(f"{json.dumps(good)}\n{json.dumps(bad)}\n")
    result = run("store", "import", f"{url}2", "in.jsonl")
    assert result.status == 1
    assert f"in.jsonl:2: {why}" in result.err
    assert "histories added: 1\n" in result.err
    assert past(f"{url}2") == Past(pages(1), [], {})
