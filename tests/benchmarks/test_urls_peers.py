"""What each peer finds in small crawls, where its paper or its documentation says what it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.urls import alignment, duster, pattern_tree
from benchmarks.urls.discarder import Discarder
from benchmarks.urls.duster import Duster
from benchmarks.urls.maybedont_ import MaybeDont
from benchmarks.urls.method import BatchMethod, merges
from benchmarks.urls.pattern_tree import PatternTree
from benchmarks.urls.simulate import Simulation
from benchmarks.urls.truth import Visit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SITE = "http://wiki.example"
BATCH = [Duster, PatternTree]


def made(urls: Iterable[tuple[str, int]]) -> list[Visit]:
    return [Visit(SITE + url, "wiki.example", content, True) for url, content in urls]


def printed(number: int) -> list[tuple[str, int]]:
    return [
        (f"/page?id={number}", number),
        (f"/page?id={number}&printable=yes", number),
    ]


def session(number: int) -> list[tuple[str, int]]:
    keys = [f"{(number + 1) * prime:08x}" for prime in (104729, 1299709, 15485863)]
    return [(f"/show?id={number}&sid={key}", number) for key in keys]


def all_of(one: Callable[[int], list[tuple[str, int]]], numbers: Iterable[int]) -> list[Visit]:
    return made(each for number in numbers for each in one(number))


@pytest.mark.parametrize("method", [Duster, PatternTree, MaybeDont])
@pytest.mark.parametrize("one", [printed, session])
def test_a_parameter_that_changes_nothing_is_learned(method, one) -> None:
    visits = all_of(one, range(400))
    figures = Simulation(method(), seed=1).run(visits)
    assert figures.lost == figures.early == 0
    assert figures.share > (0.5 if method is MaybeDont else 0.85)
    assert figures.rules > 0


@pytest.mark.parametrize("method", [Duster, PatternTree, MaybeDont])
def test_a_parameter_that_tells_contents_apart_is_not(method) -> None:
    visits = made((f"/page?id={n // 2}&view={n % 2}", n) for n in range(400))
    figures = Simulation(method(), seed=1).run(visits)
    assert (figures.fetched, figures.lost, figures.rules) == (400, 0, 0)


@pytest.mark.parametrize("method", BATCH)
def test_a_rule_of_few_contents_is_none(method: type[BatchMethod]) -> None:
    few = all_of(printed, range(4)) + made((f"/page?id={n}", n) for n in range(4, 100))
    assert len(method().fit({visit.url: visit.content for visit in few})) == 0
    enough = all_of(printed, range(5)) + made((f"/page?id={n}", n) for n in range(5, 100))
    assert len(method().fit({visit.url: visit.content for visit in enough})) == 1


@pytest.mark.parametrize("method", BATCH)
def test_a_rule_that_is_often_wrong_is_none(method: type[BatchMethod]) -> None:
    """The parameter matters for a part of the contents."""
    visits = all_of(printed, range(20))
    visits += made((f"/page?id={n % 10}&printable=no", 100 + n) for n in range(10))
    mixed = {visit.url: visit.content for visit in visits}
    fitted = method().fit(mixed)
    told = {fitted.canonical(url) for url in mixed}
    assert len(told) >= len(set(mixed.values()))


@pytest.mark.parametrize("method", BATCH)
@pytest.mark.parametrize(
    "one",
    [
        lambda n: [(f"/topic/{n}", n), (f"/topic/{n}/print", n)],
        lambda n: [(f"/story/{n}", n), (f"/archive/story/{n}", n)],
        lambda n: [(f"/item/red-shoe/{n}", n), (f"/item/{'abcde'[n % 5]}/{n}", n)],
    ],
    ids=["print", "folder", "slug"],
)
def test_paths_that_change_nothing_are_learned(method: type[BatchMethod], one) -> None:
    fitted = method().fit({visit.url: visit.content for visit in all_of(one, range(60))})
    unseen = [visit.url for visit in all_of(one, range(100, 120))]
    assert len({fitted.canonical(url) for url in unseen}) == 20


@pytest.mark.parametrize("method", BATCH)
def test_what_is_learned_of_one_site_is_not_used_on_another(method: type[BatchMethod]) -> None:
    learned = method()
    Simulation(learned).run(all_of(printed, range(100)))
    learned.learn("other.example", "http://wiki.example/page?id=1000", "", False)
    assert not learned.skips("other.example", "http://wiki.example/page?id=1000&printable=yes")


@pytest.mark.parametrize("method", BATCH)
def test_pages_of_which_nobody_knows_teach_nothing(method: type[BatchMethod]) -> None:
    learned = method()
    for visit in all_of(printed, range(100)):
        learned.learn("wiki.example", visit.url, "", None)
    learned.settle()
    assert learned.rules == 0


@pytest.mark.parametrize("method", BATCH)
def test_batches_are_learned_from_once_and_for_all(method: type[BatchMethod]) -> None:
    learned = method()
    learned.settle()
    Simulation(learned).run(all_of(printed, range(100)))
    assert learned.rules == 0


def test_urls_of_one_content_are_aligned_whatever_is_missing_in_some() -> None:
    consensus = alignment.aligned(
        ["http://a.example/x?id=1", "http://a.example/x?id=1&p=2", "http://a.example/x?id=1&p=3"]
    )
    assert consensus[-5:] == [
        *(frozenset({"1"}), frozenset({"", "&"}), frozenset({"", "p"})),
        *(frozenset({"", "="}), frozenset({"", "2", "3"})),
    ]


def test_delimiters_are_aligned_with_themselves_alone() -> None:
    consensus = alignment.aligned(["http://a.example/x/y", "http://a.example/x?y"])
    assert not any({"/", "?"} <= column for column in consensus)


def test_a_duster_rule_keeps_what_tells_contents_apart() -> None:
    groups = [[SITE + url for url, _ in printed(number)] for number in (1, 22, 333)]
    rule = duster.generalised([alignment.aligned(urls) for urls in groups])
    assert rule is not None
    assert rule.apply(f"{SITE}/page?id=4444&printable=yes") == f"{SITE}/page?id=4444"
    assert rule.apply(f"{SITE}/page?id=x&printable=yes") == f"{SITE}/page?id=x&printable=yes"


def test_keys_with_the_fewest_values_come_first_in_a_tree() -> None:
    urls = [f"{SITE}/index.php?title=T{n}&action={'view' if n % 2 else 'edit'}" for n in range(20)]
    rows = [pattern_tree.Row(pattern_tree.parts_of(url), n) for n, url in enumerate(urls)]
    root = pattern_tree.build(rows, {}, [*rows[0].parts])
    assert root.key in {"scheme", "host", "path 0"}
    leaf = root.leaf_of(pattern_tree.parts_of(f"{SITE}/index.php?title=New&action=view"))
    assert leaf is not None
    assert leaf.pattern["query title"] == pattern_tree.ANY
    assert leaf.pattern["query action"] == "view"
    assert (
        root.leaf_of(pattern_tree.parts_of(f"{SITE}/index.php?title=New&action=view&x=1")) is None
    )
    assert root.leaf_of(pattern_tree.parts_of(f"{SITE}/other.php?title=New&action=view")) is None


def test_merges_count_what_becomes_one() -> None:
    assert merges([("a", 1), ("a", 1), ("a", 2), ("b", 3)], {"b": 3, "c": 4}) == (2, 1)


def test_the_discarder_uses_the_rules_that_it_ships() -> None:
    discarder = Discarder()
    assert discarder.rules > 300
    discarder.learn("a.example", "https://a.example/story?id=1", "", False)
    assert discarder.skips("a.example", "https://a.example/story?utm_source=mail&id=1")
    assert not discarder.skips("a.example", "https://a.example/story?id=2&utm_source=mail")


def test_maybedont_knows_nothing_of_a_url_whose_other_forms_it_has_not_seen() -> None:
    visits = all_of(printed, range(400))
    method = MaybeDont()
    Simulation(method, seed=1).run(visits)
    unseen = f"{SITE}/page?id=5000&printable=yes"
    assert not method.skips("wiki.example", unseen)
    method.learn("wiki.example", f"{SITE}/page?id=5000", "", False)
    assert method.skips("wiki.example", unseen)
