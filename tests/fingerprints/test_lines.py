"""The lines of a page as they are kept: their bytes, and where else their words stand."""

import random
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_gate.fingerprints.folding import HashedLines
from simhash_gate.fingerprints.lines import NO_LINES, Kind, Lines, cut_lines, found_in
from tests.fingerprints.made_lines import lines_of

DICE = random.Random(1)
TEXT = [f"{DICE.getrandbits(40):x}" for _ in range(1_500)]
DRILL = "the drill costs 19.99 euros and weighs more than the old one"
GRIP = "carpenters liked the grip of the drill"


def hashed(*texts: str) -> HashedLines:
    return HashedLines.of([text.split() for text in texts])


def found(lines: Lines, *texts: str) -> dict[int, list[int]]:
    """Return where the words of each line begin in the words of some texts."""
    return {number: places.tolist() for number, places in found_in(lines, hashed(*texts).words)}


LINE = st.tuples(
    st.lists(st.sampled_from(["a", "b", "7", "7.5", "蜂"]), max_size=9),
    st.integers(0, 0xFF),
    st.integers(0, 0xFFFF),
)


@given(st.lists(LINE, max_size=40))
def test_any_lines_survive_their_encoding(page) -> None:
    words, kinds, places = zip(*page, strict=True) if page else ((), (), ())
    given, starts = cut_lines(HashedLines.of(words), kinds, places)
    decoded = Lines.decode(given.encode())
    assert [column.tolist() for column in decoded] == [column.tolist() for column in given]
    assert [column.dtype for column in decoded] == [column.dtype for column in given]
    assert given.sizes.tolist() == [len(each) for each in words if each]
    assert given.kinds.tolist() == [kind for each, kind in zip(words, kinds, strict=True) if each]
    assert starts.tolist() == [0, *np.cumsum(given.sizes, dtype=int).tolist()]


def test_a_line_takes_about_six_bytes() -> None:
    words = [[*DICE.choices(TEXT, k=DICE.randint(1, 24))] for _ in range(200)]
    kinds, places = DICE.choices([0x03, 0x13, 0x23, 0x08], k=200), DICE.choices(range(20), k=200)
    for each in words[::4]:
        each.append("1999")
    lines, _ = cut_lines(HashedLines.of(words), kinds, places)
    assert 5 <= len(lines.encode()) / len(lines.hashes) <= 7.5


@pytest.mark.parametrize("cut", [0, 3, 8, 20, 400])
def test_what_is_cut_off_is_no_lines(cut) -> None:
    data = lines_of(*TEXT[:200]).encode()
    with pytest.raises((ValueError, struct.error)):
        Lines.decode(data[:cut])


def test_a_page_without_words_has_no_lines() -> None:
    assert cut_lines(hashed("", ""), [0, 0], [0, 0])[0] == NO_LINES
    assert Lines.decode(NO_LINES.encode()).keys.tolist() == []
    assert found(NO_LINES, DRILL) == {}
    assert found(lines_of(DRILL)) == {}


def test_a_page_may_have_more_lines_than_are_kept_and_pictures_besides() -> None:
    lines = cut_lines(HashedLines.of([["a"]] * 70_000), [Kind.CONTENT] * 70_000, [0] * 70_000)[0]
    assert len(lines.hashes) == 65_535
    more = lines.beside(lines_of("image bees.jpg"))
    assert len(Lines.decode(more.encode()).hashes) == 65_536


def test_a_line_is_found_over_the_ends_of_others_and_in_its_order_only() -> None:
    lines = lines_of(DRILL, GRIP)
    size = int(lines.sizes[0])
    start, end = DRILL[:15], DRILL[16:]
    assert found(lines, "so", start, f"{end} {GRIP}", "it is") == {0: [1], 1: [1 + size]}
    assert found(lines, f"{GRIP} {GRIP}") == {1: [0, 7]}
    assert found(lines, DRILL.replace("old one", "one old"), GRIP.replace("liked", "hated")) == {}


def test_lines_are_one_by_their_words_in_order_and_have_one_form_but_for_numbers() -> None:
    lines = lines_of("12 of 20 bees", "12 of 20 bees", "13 of 40 bees", "20 bees of 12", "of bees")
    keys = lines.keys.tolist()
    assert keys[0] == keys[1]
    assert len({*keys}) == 4
    forms = lines.forms.tolist()
    assert forms[0] == forms[1] == forms[2] != forms[3]
    assert forms[4] == 0, "it has no number"


@pytest.mark.parametrize("place", [0, 600, 1_499])
def test_an_edit_of_a_long_line_changes_one_piece_of_it(place) -> None:
    whole = lines_of(" ".join(TEXT))
    assert len(whole.hashes) > 20
    assert whole.sizes.sum() == len(TEXT)
    for edited in ([*TEXT[:place], "new", *TEXT[place + 1 :]], [*TEXT[:place], *TEXT[place + 1 :]]):
        other = lines_of(" ".join(edited))
        assert len({*whole.keys.tolist()} - {*other.keys.tolist()}) <= 2
        assert len({*other.keys.tolist()} - {*whole.keys.tolist()}) <= 2


def test_a_line_without_an_end_is_cut_where_its_words_are_all_one() -> None:
    lines = lines_of(" ".join(["buzz"] * 1_000))
    assert lines.sizes.sum() == 1_000
    assert lines.sizes.max() <= 200


def test_what_a_page_says_is_its_article_and_what_it_can_be_told_by() -> None:
    of_article = [Kind.ARTICLE | kind for kind in (Kind.CONTENT, Kind.ABOUT, Kind.CAPTION)]
    kinds = [*of_article, Kind.CONTENT, Kind.LINK, 0]
    lines, _ = cut_lines(hashed(*"abcdef"), kinds, [0] * 6)
    assert lines.said().kinds.tolist() == kinds[:4]
    assert lines.only(lines.are(Kind.LINK)).kinds.tolist() == [of_article[2], Kind.LINK]
