"""A corpus is known by what is in it, and its rows are pages again."""

from __future__ import annotations

import json

import pytest

from simhash_gate import read_page
from simhash_gate.sources.corpus import CorpusEntry, corpus, is_corpus
from simhash_gate.sources.find import look_at
from tests.crawls.harness import page
from tests.sources.corpora import FORMS, row, write_corpus

URL = "https://example.com/story"
STORY = page(1).body


def files(path) -> list:
    (given,) = look_at([str(path)], lambda *_: None, lambda _: None, fingerprints=True)
    return [*given.files()]


def entries(path, complaints: list | None = None, max_bytes: int = 1 << 20) -> list[CorpusEntry]:
    found = complaints if complaints is not None else []
    each = (file for file in files(path) if is_corpus(file))
    read = [e for file in each for e in corpus(file, lambda *c: found.append(c), max_bytes)]
    assert complaints is not None or found == []
    return read


@pytest.mark.parametrize("form", FORMS)
def test_a_row_says_what_the_page_was(tmp_path, form: str) -> None:
    rows = [row(STORY, URL), row(page(2).body, URL + '?x="1"\'é', title='A "b" — c: d\nñ')]
    first, second = entries(write_corpus(tmp_path, form, *rows))
    for entry, expected in zip((first, second), rows, strict=True):
        assert (entry.url, entry.title) == (expected["url"], expected["title"])
        assert f"{entry.fingerprint:016x}" == expected["fingerprint"]
        assert (entry.words, entry.pipeline) == (expected["words"], expected["pipeline"])
        assert entry.time is None
    original, again = read_page(STORY, url=URL), read_page(first.body, url=URL)
    assert (again.fingerprint, again.digest) == (original.fingerprint, original.digest)
    assert len({first.place, second.place}) == 2


@pytest.mark.parametrize("form", FORMS)
def test_a_row_without_text_is_skipped(tmp_path, form: str) -> None:
    rows = [row(STORY, URL, fingerprint=""), row(STORY, URL, markdown=""), row(STORY, URL)]
    read = entries(write_corpus(tmp_path, form, *rows))
    assert [entry.skipped for entry in read] == ["no text", "no text", ""]


def test_a_row_that_is_too_large_is_skipped(tmp_path) -> None:
    path = write_corpus(tmp_path, "corpus.jsonl", row(STORY, URL))
    assert [entry.skipped for entry in entries(path, max_bytes=100)] == ["too large"]
    complaints: list = []
    assert [e.skipped for e in entries(write_corpus(tmp_path, "a", row(STORY, URL)), complaints,
                                       max_bytes=100)] == ["too large"]  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"url": 7}, "'url' is 7: expected a string"),
        ({"words": "many"}, "'words' is 'many': expected a count"),
        ({"words": -1}, "'words' is -1"),
        ({"fingerprint": "xyz"}, "xyz"),
        ({"markdown": ["a"]}, "'markdown' is ['a']"),
    ],
)
def test_a_wrong_row_is_named_and_the_rest_is_read(tmp_path, wrong: dict, why: str) -> None:
    rows = [row(STORY, URL), row(STORY, URL) | wrong, {"id": 1}, row(STORY, URL)]
    path = write_corpus(tmp_path, "corpus.jsonl", *rows)
    complaints: list = []
    assert len(entries(path, complaints)) == 2
    assert [place for place, _ in complaints] == [f"{path}:2", f"{path}:3"]
    assert why in complaints[0][1]
    assert complaints[1][1].startswith("no 'url'")


def test_a_damaged_file_is_named_and_the_rest_is_read(tmp_path) -> None:
    path = write_corpus(tmp_path, "folder", *[row(STORY, URL)] * 3)
    first, second = sorted(path.rglob("*.md"))[:2]
    first.write_bytes(first.read_bytes().replace(b"title: ", b"title: ?"))
    second.write_bytes(second.read_bytes() + b"\xff")
    complaints: list = []
    assert len(entries(path, complaints)) == 1
    assert [place for place, _ in complaints] == [str(first), str(second)]
    assert "line 4: 'title' is not JSON" in complaints[0][1]
    assert "not UTF-8" in complaints[1][1]


def test_a_parquet_file_that_is_cut_off_says_after_which_row(tmp_path) -> None:
    path = write_corpus(tmp_path, "corpus.parquet", *[row(STORY, URL)] * 3)
    content = bytearray(path.read_bytes())
    content[4:2_000] = bytes(1_996)
    path.write_bytes(content)
    complaints: list = []
    assert entries(path, complaints) == []
    ((place, said),) = complaints
    assert place == f"{path}, after row 0"
    assert "can't be read" in said


def test_other_files_are_no_corpus(tmp_path) -> None:
    (tmp_path / "a.md").write_text("# Title\n\nText.")
    (tmp_path / "b.md").write_text('---\nlayout: post\ntitle: "T"\n---\nText.')
    (tmp_path / "c.html").write_bytes(STORY)
    (tmp_path / "d.jsonl").write_text(json.dumps({"url": URL, "markdown": "# Title"}))
    (tmp_path / "e.jsonl").write_text(json.dumps({"url": URL, "fingerprint": "0" * 16}))
    (tmp_path / "f.parquet").write_bytes(b"PAR1 damaged")
    found = files(tmp_path)
    assert len(found) == 6
    assert not any(map(is_corpus, found))
