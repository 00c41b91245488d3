"""The front matter of Markdown files, whoever wrote it."""

from __future__ import annotations

import pytest

from simhash_gate import read_page
from tests.sources.opened import opened


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
