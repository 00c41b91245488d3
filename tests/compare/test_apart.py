"""What only one of two pages shows: each excuse where it holds, and where it does not."""

from collections.abc import Iterator

import pytest

from simhash_gate.compare.apart import EXCUSES, Apart, apart, are_moved, moving, why
from simhash_gate.fingerprints.folding import HashedLines
from simhash_gate.fingerprints.lines import Kind, Lines
from simhash_gate.gate.judge import Gate
from simhash_gate.gate.verdict import Outcome, Verdict
from simhash_gate.options import pipeline_version
from simhash_gate.pipeline import read_page
from simhash_gate.stores import open_store
from tests.fingerprints.made_lines import SAID, lines_of

DRILL = "the drill costs 19.99 euros and weighs more than the old one"
GRIP = "carpenters liked the grip of the drill"
STORY = lines_of(DRILL, GRIP)
PIECES = " ".join(f"word{chr(97 + n)}" for n in range(26))
"""A line of which each piece may be short."""


def compared(old: Lines, new: Lines, *texts: str, revisit: bool = False) -> Apart:
    """Compare the lines of two pages; `texts` are all lines of the new one."""
    return apart(old, new, HashedLines.of([text.split() for text in texts]).words, revisit=revisit)


def differ(one: tuple[str, int], other: tuple[str, int], *, revisit: bool = False) -> bool:
    """Tell if two pages differ that have one story, and a line of a kind, which may be ""."""
    old, new = (STORY.beside(lines_of(text, kind=kind)) for text, kind in (one, other))
    found = compared(old, new, DRILL, GRIP, other[0], revisit=revisit)
    return bool(found.gone or found.come)


@pytest.mark.parametrize(
    ("kind", "excuse"),
    [
        (Kind.ARTICLE | Kind.ABOUT, "page"),
        (Kind.CAPTION, "shown"),
        (Kind.ARTICLE | Kind.CAPTION, "shown"),
        (Kind.ARTICLE | Kind.LINK, "elsewhere"),
        (Kind.LINK | Kind.SENTENCE, "elsewhere"),
        (Kind.SENTENCE, "beside"),
        (SAID, None),
        (Kind.CONTENT | Kind.LINK, None),
        (Kind.CONTENT | Kind.MARK, None),
        (Kind.CONTENT | Kind.ABOUT, None),
    ],
)
def test_a_line_by_which_no_page_is_told_has_an_excuse_by_its_kind(kind, excuse) -> None:
    assert why(kind) == excuse
    assert excuse is None or excuse in EXCUSES
    line = ("a drill of 1999", kind)
    for revisit in (False, True):
        tells = excuse is None or (revisit and kind & Kind.ARTICLE and kind & Kind.LINK)
        assert differ(line, ("a drill of 2001", kind), revisit=revisit) is bool(tells)


def test_what_both_pages_show_is_done_with_wherever_it_stands() -> None:
    for old, new, texts in (
        (lines_of(DRILL, GRIP), lines_of(GRIP, DRILL), (GRIP, DRILL)),
        (STORY, lines_of(DRILL).beside(lines_of(GRIP, kind=Kind.LINK)), (DRILL, GRIP)),
        (STORY, lines_of(f"{DRILL} {GRIP}"), (f"{DRILL} {GRIP}",)),
        (STORY, lines_of(*f"{DRILL}|{GRIP[:10]}|{GRIP[11:]}".split("|")), (DRILL, GRIP)),
    ):
        found = compared(old, new, *texts)
        assert (found.gone, found.come) == ([], [])
    found = compared(STORY, lines_of(DRILL, f"{GRIP} and its case"), DRILL, f"{GRIP} and its case")
    assert (found.gone, found.come) == ([], [1]), "some of a line is new"
    found = compared(STORY, lines_of(GRIP), GRIP)
    assert (found.gone, found.come) == ([0], [])


@pytest.mark.parametrize(
    "kind", [Kind.CONTENT | Kind.MARK, SAID | Kind.ABOUT], ids=["picture", "date"]
)
def test_pictures_controls_and_dates_tell_nothing_if_one_page_has_none(kind) -> None:
    shown = ("bees.jpg 1", kind)
    assert not differ(shown, ("", kind))
    assert not differ(("", kind), shown)
    assert differ(shown, ("wasps.jpg 1", kind))
    assert differ(shown, ("", kind), revisit=True)
    assert differ(("", kind), shown, revisit=True)


