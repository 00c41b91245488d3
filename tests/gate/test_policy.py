"""Policies, where they come from, and scopes."""

import pytest

from simhash_gate.gate.policy import Policies, Policy, scope_of
from simhash_gate.values import SettingsError


@pytest.mark.parametrize(
    ("url", "scope", "expected"),
    [
        ("https://news.example.com:8080/a", "domain", "example.com"),
        ("https://www.example.co.uk/", "domain", "example.co.uk"),
        ("https://alice.github.io/post", "domain", "alice.github.io"),
        ("http://127.0.0.1:8000/", "domain", "127.0.0.1"),
        ("https://EXAMPLE.com./", "domain", "example.com"),
        ("https://www.example.com:8080/", "host", "example.com"),
        ("https://news.example.com/", "host", "news.example.com"),
        ("https://example.com/", "crawl", "*"),
        ("file:///tmp/page.html", "domain", ""),
        ("http://[broken/", "domain", ""),
    ],
)
def test_scope_of_a_url(url: str, scope: str, expected: str) -> None:
    assert scope_of(url, scope) == expected  # type: ignore[arg-type]


def test_subdomains_inherit_from_the_longest_configured_domain() -> None:
    news, sport = Policy(threshold=5), Policy(threshold=7)
    policies = Policies(Policy(), {"www.example.com": news, "sport.example.com": sport})
    assert policies.site_of("https://example.com/").policy == news
    assert policies.site_of("https://www.blog.example.com/").policy == news
    assert policies.site_of("https://live.sport.example.com/").policy == sport
    assert policies.site_of("https://notexample.com/").policy == Policy()
    assert policies.site_of("https://com/").policy == Policy()


def test_window_and_age_limit_are_those_of_the_scope() -> None:
    domains = {"example.com": Policy(window=7), "shop.example.com": Policy(threshold=1, window=1)}
    shop = "https://shop.example.com/"
    assert Policies(Policy(), domains).site_of(shop).policy == Policy(threshold=1, window=7)
    assert Policies(Policy(), domains, "host").site_of(shop).policy == Policy(threshold=1, window=1)
    assert Policies(Policy(), domains, "crawl").site_of(shop).policy == Policy(threshold=1)


def test_overrides_leave_the_rest() -> None:
    policy = Policy(threshold=5).override({"action": "tag", "ttl": "3600"}, "here")
    assert policy == Policy(threshold=5, action="tag", ttl=3600.0)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"treshold": 3}, "unknown key 'treshold'; did you mean threshold?"),
        ({"threshold": 65}, r"here\['threshold'\] = 65: expected a whole number from 0 to 64"),
        ({"threshold": True}, "expected a whole number"),
        ({"window": 0}, "expected a whole number at least 1"),
        ({"ttl": -1}, "a number of seconds above 0, or None"),
        ({"action": ["drop"]}, "one of 'drop', 'discard', 'tag', 'links'"),
        ("drop", "expected a mapping of policy values"),
    ],
)
def test_a_bad_override_names_its_place_and_what_is_allowed(values, complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint):
        Policy().override(values, "here")
