"""What a host's pages show not to matter: what acts, what is tested, and what is taken back."""

from collections.abc import Iterable
from itertools import product

import pytest

from simhash_gate.identity import contents
from simhash_gate.identity.learning import BELOW, Host
from simhash_gate.identity.saved import entries_of, load

SITE = "http://example.com"
OWN, ONE = 5, 1


def show(host: Host, pairs: Iterable[tuple[str, str]], *, same: bool = True) -> None:
    """Fetch the plain address of each pair, then the other one, which is the same page or not."""
    for plain, other in pairs:
        if SITE + plain not in host.contents.of:
            host.saw(SITE + plain, same=False)
        host.saw(SITE + other, SITE + plain if same else "", same)


def pairs(plain: str, other: str, count: int, start: int = 1) -> list[tuple[str, str]]:
    numbers = range(start, start + count)
    return [(plain.format(n=n, m=n + 7), other.format(n=n, m=n + 7)) for n in numbers]


def is_one(host: Host, one: str, other: str) -> bool:
    return host.reduction.key(SITE + one) == host.reduction.key(SITE + other)


@pytest.mark.parametrize(
    ("plain", "other", "needed"),
    [
        ("/a/{n}", "/a/{n}?x={m}", OWN),
        ("/a/{n}", "/a/{n}?start=0", OWN),
        ("/a/{n}?s={n}", "/a/{n}?s={m}", OWN),
        ("/a/{n}", "/a/{n};ticket={m}", OWN),
        ("/a/{n}", "/a/{n}/printed", OWN),
        ("/a/{n}", "/t/0a1b2c3d4{m}/a/{n}", OWN),
        ("/a/{n}/old-name-{n}", "/a/{n}/new-name-{m}", OWN),
        ("/a/{n}", "/A/{n}", OWN),
        ("/wiki/Red_bees_{n}", "/index.php?title=Red+bees+{n}", OWN),
        ("/wiki/Red_bees_{n}/x", "/index.php?title=Red_bees_{n}%2Fx", OWN),
        ("/tags/red-bees-{n}", "/tags?name=red+bees+{n}", OWN),
        # What seldom matters anywhere needs one case.
        ("/a/{n}", "/a/{n}/", ONE),
        ("/a/{n}/", "/a/{n}/index.html", ONE),
        ("/a/{n}", "/a/{n}/index.html", ONE),
        ("/a/{n}", "/a/{n}/amp", ONE),
        ("/a/{n}", "/a/{n};jsessionid={m}", ONE),
        ("/a/{n}", "/a/{n}?printable=yes", ONE),
    ],
)
def test_what_makes_no_difference_acts_after_enough_contents(
    plain: str, other: str, needed: int
) -> None:
    host = Host()
    for number in range(1, needed):
        show(host, pairs(plain, other, 1, number))
    new, variant = plain.format(n=90, m=97), other.format(n=90, m=97)
    assert not is_one(host, new, variant)
    show(host, pairs(plain, other, 1, needed))
    assert is_one(host, new, variant)
    assert not is_one(host, new, plain.format(n=91, m=98))


@pytest.mark.parametrize(
    ("one", "other"),
    [("http://www.example.com/a", "http://example.com/a"), (SITE, "https://example.com")],
)
def test_hosts_and_schemes_are_one_after_one_content(one: str, other: str) -> None:
    host = Host()
    host.saw(one, same=False)
    host.saw(other, one, same=True)
    assert host.reduction.key(one) == host.reduction.key(other)


def test_names_that_track_visitors_say_nothing_unless_pages_of_the_site_show_it() -> None:
    host = Host()
    host.saw(f"{SITE}/a?utm_source=x", same=False)
    assert host.stand_in(f"{SITE}/a?utm_source=y&fbclid=5") == f"{SITE}/a?utm_source=x"
    for number in range(2):
        host.skips.ask(f"{SITE}/a?utm_source={number}", f"{SITE}/a?utm_source=x", skip=False)
        host.saw(f"{SITE}/a?utm_source={number}", same=False)
    assert not is_one(host, "/b?utm_source=x", "/b?utm_source=y")


def test_what_comes_only_as_a_bundle_is_tried_together() -> None:
    host = Host()
    show(host, pairs("/a/{n}", "/a/{n}?view=all&ref={m}", OWN))
    assert is_one(host, "/a/9", "/a/9?view=all&ref=77")


def test_a_part_that_can_be_left_out_is_not_hidden_by_one_that_can_be_anything() -> None:
    host = Host()
    visits = [(f"/s/{n:08x}f1/a/{n}", f"/s/{n:08x}f2/a/{n}") for n in range(10)]
    show(host, visits)
    show(host, [(f"/a/{n}", f"/s/{n:08x}f3/a/{n}") for n in range(10, 20)])
    assert {atom.kind for atom in host.reduction.whole.acts} == {"place", "segment"}
    assert is_one(host, "/a/77", "/s/00000077f9/a/77")


