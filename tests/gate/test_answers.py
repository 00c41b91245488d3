"""Answers in place of pages: read from HTML, judged over a real store."""

from contextlib import closing

import pytest

from simhash_gate.gate.answers import blocking_service
from simhash_gate.gate.judge import Gate
from simhash_gate.gate.policy import Policy
from simhash_gate.gate.visit import Visit
from simhash_gate.identity.keys import key_of
from simhash_gate.pipeline import read_page
from simhash_gate.stores import open_store
from tests.crawls.harness import text

MISSING = "<title>Page not found | Miller</title><h1>Oh dear</h1><p>There is no such page here.</p>"
WALL = "<title>Hello</title><h1>Hello</h1><p>To read on, tell us who you are, with your name.</p>"
SITE = "https://example.com"


class Site:
    """Pages of one site, which one run after the other visits."""

    def __init__(self) -> None:
        self.store = open_store("memory:")
        self.runs = 0
        self.new_run()

    def new_run(self) -> None:
        if self.runs:
            self.store.end(f"run {self.runs}")
        self.runs += 1
        self.store.begin(f"run {self.runs}")
        self.gate = Gate(self.store, run=f"run {self.runs}", pipeline="v1")

    def visit(self, path: str, html: str, walled_from: str = "", **policy) -> str:
        url, at = SITE + path, 1e9 + self.runs * 86_400
        page = read_page(html.encode(), url=url)
        visit = Visit(url, "example.com", key_of(url), at, walled_from=walled_from)
        return self.gate.judge(page, Policy(**policy), visit).outcome

    @property
    def kept(self) -> list[str]:
        return [record.url.removeprefix(SITE) for record in self.store.records()]


@pytest.fixture
def site():
    made = Site()
    with closing(made.store):
        yield made


def story(seed: int) -> str:
    return f"<title>Story {seed}</title><h1>Story {seed}</h1><p>{text(seed)}</p>"


def test_a_page_that_says_at_two_addresses_that_it_is_not_there_is_none(site) -> None:
    assert [site.visit(path, MISSING) for path in ("/a", "/b", "/a", "/c")] == [
        *("new", "soft_404", "soft_404", "soft_404")
    ]
    assert site.kept == []


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("Error 404: Page Not Found", "soft_404"),
        ("404", "soft_404"),
        ("Страница не найдена", "soft_404"),
        ("Just a moment...", "blocked"),
        ("Access denied | shop.example used a firewall", "blocked"),
        ("Making sure you&#39;re not a bot!", "blocked"),
    ],
)
def test_it_is_known_by_its_name(site, name, outcome) -> None:
    html = f"<title>{name}</title><p>Something is said here, in a few words and no more.</p>"
    assert site.visit("/a", html) == "new"
    assert site.visit("/b", html) == outcome


@pytest.mark.parametrize(
    "name",
    [
        *("Peugeot 404", "Not found in the wild", "A robot check for factories"),
        *("A film: Access denied", "Access", "400"),
    ],
)
def test_a_copy_of_a_page_that_is_only_named_in_a_like_way_stays_a_copy(site, name) -> None:
    html = f"<title>{name}</title><h1>{name}</h1><p>{text(1, 40)}</p>"
    assert [site.visit(f"/{path}", html) for path in "abcdef"] == ["new"] + 5 * ["duplicate"]


def test_numbers_and_the_address_that_it_repeats_make_no_difference(site) -> None:
    html = "<title>Access denied</title><p>You may not read {0} on this site. Case {1}, sorry.</p>"
    outcomes = [
        site.visit(f"/{name}", html.format(name, f"7f3{n}a"))
        for n, name in enumerate(["ant", "bee"])
    ]
    assert outcomes == ["new", "blocked"]


def test_an_answer_may_suggest_other_pages_and_a_page_names_them_as_its_text(site) -> None:
    html = "<title>Page not found</title><p>There is nothing at {0}. Do you look for {1}?</p>"
    suggested = [f"<a href=/{it}>{it} hives</a>, <a href=/b>wax</a>" for it in ("oak", "pine")]
    told = [f"{name} hives, wax" for name in ("oak", "pine")]
    for folder, others, second in (("x", told, "new"), ("y", suggested, "soft_404")):
        paths = [f"/{folder}/{name}" for name in ("ant", "bee")]
        pages = [html.format(path, other) for path, other in zip(paths, others, strict=True)]
        assert [site.visit(*it) for it in zip(paths, pages, strict=True)][1] == second


def test_pages_without_text_are_known_by_their_title(site) -> None:
    html = "<title>Page not found</title><div></div>"
    assert [site.visit(path, html) for path in ("/a", "/b")] == ["skipped", "soft_404"]


def test_the_same_end_of_an_address_is_a_copy_of_a_help_page(site) -> None:
    html = f"<title>Access denied</title><h1>Access denied</h1><p>{text(1, 60)}</p>"
    paths = ("/v1/errors/denied", "/v2/errors/denied/", "/v2/errors/denied?print=1")
    assert [site.visit(path, html) for path in paths] == ["new", "duplicate", "duplicate"]


