"""Rules that are suggested for duplicate-url-discarder: what the library itself makes of them."""

import json
import random
from collections.abc import Iterable, Iterator

import pytest
import tldextract.tldextract
from duplicate_url_discarder.url_canonicalizer import UrlCanonicalizer
from hypothesis import given, settings
from hypothesis import strategies as st
from w3lib.url import canonicalize_url

from simhash_gate.offline.url_evidence import FEWEST, Crawls
from simhash_gate.offline.url_rules import Rule, Suggestion, Url, as_json

HOST = "http://example.com"
Visits = Iterable[tuple[str, object]]
"""URLs, and what each of them shows."""


EXTRACT = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)


@pytest.fixture(autouse=True, scope="module")
def offline() -> Iterator[None]:
    """Let the library know domains without the network."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tldextract.tldextract, "TLD_EXTRACTOR", EXTRACT)
        yield


@pytest.fixture
def load(tmp_path):
    """Return what the library makes of URLs by these rules."""

    def load(suggestions: Iterable[Suggestion]) -> UrlCanonicalizer:
        path = tmp_path / "rules.json"
        path.write_text(as_json(suggestions))
        return UrlCanonicalizer([path])

    return load


def lines(visits: Visits) -> Iterator[dict]:
    """Yield the verdicts of a crawl."""
    first: dict[object, str] = {}
    yield {"crawl": {}, "crawl_note": {"message": "begins"}}
    for url, content in visits:
        kept = first.setdefault(content, url)
        yield (
            {"url": url, "outcome": "new"}
            if kept == url
            else {**{"url": url, "outcome": "duplicate", "matched_url": kept}}
        )


def suggest(*crawls: Visits) -> list[Suggestion]:
    found = Crawls()
    for visits in crawls:
        for line in lines(visits):
            found.add_line(line)
    return list(found.suggest())


def pages(form: str, *values: object, many: int = 60) -> list[tuple[str, object]]:
    """Return addresses of pages: their form has the number `n` of the page, and a value `v`."""
    return [(HOST + form.format(n=n, v=v), n) for n in range(many) for v in values]


PLAIN = pages("/a?id={n}", "")
OTHERS = [(f"{HOST}/{name}={n}", (name, n)) for name in ("b?v", "a?id=7&start") for n in range(60)]
SAYABLE = {
    "a parameter": (pages("/a?id={n}&ref={v}", 1, 2), "/a?id=90&ref=3"),
    "only together": (pages("/a?id={n}&x={v}&y={v}", 1), "/a?id=90&y=3&x=2"),
    "on one kind of paths": (pages("/a?id={n}&v={v}", 1, 2), "/a?id=90&v=7"),
    "with one value": (pages("/a?id={n}&start={v}", 0), "/a?id=90&start=0"),
    "parts of the path": (pages("/s/{v}x1/a?id={n}", 1), "/s/7x7/a?id=90"),
}


@pytest.mark.parametrize(("visits", "url"), SAYABLE.values(), ids=SAYABLE)
def test_what_makes_no_difference_is_removed_from_addresses_that_come_later(
    load, visits: Visits, url: str
) -> None:
    met = [*PLAIN, *visits, *OTHERS[:-60], *OTHERS[61:]]  # start=0 is the page without it
    library = load(suggest(random.Random(1).sample(met, len(met))))
    assert library.process_url(HOST + url) == f"{HOST}/a?id=90"
    for kept in (f"{HOST}/b?v=9", f"{HOST}/a?id=7&start=10"):
        assert library.process_url(kept) == kept


@pytest.mark.parametrize(
    ("spared", "wrong", "written"),
    [(28, 0, False), (29, 0, True), (45, 1, False), (46, 1, True), (400, 2, True), (399, 2, False)],
)
def test_a_rule_needs_evidence(spared: int, wrong: int, written: bool) -> None:
    visits = [*pages("/a?id={n}", "", many=spared), *pages("/a?id={n}&ref=1", "", many=spared)]
    for number in range(wrong):
        visits[spared + number] = (visits[spared + number][0], f"another {number}")
    found = suggest(visits)
    assert bool(found) == written
    for rule in found:
        assert (len(rule.spared), len(rule.lost)) == (spared - wrong, wrong)
        assert json.loads(as_json(found))[0]["comment"].startswith(rule.evidence)


def test_each_parameter_needs_its_own_evidence() -> None:
    rare = (f"{HOST}/a?id=1&rare=1", 1)
    (found,) = suggest([*PLAIN, *pages("/a?id={n}&ref={v}", 1, 2), rare])
    assert found.rule.args == ("ref",)


def test_an_address_that_contradicts_a_rule_is_left_alone(load) -> None:
    visits = [*PLAIN, *pages("/a?id={n}&ref={v}", 1)]
    visits[-1] = (visits[-1][0], "another page")
    library = load(suggest(visits))
    assert library.process_url(visits[-1][0]) == visits[-1][0]
    assert library.process_url(visits[-2][0]) == PLAIN[-2][0]


@pytest.mark.parametrize("value", [1, 2])
def test_one_request_past_a_rule_takes_it_back_if_it_shows_another_page(value: int) -> None:
    before = [*pages("/a?id={n}", "", many=900), *pages("/a?id={n}&ref=1", "", many=900)]
    after = [*pages("/a?id={n}", "", many=900), (f"{HOST}/a?id=7&ref={value}", "another page")]
    assert suggest(before)
    assert not suggest(before, after)


def test_a_page_that_changes_between_crawls_contradicts_nothing() -> None:
    first, second = pages("/a?id={n}", ""), [(u, f"new {c}") for u, c in pages("/a?id={n}", "")]
    (found,) = suggest([*first, *pages("/a?id={n}&ref=1", "")], second)
    assert not found.lost


@pytest.mark.parametrize("names", [("www.example.com",), ("example.com", "www.example.com")])
def test_a_rule_is_for_its_host_alone(load, names: tuple[str, ...]) -> None:
    visits = [*PLAIN, *pages("/a?id={n}&ref=1", "")]
    met = [(url.replace("example.com", name), (name, c)) for name in names for url, c in visits]
    library = load(suggest(met))
    for name in names:
        assert library.process_url(f"http://{name}/a?id=90&ref=1") == f"http://{name}/a?id=90"
    other = "http://m.example.com/a?id=90&ref=1"
    assert library.process_url(other) == other


def test_paths_of_a_stranger_do_not_take_long() -> None:
    """A pattern with a star for each of many parts takes url-matcher ages."""
    deep = Url.of(HOST + "/7" * 5_000)
    assert not Rule("subpathRemoval", (0,), "/*" * 500 + "/print|").matches(deep)
    assert not suggest([*pages("/7" * 9 + "/{n}", ""), *pages("/7" * 9 + "/{n}/print", "")])


PARTS = st.sampled_from(["/a", "/b", "/s", "/7", "/x;v=1", "/"])
QUERIES = st.dictionaries(st.sampled_from("abcd"), st.sampled_from(["0", "1", "22"]))
RULES = st.one_of(
    st.builds(
        Rule,
        st.just("queryRemoval"),
        st.lists(st.sampled_from("abcd"), min_size=1, unique=True).map(tuple),
        st.sampled_from(["", "/a", "/*|", "/*/b/", "/s/*|", "/A|", "/*/*/b|", "/*7*/|"]),
        st.sampled_from(["", "a=0", "b=22"]),
    ),
    st.builds(
        Rule,
        st.just("subpathRemoval"),
        st.lists(st.integers(0, 3), min_size=1, unique=True).map(tuple),
        st.sampled_from(["/s/", "/*/*|", "/a/*/"]),
        st.just(""),
    ),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(PARTS, max_size=5), QUERIES, st.lists(RULES, max_size=4))
def test_rules_do_to_addresses_what_the_library_does(tmp_path_factory, path, query, rules) -> None:
    """Several rules are applied in their order, each by the address that is requested."""
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    url = f"{HOST}{''.join(path) or '/'}{'?' if asked else ''}{asked}"
    file = tmp_path_factory.getbasetemp() / "rules.json"
    file.write_text(as_json(Suggestion("example.com", rule, [], [], 0.0) for rule in rules))
    ours = address = Url.of(url)
    for rule in rules:
        ours = rule.apply(ours) if rule.matches(address) else ours
    theirs = UrlCanonicalizer([file]).process_url(url)
    assert canonicalize_url(str(ours)) == canonicalize_url(theirs)


def test_a_site_that_has_too_few_addresses_is_passed_over() -> None:
    assert not suggest(pages("/a?id={n}&ref={v}", 1, many=FEWEST - 1))
