"""The sample of what a page says."""

from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from simhash_gate.fingerprints.folding import HashedLines
from simhash_gate.fingerprints.sample import PAIRS, WORDS, read_sample, sample_of

LETTERS = st.text("abcdefgh", min_size=1, max_size=4)


@settings(max_examples=25)
@given(st.lists(st.lists(LETTERS, max_size=30), max_size=20))
@example([[f"word{'abcdefgh'[n % 8] * (n // 8)}" for n in range(PAIRS + WORDS)]])
def test_a_gist_comes_back_and_is_small(blocks: list[list[str]]) -> None:
    sample = read_sample(sample_of(HashedLines.of(blocks)))
    pairs = {" ".join(pair) for block in blocks for pair in pairwise(block)}
    pairs.update(block[0] for block in blocks if len(block) == 1)
    assert len(sample.pairs) == min(PAIRS, len(pairs))
    assert len(sample.words) == min(WORDS, len({word for block in blocks for word in block}))
    assert sample == read_sample(sample_of(HashedLines.of(list(reversed(blocks)))))


def test_numbers_are_no_words() -> None:
    march, may = (
        [["events", "on", day, "of", year]] for day, year in (("3", "2031"), ("14", "40"))
    )
    assert sample_of(HashedLines.of(march)) == sample_of(HashedLines.of(may))
    assert read_sample(sample_of(HashedLines.of([["१९९", "३२"]]))) == read_sample(b"")


def test_words_of_any_script_count() -> None:
    assert len(read_sample(sample_of(HashedLines.of([["हिन्दी", "में", "पृष्ठ"]]))).words) == 3