def test_a_long_text_and_what_is_sold_are_pages(site) -> None:
    offer = """<script type="application/ld+json">{"@type": "Product", "name": "Page not found",
        "sku": "A1", "offers": {"price": "9.99", "priceCurrency": "EUR"}}</script>"""
    for kind, said in (("long", text(1, 300)), ("sold", f"{offer}A print. {text(2, 40)}")):
        html = f"<title>Page not found</title><h1>Page not found</h1><p>{said}</p>"
        assert [site.visit(f"/{kind}/{n}", html) for n in "ab"] == ["new", "duplicate"]


def test_a_redirect_that_takes_the_address_along_leads_to_a_wall(site) -> None:
    outcomes = [
        site.visit(f"/hello?next={path}", WALL, SITE + path)
        for path in ("/a", "/b", "/b", "/c", "/d")
    ]
    assert outcomes[3:] == ["blocked", "blocked"]
    assert "blocked" not in outcomes[:3]
    assert site.kept == []


@pytest.mark.parametrize(
    "texts",
    [
        (
            "第1条新闻2024年发布",
            "第2条公告2023年更新了价格",
            "第3号产品的规格为50厘米",
            "第4场比赛以3比2结束",
        ),
        (
            "Big red cat ate my fat rat.",
            "Sun and sea for all men.",
            "Buy ten, get two.",
            "A day off.",
        ),
    ],
)
def test_pages_of_short_words_behind_such_redirects_are_pages(site, texts) -> None:
    """Scripts without word spaces have words of one character."""
    outcomes = [
        site.visit(
            f"/view?from=/p{n}",
            f"<title>{text[:9]}</title><h1>{text[:9]}</h1><p>{f'{text} ' * 3}</p>",
            f"{SITE}/p{n}",
        )
        for n, text in enumerate(texts)
    ]
    assert outcomes == ["new"] * len(texts)


def test_other_redirects_to_one_page_are_copies(site) -> None:
    outcomes = [site.visit("/hello", WALL) for _ in range(5)]
    assert outcomes == ["new"] + 4 * ["duplicate"]
    assert site.kept == ["/hello"]


def test_one_text_where_other_pages_were_is_none(site) -> None:
    for n in range(5):
        site.visit(f"/{n}", story(n))
    site.new_run()
    outcomes = [site.visit(f"/{n}", WALL) for n in range(4)]
    assert outcomes[2:] == ["blocked", "blocked"]
    assert not any(record.title == "Hello" for record in site.store.records())
    site.new_run()
    assert [site.visit(f"/{n}", story(n)) for n in range(5)] == 5 * ["unchanged"]


def test_texts_that_differ_where_other_pages_were_are_new_texts(site) -> None:
    for n in range(5):
        site.visit(f"/{n}", story(n))
    site.new_run()
    outcomes = [site.visit(f"/{n}", f"{WALL}<p>It costs {n + 7} crowns.</p>") for n in range(5)]
    assert "blocked" not in outcomes


def test_another_crawl_keeps_what_was_blocked(site) -> None:
    wall = WALL.replace("Hello", "Robot check")
    assert [site.visit(f"/{n}", wall) for n in range(3)] == ["new", "blocked", "blocked"]
    site.new_run()
    assert [site.visit(f"/{n}", story(n)) for n in range(3)] == ["new", "new", "new"]


def test_another_crawl_knows_at_once_what_calls_itself_no_page(site) -> None:
    assert [site.visit(path, MISSING) for path in ("/a", "/b")] == ["new", "soft_404"]
    site.new_run()
    assert site.visit("/c", MISSING) == "soft_404"
    assert site.visit("/d", MISSING.replace("no such page", "nothing")) == "new"
    assert site.kept == ["/d"]


def test_a_judge_that_knows_no_visits_knows_answers(site) -> None:
    assert [site.visit(path, MISSING, history=0) for path in ("/a", "/b")] == ["new", "soft_404"]


@pytest.mark.parametrize(
    ("status", "headers", "service"),
    [
        (200, {"cf-mitigated": "challenge"}, "Cloudflare"),
        (403, {"cf-mitigated": "challenge"}, "Cloudflare"),
        (202, {"x-amzn-waf-action": "challenge"}, "AWS WAF"),
        (429, {}, "the server (too many requests)"),
        (403, {"server": "AkamaiGHost"}, "Akamai"),
        (403, {"server": "nginx"}, ""),
        (503, {"retry-after": "60"}, ""),
        (200, {"server": "AkamaiGHost", "x-iinfo": "1-2-3", "x-datadome": "protected"}, ""),
    ],
)
def test_services_say_by_headers_that_they_block(status, headers, service) -> None:
    assert blocking_service(status, lambda name: headers.get(name, "").encode()) == service


def test_a_name_of_trackers_that_chooses_the_page_makes_no_wall_of_it(site) -> None:
    pages = [(f"/{city}?trk={n}", story(n)) for city in ("wien", "bern", "rom") for n in range(4)]
    for _ in range(3):
        outcomes = {site.visit(path, html) for path, html in pages}
        assert "blocked" not in outcomes
        site.new_run()
        pages.reverse()
