"""A corpus as a source: its pages are what they were before they were Markdown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from simhash_gate import read_page
from simhash_gate.sources.open import open_pages
from tests.crawls.harness import page
from tests.sources.corpora import FORMS, row, write_corpus

if TYPE_CHECKING:
    from simhash_gate.sources import Entry

URL = "https://example.com/story"
STORY = page(1).body


def entries(path, *complaints: list, max_bytes: int = 1 << 20) -> list[Entry]:
    found = complaints[0] if complaints else []
    read = [*open_pages([str(path)], lambda *c: found.append(c), max_bytes, lambda _: None).entries]
    assert complaints or found == []
    return read


@pytest.mark.parametrize("form", FORMS)
def test_a_row_says_what_the_page_was_and_is_one_all_the_same_without_a_fingerprint(
    tmp_path, form: str
) -> None:
    rows = [row(STORY, URL), row(page(2).body, URL + '?x="1"\'é', title='A "b" — c: d\nñ')]
    unknown = [row(STORY, URL + bits) | {"fingerprint": bits} for bits in ("", "xyz")]
    found = entries(write_corpus(tmp_path, form, *rows, *unknown))
    for entry, expected in zip(found, [*rows, *unknown], strict=True):
        assert (entry.url, entry.id) == (expected["url"], expected["id"])
        assert (entry.of_text, entry.guessed, entry.time) == (True, False, None)
    for entry, expected in zip(found, rows, strict=False):
        assert entry.known is not None
        assert f"{entry.known.fingerprint:016x}" == expected["fingerprint"]
        assert entry.known[1:] == (expected["title"], expected["words"], expected["pipeline"])
    assert [entry.known for entry in found[2:]] == [None, None]
    original = read_page(STORY, url=URL)
    for entry in (found[0], *found[2:]):
        again = read_page(entry.body, url=URL)
        assert (again.fingerprint, again.digest) == (original.fingerprint, original.digest)
    assert len({entry.place for entry in found}) == 4
    skipped = [entry.skipped for entry in entries(tmp_path / form, max_bytes=100)]
    assert skipped == ["too large"] * 4


def test_a_wrong_row_is_named_and_the_rest_is_read(tmp_path) -> None:
    rows = [row(STORY, URL), row(STORY, URL) | {"url": 7}, {"id": 1}, row(STORY, URL)]
    path = write_corpus(tmp_path, "corpus.jsonl", *rows)
    complaints: list = []
    assert len(entries(path, complaints)) == 2
    assert [place for place, _ in complaints] == [f"{path}:2", f"{path}:3"]
    assert "'url' is 7: expected a string" in complaints[0][1]


def test_other_texts_have_nothing_known(tmp_path) -> None:
    (tmp_path / "a.md").write_text("# Title\n\nText.")
    (tmp_path / "b.md").write_text('---\nlayout: post\ntitle: "T"\n---\nText.')
    (tmp_path / "c.txt").write_text("Text.")
    (tmp_path / "d.jsonl").write_text(json.dumps({"url": URL, "markdown": "# Title"}))
    (tmp_path / "e.html").write_bytes(STORY)
    found = entries(tmp_path)
    assert [entry.known for entry in found] == [None] * 5
    assert [entry.of_text for entry in found] == [True] * 4 + [False]
