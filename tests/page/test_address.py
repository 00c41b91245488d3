from itertools import product
from urllib.parse import urljoin

import pytest

from simhash_gate.page.address import Base

PATHS = ["x", "x/", "x.html", "a/b-c/d_e.f", "%20", "..x", "a..", "a//b", "./x", "a/../b", "a/./b"]
LEADS = ["", "/", "//", "../", "../../", "../../../../", "./", "http://h/", "https://h:8/", "x:"]
ENDS = ["", "?q=1&r=/s:t", "#f", "#f(a,b)", "?a=b;c#d/e.f", "?", "#", ";p", "?a#b#c"]
ALONE = ["#f", "#", "#a/../b", "#f(a;b)", "?q", "?", "/", "..", ".", "http://h", "https://h?q#f"]
HREFS = [*map("".join, product(LEADS, PATHS, ENDS)), *ALONE]


@pytest.mark.parametrize(
    "base",
    [
        "https://example.org/a/b/c.html?q=1#z",
        "http://example.org",
        "https://example.org//a//b/",
        "https://example.org/a/../b/./c",
        "about:blank",
        "",
    ],
)
def test_addresses_become_absolute_as_urljoin_makes_them(base):
    join = Base(base).absolute
    assert {href: join(href) for href in HREFS} == {href: urljoin(base, href) for href in HREFS}


def test_a_base_that_is_no_address_leaves_links_as_they_are():
    join = Base("http://[x").absolute
    assert [join(href) for href in ("a/b", "#f", "/a", "../a")] == ["a/b", "#f", "/a", "../a"]


@pytest.mark.parametrize("href", [None, "", " ", "javascript:x()", " Data:x", "http://[x"])
def test_what_is_no_address_leads_nowhere(href):
    assert Base("https://example.org/").absolute(href) is None
