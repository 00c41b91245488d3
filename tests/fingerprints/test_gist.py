"""The sample of what a page says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simhash_gate.fingerprints.gist import PAIRS, WORDS, gist_of, read_gist

BLOCKS = st.lists(st.lists(st.text("abcdefgh", min_size=1, max_size=4), max_size=30), max_size=20)


@given(BLOCKS)
def test_a_gist_comes_back_and_is_small(blocks: list[list[str]]) -> None:
    gist = read_gist(gist_of(blocks))
    assert len(gist.pairs) == min(PAIRS, len(gist.pairs))
    assert len(gist.words) == min(WORDS, len({word for block in blocks for word in block}))
    assert gist == read_gist(gist_of(list(reversed(blocks))))


def test_numbers_are_no_words() -> None:
    march, may = (
        [["events", "on", day, "of", year]] for day, year in (("3", "2031"), ("14", "40"))
    )
    assert gist_of(march) == gist_of(may)
    assert read_gist(gist_of([["१९९", "३२"]])) == read_gist(b"")


def test_words_of_any_script_count() -> None:
    assert len(read_gist(gist_of([["हिन्दी", "में", "पृष्ठ"]])).words) == 3
