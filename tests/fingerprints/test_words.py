from itertools import product
from unicodedata import category, normalize

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simhash_gate.fingerprints.folding import HashedLines, words_of_each
from simhash_gate.fingerprints.words import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't STOP, now!", ["don", "t", "stop", "now"]),
        ("ﬁne Ｗｉｄｅ STRASSE straße", ["fine", "wide", "strasse", "strasse"]),
        ("iPhone 15を買う", ["iphone", "15", "を", "買", "う"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("co\u00adoper\u200bate", ["cooperate"]),
        ("— … !", []),
        ("+5 °C, −5\u00a0℃", ["+", "5", "°", "c", "-", "5", "°", "c"]),
        ("C++/C# #1 @x R&D 5%", [*"c++", *"c#", *"#1", *"@x", *"r&d", *"5%"]),
        ("★★☆ ✓ ✔\ufe0f 👍", [*"★★☆✓✔👍"]),
        ("●●○ ▲ 5\n●", [*"●●○▲5●"]),
        ("a*b A* *a* **b** * c", [*"a*ba*abc"]),
        (
            "1990–95, 5 - 10, (030)-12, x--5, -a",
            ["1990", "95", "5", "10", "030", "12", "x", "5", "a"],
        ),
        ("a | b · c • d ● e → f ~ g © h # i jj#k ½ 1/2", [*"abcdefghi", "jj", *"k1212"]),
        ("<< Back\nOn and on >>\n»", ["back", "on", "and", "on"]),
    ],
)
def test_words_are_normalised(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize("text", ["漢字かな", "ภาษาไทย", "ພາສາລາວ", "မြန်မာ", "ភាសាខ្មែរ"])
def test_scripts_without_word_spaces_are_read_by_character(text):
    assert all(len(token) == 1 for token in words(text))
    assert len(words(text)) > 3


def test_words_are_counted_as_a_reader_would():
    for text, number in (
        ("three plain words", 3),
        ("漢字漢字 and 漢", 4),
        ("C++ costs -5 € (★★★★☆)", 3),
    ):
        assert HashedLines.of([words(text)]).total() == number


# Characters that join with their neighbours, become several or none, or are not what they seem.
ODD = (
    "-−–－#*＜<>+＋°℃€●▲↑★✓\U0001f44dßẞİıǰŉΣσςſK™½⒈⑴²ª´…，．（<=_éﬁ々〇가각ㅏㄱㅎｶﾞガ㍿हि็กເ𠀋𝐀"
    "\u1100\u1161\u11a8\u0301\u0323\u0338\u0345\u3099\u0970\ufa6c"
    "\u200b\u00ad\u2028\x85\xa0\uffff\0"
)
texts = st.lists(st.text(st.one_of(st.sampled_from(ODD + "aB1 漢é."), st.characters())))


@given(texts)
@example(["".join(pair) for pair in product(ODD, repeat=2)])
def test_words_of_many_texts_are_those_of_each(texts):
    texts = [text.replace("\n", " ") for text in texts]
    assert words_of_each(texts) == [words(text) for text in texts]


@pytest.mark.slow
def test_every_character_is_folded_as_it_is_by_itself():
    """But of plain letters, most of them ideographs, every tenth stands for its neighbours."""
    every = [chr(code) for code in range(0x30000) if code != ord("\n")]
    odd = {char for char in every if category(char) not in {"Lo", "Cn", "Co", "Cs"}}
    odd.update(char for char in every if normalize("NFKC", char) != char)
    texts = [f"{char}é{char}" for char in sorted({*every[::10], *odd})]
    assert words_of_each(texts) == [words(text) for text in texts]
