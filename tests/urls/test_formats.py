"""Rules of others: what duplicate-url-discarder makes of ours, and what is read of theirs."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest
from duplicate_url_discarder.url_canonicalizer import UrlCanonicalizer

from simhash_gate.urls.formats import from_clearurls, from_discarder, prior, to_discarder
from simhash_gate.urls.learner import Learner
from simhash_gate.urls.rules import Rule
from simhash_gate.urls.saved import entries_of, from_json, load, to_json
from tests.urls.teaching import HOME, SITE, X, pairs_by, teach

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path


def scope_of(domain: str) -> str:
    return ".".join(domain.split(".")[-2:])


def groups(urls: Iterable[str], canonical: Callable[[str], str]) -> set[frozenset[str]]:
    """Return which URLs are one by their canonical URLs."""
    found = defaultdict(set)
    for url in urls:
        found[canonical(url)].add(url)
    return set(map(frozenset, found.values()))


def their_canonical(text: str, folder: Path) -> Callable[[str], str]:
    path = folder / "rules.json"
    path.write_text(text)
    return UrlCanonicalizer([path]).process_url


def test_the_package_merges_what_our_rules_merge_and_no_more(tmp_path) -> None:
    """Pages that are the same with `?x=`, and one shape with `?z=` too."""
    learner = Learner()
    pages = ["/story/{n}", "/show.php?id={n}", "/deep/story/{n}/", "/?p={n}"]
    for page in pages:
        teach(learner, pairs_by(f"{page}{'&' if '?' in page else '?'}x={{m}}", page, count=80))
    teach(learner, pairs_by("/story/{n}?z={m}", "/story/{n}", count=80))
    (entries,) = entries_of(learner).values()
    theirs = their_canonical(to_discarder(entries)[0], tmp_path)
    urls = [
        f"{HOME}{page.format(n=n)}{'&' if '?' in page else '?'}{more}"
        for page in [*pages, "/story/{n}?y=1", "/story/{n}?z=5", "/show.php?id={n}&y=2", "/?q={n}"]
        for n in range(900, 903)
        for more in ["x=1", "x=2", "x="]
    ]
    assert all(learner.acting_on(SITE, url) for url in urls)
    ours = groups(urls, lambda url: learner.canonical(SITE, url))
    assert groups(urls, theirs) == ours
    assert len(ours) < len(urls)
    for path in (
        *("/story/5/comments?x=1", "/story/5/comments/?x=1", "/show.php/deep?x=1"),
        *("/show.phpx?x=1", "/other?x=1", "/other/5?x=1"),
    ):
        assert learner.canonical(SITE, HOME + path) == HOME + path
        assert theirs(HOME + path) == HOME + path
    assert theirs("https://example.org/story/5?x=1") == "https://example.org/story/5?x=1"


@pytest.mark.parametrize(
    ("form", "plain"),
    [
        ("/story/{n}/some-old-name", "/story/{n}/some-new-name"),
        ("/printed/story/{n}", "/story/{n}"),
    ],
)
def test_the_package_takes_out_the_part_of_the_path_that_we_do(form, plain, tmp_path) -> None:
    learner = Learner()
    pairs = pairs_by(form, plain)
    teach(learner, pairs)
    (entries,) = entries_of(learner).values()
    urls = [HOME + url for pair in pairs for url in pair if learner.acting_on(SITE, HOME + url)]
    urls += [url.replace("/story/3", "/story/903") for url in urls]
    theirs = their_canonical(to_discarder(entries)[0], tmp_path)
    assert groups(urls, theirs) == groups(urls, lambda url: learner.canonical(SITE, url))
    assert all(theirs(url) != url for url in urls)


def test_rules_for_all_shapes_and_sites_are_those_of_domains_and_universal(tmp_path) -> None:
    entries = [
        {**prior(SITE, X), "word": "pinned"},
        {**prior("*", Rule("parameter", "z", "*")), "word": "pinned"},
        {**prior("*", Rule("parameter", "guessed", "*"))},
    ]
    text, left_out = to_discarder(entries)
    theirs = their_canonical(text, tmp_path)
    assert left_out == 0
    assert theirs(f"{HOME}/a/5?x=1&y=2") == f"{HOME}/a/5?y=2"
    assert theirs("https://m.example.com/?x=1") == "https://m.example.com/"
    assert theirs("https://example.org/?x=1&z=1&guessed=1") == "https://example.org/?x=1&guessed=1"
    assert to_discarder(entries[::-1])[0] == text


def test_what_the_format_has_no_words_for_is_counted() -> None:
    shape = f"{SITE}/a/{{number}}"
    rules = [
        *(Rule("slash"), Rule("order"), Rule("case"), Rule("parameter", "x", "1")),
        Rule("value", "x", "{number}"),
        *(Rule("segment", "{code}", "0"), Rule("segment", "print", "9")),
        *(Rule("segment", "print", "-9"), Rule("host", "m.example.com", SITE)),
    ]
    entries = [{**prior(SITE, rule), "shape": shape, "word": "pinned"} for rule in rules]
    entries.append({**prior(SITE, Rule("segment", "print", "-1")), "word": "pinned"})
    entries.append({**prior(SITE, X), "state": "suspended"})
    cut = {**prior(SITE, X), "word": "pinned", "shape": f"{SITE}/b/{{number}}"}
    entries += [cut, {**cut, "shape": f"{SITE}/b/{{number}} after 99"}]
    assert to_discarder(from_json(to_json(entries), "rules.json")) == ("[]\n", len(rules) + 3)


def test_rules_of_the_package_are_guesses_that_the_site_confirms() -> None:
    theirs = [
        {"urlPattern": {"include": ["example.com"]}, "processor": "queryRemoval", "args": ["x"]},
        {"urlPattern": {"include": []}, "processor": "queryRemoval", "args": ["any"]},
        {"urlPattern": {"include": ["m.a.example/b", "https://*.c.example"]}, "args": [],
         "processor": "normalizer"},
        {"urlPattern": {"include": ["a.example"]}, "processor": "queryRemovalExcept", "args": []},
        {"urlPattern": {"include": ["a.example"]}, "processor": "subpathRemoval", "args": [1]},
        {"urlPattern": 5, "processor": []},
        5,
    ]  # fmt: skip
    read = from_discarder(json.dumps(theirs), "rules.json", scope_of)
    assert read.entries == [
        prior(SITE, X),
        prior("*", Rule("parameter", "any", "*")),
        prior("a.example", Rule("slash")),
        prior("c.example", Rule("slash")),
    ]
    assert read.left_out == 4
    learner = Learner()
    load(learner, from_json(to_json(read.entries), "rules.json"))
    assert not learner.acts_on(SITE)
    teach(learner, pairs_by("/a/{n}?any={m}", "/a/{n}", count=5))
    assert learner.canonical(SITE, f"{HOME}/a/9?any=1") == f"{HOME}/a/9"


CATALOGUE = {
    "globalRules": (".*", ["(?:%3F)?visit", "(?:%3F)?mark(?:_[a-z_]*)?", "from\\.page", "a.b", 5]),
    "shop": (
        "^https?:\\/\\/(?:[a-z0-9-]+\\.)*?shop\\.example",
        ["trail", "field-x", "p[fd]_[a-z]*"],
    ),
    "plain": ("^https?:\\/\\/www\\.plain\\.example\\/", ["w"]),
    "two": ("^https?:\\/\\/(one\\.example|two\\.example)", ["never"]),
    "part": ("^https?:\\/\\/a\\.example\\/watch", ["never"]),
    "broken": (".*", 5),
}


def test_plain_names_in_a_catalogue_of_clearurls_are_guesses() -> None:
    providers = {
        name: {"urlPattern": pattern, "rules": names}
        for name, (pattern, names) in CATALOGUE.items()
    }
    text = json.dumps({"providers": {**providers, "none": 5}})
    read = from_clearurls(text, "data.json", scope_of)
    assert [(entry["scope"], entry["name"]) for entry in read.entries] == [
        *(("*", "visit"), ("*", "from.page")),
        *(("shop.example", "trail"), ("shop.example", "field-x"), ("plain.example", "w")),
    ]
    for entry in read.entries:
        assert entry == prior(entry["scope"], Rule("parameter", entry["name"], "*"))
    assert read.left_out == 5
    assert from_json(to_json(read.entries), "rules.json") == read.entries