def test_a_word_that_stands_for_the_names_of_pages_can_be_anything_and_others_not() -> None:
    host = Host()
    names = [f"why-the-{chr(97 + n)}-left-the-hive" for n in range(10)]
    show(host, [(f"/a/{name}/{n}", f"/a/story/{n}") for n, name in enumerate(names)])
    assert is_one(host, "/a/how-a-bee-came-home/77", "/a/story/77")
    assert not is_one(host, "/a/photo/77", "/a/story/77")
    assert not is_one(host, "/b/story/77", "/a/story/77")


@pytest.mark.parametrize("often", [False, True])
def test_many_words_at_one_place_are_names_and_words_that_come_often_are_not(often: bool) -> None:
    host = Host()
    names = [f"{first}{second}" for first in "abcdef" for second in "ghijkl"]
    few = [(f"/archive?page={n}", f"/archive?page={n}&view=all") for n in range(20)]
    show(host, few if often else [], same=False)
    show(host, [(f"/{name}", f"/{name}?view=all") for name in names])
    assert is_one(host, "/another", "/another?view=all")
    assert is_one(host, "/archive?page=7", "/archive?page=7&view=all") is not often


def test_what_numbers_of_a_parameter_show_says_nothing_of_its_words() -> None:
    host = Host()
    show(host, [(f"/a/{n}?part=1", f"/a/{n}?part={n}") for n in range(2, 9)])
    assert is_one(host, "/a/99?part=1", "/a/99?part=7")
    assert not is_one(host, "/a/99?part=1", "/a/99?part=new")
    show(host, [("/a/2?part=1", "/a/2?part=top"), ("/a/3?part=1", "/a/3?part=top")])
    assert is_one(host, "/a/99?part=1", "/a/99?part=new")


def test_a_parameter_says_a_path_although_an_index_page_says_nothing() -> None:
    host = Host()
    show(host, [("/", "/index.php")])
    show(host, pairs("/wiki/Red_bees_{n}", "/index.php?title=Red+bees+{n}", OWN))
    assert is_one(host, "/wiki/Dry_sand_9", "/index.php?title=Dry+sand+9")


def test_a_value_can_be_the_default_and_another_one_a_page() -> None:
    """`?start=0` is the page itself; each second page of a list has another start."""
    host = Host()
    for number in range(10):
        show(host, [(f"/a/{number}", f"/a/{number}?start=0")])
        show(host, [(f"/a/{number}", f"/a/{number}?start=20")], same=False)
    assert is_one(host, "/a/90", "/a/90?start=0")
    assert not is_one(host, "/a/90", "/a/90?start=20")


def test_a_page_without_the_parameter_is_evidence_too() -> None:
    """A form for each section of a page, which are alike, is not the page."""
    host = Host()
    for number in range(10):
        host.saw(f"{SITE}/e.php?id={number}", same=False)
        host.saw(f"{SITE}/e.php?id={number}&section=1", same=False)
        for section in range(2, 5):
            first = f"{SITE}/e.php?id={number}&section=1"
            host.saw(f"{SITE}/e.php?id={number}&section={section}", first, same=True)
    assert is_one(host, "/e.php?id=90&section=8", "/e.php?id=90&section=9")
    assert not is_one(host, "/e.php?id=90", "/e.php?id=90&section=9")


def learned(count: int = 30) -> Host:
    host = Host()
    show(host, pairs("/a/{n}", "/a/{n}?x={m}", count))
    return host


def skip(host: Host, numbers: Iterable[int]) -> tuple[list[str], list[str]]:
    """Ask for addresses whose page was fetched; return those that are tests, and those skipped."""
    tests, skipped = [], []
    for number in numbers:
        url = f"{SITE}/a/{number}?x=999{number}"
        stand_in = host.stand_in(url)
        assert stand_in is not None
        (tests if host.skips.ask(url, stand_in).test else skipped).append(url)
    return tests, skipped


def test_the_first_skips_are_tested_and_one_in_25_later_ones() -> None:
    tests, skipped = skip(learned(), [*range(1, 31)] * 10)
    assert 15 <= len(tests) <= 25
    assert skipped[0].endswith("?x=9994")