def test_pictures_tell_nothing_of_controls() -> None:
    def marks(*places: int) -> Lines:
        lines = STORY
        for place in places:
            mark = lines_of(f"mark_{place}", kind=Kind.CONTENT | Kind.MARK, place=place)
            lines = lines.beside(mark)
        return lines

    found = compared(marks(4, 5), marks(5), DRILL, GRIP, "mark_5")
    assert (found.gone, found.come) == ([], []), "a print view has pictures and no controls"


def test_a_picture_that_tells_at_a_revisit_only() -> None:
    assert not differ(("bees.jpg", Kind.MARK), ("wasps.jpg", Kind.MARK))
    assert differ(("bees.jpg", Kind.MARK), ("wasps.jpg", Kind.MARK), revisit=True)


def at_place(*texts: str, place: int = 7) -> Lines:
    return STORY.beside(lines_of(*texts, place=place))


@pytest.mark.parametrize(
    ("old", "new", "moves"),
    [
        (["read 12 times"], ["read 99 times"], True),
        (["12 bees here", "3 wasps"], ["14 bees here", "9 wasps"], True),
        (["12 bees here", "3 wasps"], ["14 bees here", "9 flies"], False),
        (["read 12 times"], ["read it twice"], False),
        (["read it once"], ["read 12 times"], False),
        (["read 12 times"], ["read 99 times", "and 3 more"], False),
        ([f"12 {'bees ' * 14}"], [f"13 {'bees ' * 14}"], False),
        ([f"{PIECES} 12 bees"], [f"{PIECES} 13 bees"], False),
    ],
)
def test_short_lines_with_numbers_may_move_at_one_place(old, new, moves) -> None:
    for place in (7, 0):
        kept, now = at_place(*old, place=place), at_place(*new, place=place)
        found = compared(kept, now, DRILL, GRIP, *new)
        assert bool(moving(kept, now, found)) is (moves and place == 7)


def table(*lines: str, kind: int = Kind.ORDERED) -> Lines:
    return lines_of(*lines, kind=SAID | kind)


def test_values_that_stand_under_other_names_have_moved() -> None:
    def cards(kind: int, *values: str) -> Lines:
        oak, ash = (lines_of(name, kind=SAID | kind) for name in ("oak", "ash"))
        return oak.beside(table(*values[:2])).beside(ash).beside(table(*values[2:]))

    for kind in (Kind.ORDERED, Kind.LABEL, 0):
        one = cards(kind, "12", "left", "14", "gone")
        other = cards(kind, "14", "gone", "12", "left")
        assert are_moved(one, other) == "the same words in other places", kind
        assert are_moved(one, one) == ""
    assert are_moved(table("ann", "won", "bea"), table("ann", "bea", "won"))
    assert not are_moved(STORY, lines_of(GRIP, DRILL)), "sentences have no place"
    beside = table("ann", "won", kind=0)
    assert not are_moved(beside, table("won", "ann", kind=0))


def test_a_sentence_that_is_said_again_is_one_more() -> None:
    assert are_moved(STORY, lines_of(DRILL, GRIP, DRILL)) == "a line is there again"
    assert not are_moved(lines_of("won", "ann"), lines_of("won", "ann", "won")), "no sentence"


LONG = "".join(
    f"<p>{sentence}</p>"
    for sentence in (
        "The {name} stands alone on its hill, {name} keepers say, and asks nobody for rain.",
        "In summer the keepers of the {name} go up, and in autumn they come with {name} leaves.",
        "Who has seen the {name} in its first snow will not forget the {name} for years to come.",
        "Nobody knows who has planted this {name}, or when, or whether the {name} came by itself.",
        "A bench under the {name} was given by the town, and the {name} has grown around it since.",
    )
)
SHORT = "<p>The {name} stands alone on its hill, {name} keepers say, and asks nobody.</p>"


class Site:
    """Pages of one site that are visited again in one crawl after the other."""

    _gate: Gate

    def __init__(self) -> None:
        self._store = open_store("memory:")
        self.crawl(0)

    def crawl(self, number: int) -> None:
        """Begin another crawl."""
        run = f"run{number}"
        if number:
            self._gate.keep_memories()
            self._store.end(f"run{number - 1}")
        self._store.begin(run)
        self._gate: Gate = Gate(self._store, run=run, pipeline=pipeline_version())
        self._at = 1.7e9 + 86_400 * number

    def meet(self, name: str, inner: str, path: str = "", story: str = "") -> Verdict:
        """Judge the page of a name, which has a story of its own and what it says besides."""
        html = (
            f"<html><title>{name}</title><body><main><h1>{name}</h1>"
            f"{(story or LONG).format(name=name)}{inner}</main></body></html>"
        )
        url = f"https://hive.example/{path or name}"
        return self._gate.judge(read_page(html.encode(), url=url), url=url, at=self._at)

    def take_back(self, verdict: Verdict) -> None:
        assert verdict.record is not None
        self._gate.take_back(verdict.record)

    def close(self) -> None:
        self._store.close()


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.close()


