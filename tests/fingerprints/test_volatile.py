from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_gate.fingerprints import volatile

_PARTS = [
    "5",
    "12",
    "19",
    "30",
    "2021",
    "5th",
    "5º",
    "2021-",
    "12:",
    "12:30",
    "12h30",
    ".",
    ",",
    "/",
    "-",
    "_",
    "#",
    "(",
    "(c)",
    "©",
    "+",
    "k",
    ":",
    "：",
    "may",
    "Mai",
    "mar.",
    "dezember",
    "янв",
    "de",
    "年",
    "views",
    "Reads",
    "7views",
    "min",
    "read",
    "mal",
    "gelesen",
    "visualizaçx1",
    "просмотров",
    "阅读",
    "次",
    "の閲覧",
    "조회",
    "تعليقات",
    "دقائق",
    "للقراءة",
    "ago",
    "minutes",
    "copyright",
    "Copyright",
    "vor",
    "il",
    "y",
    "a",
    "há",
    "قبل",
    "分前",
    "天前",
    "word",
]
_lines = st.lists(st.sampled_from([*_PARTS, " ", " ", " "]), max_size=9).map("".join)


@given(_lines | st.text(max_size=20))
def test_looking_only_where_a_pattern_can_begin_finds_as_much(text):
    assert volatile._tells_volatile(text) == bool(volatile._VOLATILE.search(text))


def test_a_number_is_found_at_any_distance_from_its_word():
    words = ("may", "Mar.", "views", "min read", "mal gelesen", "دقائق للقراءة", "vor", "il y a")
    gaps = ["".join(gap) for size in range(5) for gap in product(" .:：(", repeat=size)]
    for word, gap, number in product(words, gaps, ("5", "12 x", "3rd")):
        text = f"of {word}{gap}{number}"
        assert volatile._tells_volatile(text) == bool(volatile._VOLATILE.search(text)), text


@pytest.mark.parametrize(
    ("line", "of_page"),
    [
        ("Printed from The Daily Miniature", True),
        ("(Redirected from Honey bee)", True),
        ("Source: Reuters", True),
        ("Quelle: dpa", True),
        ("12 users online", True),
        ("Guests currently online: many", True),
        ("The map was printed from a copper plate", False),
        ("The source of the river is a lake", False),
        ("Shops that sell to users online", False),
    ],
)
def test_where_a_page_was_printed_from_and_who_is_online_are_of_the_page(line, of_page):
    assert volatile.is_volatile(line, len(line.split())) == of_page
    assert volatile.is_of_page(line) == of_page


@pytest.mark.parametrize(
    ("line", "words", "expected"),
    [
        ("2024年5月1日 10:30 记者 张海燕 来源 新华社 阅读 300", 21, True),
        ("自1968年起，张海燕审查了疫苗接种活动。自1965年起，张海燕批评了住房租赁条例。", 32, False),
        ("発売日は2024年5月1日、2024年6月1日まで延長された。", 23, False),
    ],
)
def test_sentences_without_spaces_that_tell_of_years_are_no_byline(line, words, expected):
    assert volatile.is_volatile(line, words) is expected


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("On 5 May 2019 the mayor resigned.", ["the", "mayor", "resigned."]),
        ("\u201cWe left on 5 May 2019!\u201d", ["\u201cWe", "left", "!\u201d"]),
        (
            "\u5e02\u957f\u4e8e2019\u5e74\u8f9e\u804c\u3002",
            ["\u5e02\u957f\u4e8e\u8f9e\u804c\u3002"],
        ),
        ("Ann Bee, 12:30", []),
        ("Updated by Ann on 5 May 2019.", []),
        ("Sponsored by The Hive, 5 May 2019.", []),
        ("© 2019 The Hive.", []),
        ("12 comments.", ["."]),
        (
            "The cost, put at 9 million 2 weeks ago, rose.",
            ["The", "cost", "put", "9", "million", "rose."],
        ),
    ],
)
def test_of_a_line_that_tells_a_date_the_other_words_last(line, rest):
    assert volatile.lasting_part(line).replace(",", " ").split() == rest