def test_a_test_that_brings_another_page_fetches_the_last_skips_and_a_second_one_all() -> None:
    host = learned(200)
    tests, skipped = skip(host, range(1, 20))
    assert not host.saw(tests[-1], same=False)
    again, host.back = host.back, []
    assert again == skipped[::-1][:5]
    assert is_one(host, "/a/90", "/a/90?x=1")
    assert not host.saw(again[0], same=False)
    assert {*host.back} >= {*skipped} - {*again}
    assert not is_one(host, "/a/90", "/a/90?x=1")


@pytest.mark.parametrize(
    ("other", "told"), [("/print/a/{n}", 1), ("/a/{n}?printable=yes", 1), ("/old/a/{n}", 5)]
)
def test_another_view_may_say_some_words_more(other: str, told: int) -> None:
    hosts = Host(), Host()
    for host, nearly in zip(hosts, (True, False), strict=True):
        show(host, pairs("/a/{n}", other, told, 50))
        for number in range(3):
            host.saw(f"{SITE}/a/{number}", same=False)
            host.saw(SITE + other.format(n=number), f"{SITE}/a/{number}", False, nearly)
    listed = told == 1
    assert [is_one(host, "/a/90", other.format(n=90)) for host in hosts] == [listed, False]


@pytest.mark.parametrize(
    ("parts", "values", "nearly", "holds"),
    [
        ("ab", "xy", True, True),
        ("ab", "xy", False, False),  # other contents matter everywhere
        ("", "xy", True, False),  # nothing else of the site tells that it is a view
        ("ab", "rs", True, False),  # nor do other values, such as those of older versions
    ],
)
def test_a_view_known_in_other_parts_of_a_site_may_say_some_words_more(
    parts: str, values: str, nearly: bool, holds: bool
) -> None:
    host = Host()
    for part in f"{parts}c":
        for value in "xyz":
            show(host, pairs(f"/{part}/{{n}}", f"/{part}/{{n}}?view={value}", OWN))
    for number in range(20, 24):
        one, other = (f"{SITE}/c/{number}?view={value}" for value in values)
        host.saw(one, same=False)
        host.saw(other, one, False, nearly)
    one, other = (f"/c/90?view={value}" for value in values)
    assert is_one(host, one, other) is holds


def test_what_few_pages_contradict_is_tested_until_enough_tell() -> None:
    host = Host()
    show(host, pairs("/a/{n}", "/old/a/{n}", 40))
    parked = []
    for number in range(41, 99):
        host.saw(f"{SITE}/a/{number}", same=False)
        url = f"{SITE}/old/a/{number}"
        if host.skips.ask(url, f"{SITE}/a/{number}").test:
            host.saw(url, f"{SITE}/a/{number}", same=True)
        else:
            parked.append(url)
    assert len(parked) > 30
    show(host, [("/a/99", "/old/a/99")], same=False)
    assert not host.back, "nothing is fetched that need not be"
    host.saw(f"{SITE}/a/100", same=False)
    assert host.skips.ask(f"{SITE}/old/a/100", f"{SITE}/a/100").test
    fetched = host.skips.sample(5)
    assert {*fetched} < {*parked}
    for url in fetched[:2]:
        host.saw(url, url.replace("/old", ""), same=False)
    assert {*fetched, *host.back} == {*parked}
    assert not is_one(host, "/a/1000", "/old/a/1000")


def test_two_values_that_each_make_no_difference_are_tested_beside_each_other() -> None:
    host = Host()
    for value in ("evening", "weekend"):
        show(host, pairs("/a/{n}", f"/a/{{n}}?edition={value}", OWN))
    one, other = f"{SITE}/a/90?edition=evening", f"{SITE}/a/90?edition=weekend"
    host.saw(one, same=False)
    assert host.stand_in(other) == one
    assert {atom.value for atom in host.skips.ask(other, one).atoms} == {"evening", "weekend"}
    assert not host.saw(other, same=False)
    assert host.stand_in(f"{SITE}/a/90") is None


def test_two_contents_under_one_key_split_it() -> None:
    host = learned()
    url = f"{SITE}/a/7?x=5555"
    assert host.stand_in(url)
    host.saw(url, same=False)
    assert host.stand_in(f"{SITE}/a/7?x=6666") is None


def test_a_kind_is_cut_where_an_atom_held_for_all_lower_numbers() -> None:
    host = Host()
    numbers = [*range(100, 200, 2), *range(101, 200, 2)]
    assert len(numbers) // 2 > BELOW
    for number in numbers:
        show(host, pairs("/a/{n}", "/a/{n}?x={m}", 1, number))
    show(host, [("/a/900", "/a/900?x=1")], same=False)
    assert is_one(host, "/a/150", "/a/150?x=1")
    assert not is_one(host, "/a/901", "/a/901?x=1")


