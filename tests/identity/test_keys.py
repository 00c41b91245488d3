"""One key for all addresses of a page, and canonical links that pages refute."""

import pytest

from simhash_gate.identity.keys import OFF_FOR, REFUTED, Keys

SITE = "example.com"
PAGE = "http://example.com/a/7"


@pytest.mark.parametrize(
    "url",
    [
        f"{PAGE}#top",
        "http://example.com/%61/7",
        "http://example.com:80/a/7",
        f"{PAGE}?utm_source=x&fbclid=y",
        f"{PAGE}?PHPSESSID=0a1b",
        f"{PAGE};jsessionid=0A1B",
        f"{PAGE}/",
        "https://example.com/a/7",
        "http://www.example.com/a/7",
        f"{PAGE}/index.html",
    ],
)
def test_addresses_that_seldom_differ_have_one_key(url: str) -> None:
    assert Keys().of(url).key == Keys().of(PAGE).key


@pytest.mark.parametrize("url", [f"{PAGE}?page=2", "http://example.com/a/8", f"{PAGE}?ref=x"])
def test_others_have_keys_of_their_own(url: str) -> None:
    assert Keys().of(url).key != Keys().of(PAGE).key
    assert Keys().of(url).url == url


def test_names_of_the_user_say_nothing_either() -> None:
    assert Keys(("ref",)).of(f"{PAGE}?ref=x") == Keys(("ref",)).of(f"{PAGE}?ref=y")
    assert Keys(("ref",)).of(f"{PAGE}?ref=x").by == "list"
    assert Keys(("ref",)).of(f"{PAGE}?ref=x").url == PAGE


def test_what_the_spider_says_comes_first() -> None:
    key = Keys().of(PAGE, word="article 7", canonical="http://example.com/b")
    assert (key.key, key.by) == ("article 7", "spider")


def test_a_canonical_link_names_the_page() -> None:
    keys = Keys()
    target = keys.named(SITE, f"{PAGE}?view=print", PAGE, 0, 0)
    assert target == PAGE
    key = keys.of(f"{PAGE}?view=print", canonical=target)
    assert (key.by, key.url) == ("canonical", PAGE)
    assert key.key == keys.of(PAGE).key


def test_a_target_of_two_contents_is_refuted_and_three_turn_the_links_off() -> None:
    keys = Keys()
    for number in range(REFUTED):
        target = f"http://example.com/list{number}"
        assert keys.named(SITE, f"{target}?page=2", target, number, 0) == target
        assert not keys.named(SITE, f"{target}?page=3", target, ~number & (2**64 - 1), 0)
        assert not keys.named(SITE, f"{target}?page=2", target, number, 0)
    assert not keys.named(SITE, f"{PAGE}?x=1", PAGE, 5, 1)
    assert keys.named(SITE, f"{PAGE}?x=1", PAGE, 5, OFF_FOR + 1)


def test_a_page_refutes_the_links_that_others_have_to_it() -> None:
    keys = Keys()
    keys.named(SITE, PAGE, "", 0, 0)
    assert not keys.named(SITE, "http://example.com/b", PAGE, 2**64 - 1, 0)


@pytest.mark.parametrize("target", ["http://example.com/", "http://www.example.com/index.html"])
def test_the_home_page_is_no_other_page_unless_it_says_the_same(target: str) -> None:
    keys = Keys()
    assert not keys.named(SITE, PAGE, target, 0, 0)
    keys.named(SITE, target, "", 2**64 - 1, 0)
    assert keys.named(SITE, "http://example.com/start", target, 2**64 - 1, 0) == target


@pytest.mark.parametrize("target", ["http://other.example/a/7", "http://[", "mailto:a@b.c", "x"])
def test_a_link_to_another_site_or_to_nothing_says_nothing(target: str) -> None:
    assert not Keys().named(SITE, PAGE, target, 0, 0)