TREES = ("oak", "ash", "elm", "fir")
PINE = "pine"
NOTE = "<p>All trees of this wood are cared for by its friends.</p>"


def test_what_three_pages_of_other_names_show_is_the_sites(site) -> None:
    for number, tree in enumerate(TREES[:3]):
        site.meet(PINE, "", f"pine{number}")
        seen = site.meet(PINE, NOTE, f"noted{number}")
        assert (seen.outcome, "new: 'all trees" in seen.reason) == ("near", True)
        site.meet(tree, NOTE)
        site.take_back(seen)
    copy = site.meet(PINE, NOTE, "print")
    assert copy.outcome == "duplicate"
    assert EXCUSES["site"] in copy.reason
    assert site.meet(PINE, NOTE.replace("friends", "owners"), "other").outcome == "near"


@pytest.mark.parametrize(
    ("line", "values", "story"),
    [
        ("<p>Sent off after {} days</p>", (3, 9), LONG),
        ("<p>{}</p>", ("Sold out", "Left by the gate"), LONG),
        ("<img src=/bees.jpg>{}", ("", "<img src=/wasps.jpg>"), SHORT),
    ],
    ids=["a number for a number", "a state for a state", "a picture"],
)
def test_values_and_pictures_are_not_the_sites_though_other_pages_have_them(
    site, line, values, story
) -> None:
    one, other = map(line.format, values)
    for number, inner in enumerate((one, other)):
        for tree in TREES:
            site.meet(tree, inner, f"{tree}{number}", story)
    site.meet(PINE, one, PINE, story)
    assert site.meet(PINE, other, "other", story).outcome == "near"
    assert site.meet(PINE, other, "print", story).outcome == "duplicate"


WATCHED = "<div class=seen>Honored guests in the wood: {0}</div>"


RULES = ("<p>No dogs here.</p><p>No fires here.</p>", "<p>No dogs here.</p>", "", "")


def visits(site: Site, form: str, story: str = LONG) -> list[list[Outcome]]:
    """Return the outcomes of four crawls of pages whose numbers are always others.

    In the last one, nothing else is.
    """
    found: list[list[Outcome]] = []
    for number, (word, rules) in enumerate(
        zip(("red", "blue", "gold", "gold"), RULES, strict=True)
    ):
        if number:
            site.crawl(number)
        inner = form.format(17 * number + 30, word, rules)
        found.append([site.meet(tree, inner, story=story).outcome for tree in TREES])
    return found


def test_a_place_that_became_another_on_three_pages_moves_by_itself(site) -> None:
    first, second, third, _ = visits(site, WATCHED)
    assert "unchanged" not in first
    assert second == ["updated"] * 3 + ["unchanged"]
    assert third == ["unchanged"] * 4
    seen = site.meet(PINE, WATCHED.format(5))
    assert not seen.rejected
    copy = site.meet(PINE, WATCHED.format(6), "print")
    assert (copy.outcome, EXCUSES["moves"] in copy.reason) == ("duplicate", True)
    other = site.meet(PINE, WATCHED.format(6).replace("seen", "else"), "other")
    assert other.outcome == "near", "another place"
    stung = site.meet(PINE, WATCHED.format(6).replace("Honored", "Stung"), "stung")
    assert stung.outcome == "near", "other words at the place"


OFFER = (
    '<script type="application/ld+json">{{"@type": "Product", "name": "Seat", "offers":'
    '{{"price": "9", "priceCurrency": "EUR"}}}}</script>'
)


@pytest.mark.parametrize(
    ("form", "story"),
    [
        ("<div class=seen>For a child {0} €, for others 1{0} €</div>" * 2, LONG),
        (f"{WATCHED}<p>Its gate is painted {{1}} by now.</p>", LONG),
        (f"{WATCHED}<p>And {{0}} lay bees{' were near' * 12} the old hive.</p>", LONG),
        (f"{WATCHED}{{2}}", LONG),
        (WATCHED, SHORT),
        (f"{OFFER}{WATCHED}", LONG),
    ],
    ids=["a price", "another line", "a sentence", "a line less", "few words", "an offer"],
)
def test_nothing_is_learned_of_prices_or_where_a_page_says_something_else(
    site, form, story
) -> None:
    *_, second, third, last = visits(site, form, story)
    assert {*second, *third, last[0]} <= {"updated", "rewritten"}