def test_what_chooses_in_other_parts_of_a_site_needs_own_contents_to_act() -> None:
    """Lists of long stories alone: the filter leaves all of them, as it does nowhere else."""
    host = Host()
    for part in "abc":
        show(host, [(f"/{part}?year={n}", f"/{part}?year={n}&length=long") for n in range(4)])
    for part in "defg":
        shown = [(f"/{part}?year={n}", f"/{part}?year={n}&length=long") for n in range(4)]
        show(host, shown, same=False)
    assert not is_one(host, "/c?year=9", "/c?year=9&length=long")


def test_a_page_that_failed_stands_for_nothing() -> None:
    host = learned()
    _, skipped = skip(host, range(1, 10))
    stand_in = f"{SITE}/a/9"
    assert host.forget(stand_in) == [url for url in skipped if "/a/9?" in url]
    assert host.stand_in(f"{SITE}/a/9?x=31337") != stand_in


def test_the_next_crawl_needs_one_content() -> None:
    host = Host()
    load(host, entries_of("example.com", learned()))
    show(host, pairs("/a/{n}", "/a/{n}?x={m}", 3, 50))
    assert is_one(host, "/a/90", "/a/90?x=1")


def test_what_is_known_of_a_host_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "MOST_KNOWN", 40)
    host = learned(200)
    assert len(host.contents.of) <= 40
    assert len(host.stand_ins) <= 40
    assert host.stand_in(f"{SITE}/a/1?x=1") is None
    assert host.stand_in(f"{SITE}/a/200?x=1")


def test_what_was_tested_on_a_host_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "MOST_KNOWN", 40)
    host, tests = Host(), 0
    for letters in product("abcdef", "ghijkl", "mnopqr"):
        page, other = f"{SITE}/{''.join(letters)}", f"{SITE}/{''.join(letters)}/printed"
        host.saw(page, same=False)
        tests += host.stand_in(other) == page and host.skips.ask(other, page).test
        host.saw(other, page, same=True)
    assert tests > 3 * 40
    assert len(host.skips._counts) <= 40


def test_a_parameter_says_a_page_by_itself_or_not_at_all() -> None:
    host = Host()
    show(host, pairs("/wiki/List:Links/Red_{n}", "/run?title=List:Links&target=Red_{n}", 2 * OWN))
    assert not [atom for atom in host.reduction.whole.acts if atom.kind == "page"]


def test_a_test_of_what_acts_no_more_says_nothing_of_what_still_does() -> None:
    host = Host()
    show(host, pairs("/wiki/Red_bees_{n}", "/index.php?title=Red+bees+{n}", OWN))
    show(host, pairs("/wiki/Red_bees_{n}", "/wiki/Red_bees_{n}?v={m}", OWN))
    url = f"{SITE}/index.php?title=Red+bees+1&v=99"
    stand_in = host.stand_in(url)
    assert stand_in is not None
    assert host.skips.ask(url, stand_in).test
    show(host, pairs("/wiki/Blue_bees_{n}", "/wiki/Blue_bees_{n}?v={m}", 2), same=False)
    assert not is_one(host, "/wiki/Red_bees_9", "/wiki/Red_bees_9?v=99")
    assert not host.saw(url, stand_in, False)
    assert is_one(host, "/wiki/Dry_sand_9", "/index.php?title=Dry+sand+9")


def test_what_holds_in_most_parts_of_a_site_is_tested_in_each() -> None:
    words = ["".join(letters) for letters in product("abcd", "efgh", "ijkl")]
    host = Host()
    show(host, [(f"/wiki/{word}/a", f"/wiki/{word}/a?limit=5") for word in words])
    show(host, [(f"/wiki/{word}/a", f"/wiki/{word}/a?limit={n}") for word in words for n in (7, 9)])

    def is_tested(word: str, limit: int) -> bool:
        url = f"{SITE}/wiki/{word}/a?limit={limit}"
        return host.skips.ask(url, host.stand_in(url) or "").test

    host.saw(f"{SITE}/wiki/edits/a", same=False)
    assert [is_tested(words[0], limit) for limit in range(20, 31)][-2:] == [False, False]
    assert [is_tested("edits", limit) for limit in (50, 100)] == [True, False]


def test_what_30_contents_say_of_paths_is_not_tested_under_each_word() -> None:
    words = ["".join(letters).capitalize() for letters in product("abcd", "efgh", "ijkl", "mn")]
    host = Host()
    show(host, [(f"/wiki/{word}", f"/index.php?title={word}") for word in words[:40]])
    tests = 0
    for word in words[40:]:
        host.saw(f"{SITE}/wiki/{word}", same=False)
        url = f"{SITE}/index.php?title={word}"
        tests += host.skips.ask(url, host.stand_in(url) or "").test
    assert len(words) == 128
    assert tests <= 15
