"""Corpora: their rows are pages again, and say what is known of these."""

from __future__ import annotations

import json

import pytest

from simhash_gate import read_page
from simhash_gate.sources import Known
from tests.crawls.harness import page
from tests.sources.corpora import FORMS, row, write_corpus
from tests.sources.opened import opened

URL = "https://example.com/story"
STORY = page(1).body


@pytest.mark.parametrize("form", FORMS)
def test_a_row_says_what_the_page_was(tmp_path, form: str) -> None:
    rows = [row(STORY, URL), row(page(2).body, URL + '?x="1"\'é', title='A "b" — c: d\nñ')]
    found = opened(write_corpus(tmp_path, form, *rows))
    assert found.complaints == []
    for entry, said in zip(found.entries, rows, strict=True):
        known = Known(int(said["fingerprint"], 16), said["title"], said["words"], said["pipeline"])
        assert (entry.url, entry.id, entry.known) == (said["url"], said["id"], known)
        assert entry.time is None  # the date is what the page says
        assert not entry.guessed
    original, again = read_page(STORY, url=URL), read_page(found.entries[0].body, url=URL)
    assert (again.fingerprint, again.digest) == (original.fingerprint, original.digest)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["fingerprint", "pipeline"])
def test_a_row_without_a_fingerprint_is_a_page_like_others(tmp_path, form: str, name: str) -> None:
    (entry,) = opened(write_corpus(tmp_path, form, row(STORY, URL, **{name: ""}))).entries
    assert entry.known is None
    assert read_page(entry.body).title == "Story 1"


@pytest.mark.parametrize("form", FORMS)
def test_a_row_that_is_too_large_is_skipped(tmp_path, form: str) -> None:
    found = opened(write_corpus(tmp_path, form, row(STORY, URL)), max_bytes=100)
    assert [entry.skipped for entry in found.entries] == ["too large"]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"url": 7}, "'url' is 7: expected a string"),
        ({"markdown": ["a"]}, "'markdown' is ['a']: expected a string"),
        ({"markdown": None}, "no 'html', 'path', 'markdown' or 'text'"),
    ],
)
def test_a_wrong_row_is_named_and_the_rest_is_read(tmp_path, wrong: dict, why: str) -> None:
    rows = [row(STORY, URL), row(STORY, URL) | wrong, row(STORY, URL)]
    path = write_corpus(tmp_path, "corpus.jsonl", *rows)
    found = opened(path)
    assert len(found.entries) == 2
    assert found.complaints == [(f"{path}:2", why)]


@pytest.mark.parametrize(
    ("head", "url", "title"),
    [
        (
            "---\nurl: https://example.com/a\ntitle: It's: so\n---\n",
            "https://example.com/a",
            "It's: so",
        ),
        ("---\r\ntitle: 'It''s'\r\ntags:\r\n  - a\r\n---\r\n", "", "It's"),
        ('\ufeff---\ntitle: "a \\u00e9"\nurl: 7\n...\n', "", "a é"),
        ("---\ntitle: [broken\n---\n", "", "[broken"),
        ("---\n---\n", "", ""),
        ("---\ntitle: of no end\n", "", ""),
        ("", "", ""),
    ],
)
def test_front_matter_of_others_is_read_as_far_as_it_goes(tmp_path, head, url, title) -> None:
    (tmp_path / "a.md").write_text(head + "Some words of a text.\n", "utf-8", newline="")
    (entry,) = opened(tmp_path / "a.md").entries
    read = read_page(entry.body)
    assert (entry.url, read.title) == (url, title)
    assert "Some words of a text." in read.markdown
    assert ("title" in read.markdown) == ("no end" in head)


def test_fingerprints_of_several_kinds_are_told_apart(tmp_path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"markdown": "# T", "fingerprint": "0" * 16}))
    (entry,) = opened(tmp_path / "a.jsonl").entries
    assert entry.known is None  # nobody knows its version
