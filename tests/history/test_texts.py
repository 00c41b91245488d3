"""What is kept of a page's text, packed and unpacked."""

import struct
import zlib

import pytest

from simhash_gate.history.texts import FetchedPage, KeptPage, Link, pack, unpack

SOURCE = FetchedPage("ab12", b"<p>\xff\x00bytes", (("Content-Type", "text/html"), ("ETag", '"1"')))
SAID = {
    "url": "https://example.com/bees",
    "title": "Bees 🐝",
    "markdown": "# Bees\n\nThey fly. \ud800",
    "time": 1_700_000_000.125,
    "links": [("https://example.com/a", "All"), ("https://example.com/b", "")],
}


def test_what_was_packed_comes_back() -> None:
    kept = unpack(pack(**SAID, source=SOURCE))
    assert (kept.url, kept.title, kept.markdown) == (SAID["url"], SAID["title"], SAID["markdown"])
    assert kept.time == SAID["time"]
    assert kept.links == (Link("https://example.com/a", "All"), Link("https://example.com/b", ""))
    assert kept.source == SOURCE
    assert unpack(pack(**SAID)).source is None


def test_a_long_text_takes_little_room() -> None:
    text = "A worker bee lives six weeks in summer. " * 500
    assert len(pack(url="", title="", markdown=text, time=0)) < len(text) / 20


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no text at all",
        b"\x02" + pack(**SAID)[1:],
        pack(**SAID)[:-3],
        pack(**SAID, source=SOURCE)[:-3],
        struct.pack(">BI", 1, 10) + zlib.compress(b"{}"),
        struct.pack(">BI", 1, 10) + zlib.compress(b"[1]"),
    ],
)
def test_what_was_not_packed_is_refused_and_reads_as_nothing(data) -> None:
    with pytest.raises(ValueError, match="no text of a page"):
        unpack(data)
    assert KeptPage.of(data) == KeptPage(data)
