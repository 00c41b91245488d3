"""Which requests ask for the same variant of a page."""

from itertools import pairwise

import pytest
from scrapy import Request
from scrapy.http import Response

from simhash_gate.plugin.asked_for import MOST_COOKIES, Variants

URL = "https://example.com/"


def same(before: dict, now: dict, vary: str = "", variants: Variants | None = None) -> bool:
    """Tell whether requests with these headers ask for the same, by the `Vary` of the first."""
    variants = variants or Variants()
    name = variants.of(Request(URL, headers=before), Response(URL, headers={"Vary": vary}))
    return variants.same(Request(URL, headers=now), name)


@pytest.mark.parametrize("name", ["Cookie", "Authorization", "Accept-Language", "X-Region"])
def test_what_a_request_says_of_itself_makes_a_variant(name) -> None:
    for one, other in pairwise([{}, {name: "a=de"}, {name: "a=en"}, {name: "a=7f"}, {}]):
        assert not same(one, other, name)
        assert same(one, other) is (name == "X-Region")
        assert same(one, one, name.lower() + ", accept")
        assert not same(one, one, f"{name}, *")
    assert same({"Cookie": "a=1; b=2"}, {"Cookie": "b=2;a=1"}, "Cookie")
    assert not same({}, {}, ", ".join("abc" for _ in range(100)))
    assert not Variants().same(Request(URL), "")


def test_a_name_is_short_and_says_nothing_of_a_secret() -> None:
    request = Request(URL, headers={"Authorization": "Basic c2VjcmV0", "Cookie": "sid=secret"})
    response = Response(URL, headers=[("Vary", "Cookie"), ("Vary", " Accept, cookie")])
    name = Variants().of(request, response)
    assert name.startswith("accept,cookie ")
    assert len(name) == len("accept,cookie 01234567")


def gives(variants: Variants, *cookies: str, request: Request | None = None) -> None:
    headers = [("Set-Cookie", f"{cookie}; Path=/; Secure") for cookie in cookies]
    variants.learn(request or Request(URL), Response(URL, headers=headers))


def test_what_a_server_gives_to_each_visitor_makes_no_variant_but_a_word_does() -> None:
    variants = Variants()
    gives(variants, "sid=9f3a", "day=22-Mar", "id=" + "x" * 30, "lang=de", "seen=")
    for vary in ("", "Cookie"):
        assert same({}, {"Cookie": "sid=9f3a; day=22-Mar; id=" + "x" * 30}, vary, variants)
        assert not same({}, {"Cookie": "sid=9f3a; lang=de"}, vary, variants)
        assert not same({}, {"Cookie": "sid=another1"}, vary, variants)


def test_what_a_crawl_brings_or_has_logged_in_with_stays_its_own() -> None:
    variants = Variants()
    mine = Request(URL, headers={"Cookie": "sid=mine1"})
    gives(variants, "sid=mine1", "day=1", request=mine)  # renewed,
    gives(variants, "sid=mine2", request=mine)  # or another in its place
    assert not same({}, {"Cookie": "sid=mine1"}, variants=variants)
    assert not same({}, {"Cookie": "sid=mine2"}, variants=variants)
    assert same({}, {"Cookie": "day=1"}, variants=variants)
    gives(variants, "in=1", request=Request(URL, method="POST"))
    assert not same({}, {"Cookie": "day=1"}, variants=variants)
    assert not same({}, {"Cookie": "in=1"}, variants=variants)


def test_no_more_cookies_are_remembered_than_there_is_room_for_those_in_use_longest() -> None:
    variants = Variants()
    gives(variants, "first=1", "used=1")
    gives(variants, *(f"a{number}=1" for number in range(MOST_COOKIES - 2)))
    gives(variants, "last=1", request=Request(URL, headers={"Cookie": "used=1"}))
    assert not same({}, {"Cookie": "first=1"}, variants=variants)
    assert same({}, {"Cookie": "used=1; a0=1; last=1"}, variants=variants)
