"""A corpus as a source: its pages are what they were before they were Markdown."""

import json

import pytest

from simhash_gate import read_page
from tests.crawls.harness import page
from tests.sources.corpora import FORMS, row, write_corpus
from tests.sources.opened import opened

URL = "https://example.com/story"
STORY = page(1).body


@pytest.mark.parametrize("form", FORMS)
def test_a_row_says_what_the_page_was_and_is_one_all_the_same_without_a_fingerprint(
    tmp_path, form: str
) -> None:
    rows = [row(STORY, URL), row(page(2).body, URL + '?x="1"\'é', title='A "b" — c: d\nñ')]
    unknown = [row(STORY, URL + bits) | {"fingerprint": bits} for bits in ("", "xyz")]
    found = opened(write_corpus(tmp_path, form, *rows, *unknown)).entries
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
    skipped = [entry.skipped for entry in opened(tmp_path / form, max_bytes=100).entries]
    assert skipped == ["too large"] * 4


def test_other_texts_have_nothing_known(tmp_path) -> None:
    (tmp_path / "a.md").write_text("# Title\n\nText.")
    (tmp_path / "b.md").write_text('---\nlayout: post\ntitle: "T"\n---\nText.')
    (tmp_path / "c.txt").write_text("Text.")
    (tmp_path / "d.jsonl").write_text(json.dumps({"url": URL, "markdown": "# Title"}))
    (tmp_path / "e.html").write_bytes(STORY)
    found = opened(tmp_path).entries
    assert [entry.known for entry in found] == [None] * 5
    assert [entry.of_text for entry in found] == [True] * 4 + [False]


@pytest.mark.parametrize(
    ("head", "url", "title"),
    [
        (
            "---\nurl: https://example.com\ntitle: It's: so\n---\n",
            "https://example.com",
            "It's: so",
        ),
        ("---\r\ntitle: 'It''s'\r\ntags:\r\n  - a\r\n---\r\n", "", "It's"),
        ('\ufeff---\ntitle: "a \\u00e9"\nurl: 7\n...\n', "", "a é"),
        ("---\ntitle: [broken\n---\n", "", "[broken"),
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
