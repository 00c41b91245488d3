"""A small site of an everyday kind: a shop, news, reports, a forum, an archive behind a sign-in.

Each crawl asks below a path of its own, so that many can share one server: what it has asked
before, and whether it has signed in, is known of it alone. The site has two editions: what has
changed between them is little.
"""

import contextlib
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qsl, urlsplit

from tests.crawls.harness import PLAIN_TEXT, Answer, html_answer, serving, text

CATEGORIES = "lamps", "chairs", "tables"
LANGUAGES = {"en": "Welcome", "de": "Willkommen", "fr": "Bienvenue"}
RATES = {"eur": 100, "usd": 110, "chf": 95}
PROXIES = {"north": "usd", "south": "chf"}
SEASONS = 4
MONTHS = 8
TICKETS = 6
ROWS = 5
CSRF = "9c2f61d0"
ENDS_AFTER = 4
"""Pages that a session lasts."""


@dataclass
class Asked:
    """A request: what is asked, by which crawl, of which edition of the site."""

    crawl: str
    path: str
    query: dict[str, str]
    form: dict[str, str]
    headers: dict[str, str]
    edition: int
    times: Callable[[str], int]
    """Counts how often this crawl did something, this time with it."""

    @property
    def cookies(self) -> dict[str, str]:
        parsed = SimpleCookie(self.headers.get("cookie", ""))
        return {name: each.value for name, each in parsed.items()}

    @property
    def currency(self) -> str:
        """Who asks through a proxy is a customer of its country; a cookie says it for others."""
        proxy = self.headers.get("proxy-country", "")
        return PROXIES.get(proxy) or self.cookies.get("currency", "eur")

    def layout(self, title: str, body: str, *, nav: str = "", lang: str = "en") -> Answer:
        """Return a page in the furniture of the site, with links below the path of this crawl."""
        menu = "".join(f'<a href="/c/{each}">{each.title()}</a> ' for each in CATEGORIES)
        html = f"""<!doctype html><html lang="{lang}"><head><meta charset="utf-8">
        <title>{title} - Everyday</title></head><body>
        <header><nav><a href="/">Home</a> {menu}<a href="/news">News</a> {nav}</nav></header>
        <main><h1>{title}</h1>{body}</main>
        <footer><a href="/imprint">Imprint</a> Everyday Trading, 4 Harbour Road</footer>
        </body></html>"""
        return html_answer(re.sub(r'(href|action|src)="/', rf'\1="/{self.crawl}/', html))


Page = Callable[..., Answer]
_pages: list[tuple[re.Pattern[str], Page]] = []


def at(pattern: str) -> Callable[[Page], Page]:
    """Let a function answer the requests whose whole path is of a pattern."""

    def placed(page: Page) -> Page:
        _pages.append((re.compile(pattern), page))
        return page

    return placed


def name_of(number: int) -> str:
    return " ".join(text(5_000 + number, 3).replace(".", "").split()).title()


def sentences(seed: int, words: int) -> str:
    return "".join(f"<p>{part}.</p>" for part in text(seed, words).split(". "))


# The shop.


def products(edition: int) -> range:
    """Return the numbers of the products: a new one comes with the second edition."""
    return range(12 + (edition > 1))


def price(number: int, asked: Asked) -> str:
    """Return the price for a customer; two have risen with the second edition."""
    cents = 1090 + 300 * number + (500 if asked.edition > 1 and number in (3, 7) else 0)
    cents = cents * RATES[asked.currency] // 100
    return f"{cents // 100}.{cents % 100:02} {asked.currency.upper()}"


def cards(numbers: list[int], asked: Asked) -> str:
    return "".join(
        f'<div class="card"><a href="/p/{n}">{name_of(n)}</a>'
        f' <span class="price">{price(n, asked)}</span></div>'
        for n in numbers
    )


SEARCH = '<form action="/search" method="post"><input name="q"><button>Search</button></form>'


@at("/")
def front(asked: Asked) -> Answer:
    offers = cards([0, 4, 8], asked)
    entries = "".join(
        f'<li><a href="/{each}">{each.title()}</a></li>'
        for each in ("news", "reports", "forum", "events", "weather", "league", "branches")
    )
    title = LANGUAGES.get(asked.headers.get("accept-language", "en")[:2], "Welcome")
    return asked.layout(title, f"{sentences(1, 60)}{offers}<ul>{entries}</ul>{SEARCH}")


@at(r"/c/(\w+)")
def category(asked: Asked, name: str) -> Answer:
    number, page = CATEGORIES.index(name), int(asked.query.get("page", 1))
    listed = [n for n in products(asked.edition) if n % len(CATEGORIES) == number]
    if asked.query.get("sort") == "price":
        listed.reverse()
    shown = listed[(page - 1) * 3 : page * 3]
    further = f'<a class="next" href="/c/{name}?page={page + 1}">Next page</a>'
    return asked.layout(name.title(), cards(shown, asked) + (further if listed[page * 3 :] else ""))


@at(r"/p/(\d+)")
def product(asked: Asked, number: str) -> Answer:
    n = int(number)
    if n not in products(asked.edition):
        return Answer(b"Gone", 404)
    new = f"<p>{text(900 + n, 9)}.</p>" if asked.edition > 1 and n == 5 else ""
    related = cards([(n + 1) % 12, (n + 5) % 12], asked)
    body = f"""<p class="price">{price(n, asked)}</p>
    <div class="description">{sentences(n, 70)}{new}</div>
    <p><a class="reviews" href="/p/{n}/reviews">Reviews</a>
    <a class="shipping" href="/p/{n}/shipping">Delivery</a>
    <a class="add" href="/p/{n}/stock">Is it there?</a></p>
    <aside><h2>Others bought</h2>{related}</aside>"""
    return asked.layout(name_of(n), body)


@at(r"/p/(\d+)/reviews")
def reviews(asked: Asked, number: str) -> Answer:
    n = int(number)
    reviewed = {1, 6} | ({4} if asked.edition > 1 else set())
    said = "".join(f'<div class="review">{sentences(1_000 + 10 * n + k, 30)}</div>' for k in (1, 2))
    none = """<p>No reviews yet. Be the first to write a review about this product, and tell other
    customers what you think of it, please.</p>"""
    return asked.layout("Reviews", said if n in reviewed else none)


@at(r"/p/(\d+)/shipping")
def shipping(asked: Asked, number: str) -> Answer:
    """Two of three are delivered in the same way, the others by forwarders."""
    heavy = int(number) % 3 == 2
    days = "12" if heavy else "3"
    return asked.layout("Delivery", f'<p class="days">{days} days</p>{sentences(40 + heavy, 60)}')


@at(r"/p/(\d+)/stock")
def stock(asked: Asked, number: str) -> Answer:
    left = (int(number) * 7 + 4 * (asked.edition > 1 and number == "2")) % 5
    words = f"{left} pieces are left in our store" if left else "Sold out at the moment, sorry"
    return asked.layout("Is it there?", f'<p class="stock">{words}.</p>')


@at("/search")
def search(asked: Asked) -> Answer:
    wanted = {**asked.query, **asked.form}.get("q", "").lower()
    if not wanted:
        return asked.layout("Search", SEARCH)
    found = [n for n in products(asked.edition) if wanted in name_of(n).lower()]
    none = "<p>Nothing was found. Try other words, or look at what is new in our shop.</p>"
    return asked.layout("Search", SEARCH + (cards(found, asked) or none))


@at("/currency")
def currency(asked: Asked) -> Answer:
    chosen = {**asked.query, **asked.form}.get("currency", "eur")
    return moved(asked, "/", {"Set-Cookie": f"currency={chosen}; Path=/{asked.crawl}"})


def moved(asked: Asked, path: str, headers: dict[str, str] | None = None) -> Answer:
    return Answer(b"", 302, {"Location": f"/{asked.crawl}{path}", **(headers or {})})


@at("/feed")
def feed(asked: Asked) -> Answer:
    more = '<button data-cursor="4">More</button>'
    return asked.layout("All we have", cards([*products(asked.edition)][:4], asked) + more)


@at("/feed/more")
def more(asked: Asked) -> Answer:
    """Return the next cards, without furniture, as a script would ask for them."""
    offset = int(asked.query["offset"])
    shown = [*products(asked.edition)][offset : offset + 4]
    return html_answer(cards(shown, asked).replace('href="/', f'href="/{asked.crawl}/'))


@at("/api/feed")
def api_feed(asked: Asked) -> Answer:
    cursor = int(asked.query["cursor"])
    shown = [*products(asked.edition)][cursor : cursor + 4]
    entries = [{"id": n, "url": f"/{asked.crawl}/p/{n}", "name": name_of(n)} for n in shown]
    return json_answer({"entries": entries, "next": cursor + 4 if len(shown) == 4 else None})


def json_answer(value: object) -> Answer:
    return Answer(json.dumps(value).encode(), headers={"Content-Type": "application/json"})


# News.


def articles(edition: int) -> range:
    return range(9 + (edition > 1))


def story(number: int, edition: int) -> str:
    told = sentences(2_000 + number, 120)
    return told + (f"<p>{text(2_900, 15)}.</p>" if edition > 1 and number == 2 else "")


@at("/news")
def news(asked: Asked) -> Answer:
    page, listed = int(asked.query.get("page", 1)), [*articles(asked.edition)][::-1]
    shown = "".join(
        f'<li><a class="story" href="/news/{n}">{name_of(600 + n)}</a></li>'
        for n in listed[(page - 1) * 5 : page * 5]
    )
    further = f'<a class="next" href="/news?page={page + 1}">Older</a>' if page < 2 else ""
    return asked.layout("News", f"<ul>{shown}</ul>{further}")


@at(r"/news/(\d+)")
def article(asked: Asked, number: str) -> Answer:
    n = int(number)
    tags = "".join(f'<a class="tag" href="/tag/{n % 3 + k}">Tag {n % 3 + k}</a> ' for k in (0, 1))
    body = f"""<article>{story(n, asked.edition)}</article><p>{tags}
    <a class="print" href="/news/{n}/print">Print</a></p>"""
    return asked.layout(name_of(600 + n), body)


@at(r"/news/(\d+)/print")
def print_view(asked: Asked, number: str) -> Answer:
    n = int(number)
    title = name_of(600 + n)
    return html_answer(
        f"<html><head><title>{title}</title></head><body><h2>{title}</h2>"
        f'<div class="printed">{story(n, asked.edition)}</div></body></html>'
    )


@at(r"/tag/(\d+)")
def tag(asked: Asked, number: str) -> Answer:
    listed = [n for n in articles(asked.edition) if int(number) in (n % 3, n % 3 + 1)]
    entries = "".join(
        f'<li><a class="story" href="/news/{n}">{name_of(600 + n)}</a></li>' for n in listed
    )
    return asked.layout(f"Tag {number}", f"<ul>{entries}</ul>")


@at("/welcome")
def welcome(asked: Asked) -> Answer:
    """Say the same address in another language, as the browser asks for it."""
    lang = asked.headers.get("accept-language", "en")[:2]
    seed = 3_000 + [*LANGUAGES].index(lang) * 10 + (asked.edition > 1 and lang == "de")
    return asked.layout(LANGUAGES[lang], sentences(seed, 90), lang=lang)


@at(r"/help/(\d)")
def help_page(asked: Asked, number: str) -> Answer:
    """Return a page whose menu is translated, and whose text is in English for all."""
    lang = asked.headers.get("accept-language", "en")[:2]
    n = int(number)
    more = f"<p>{text(3_600, 12)}.</p>" if asked.edition > 1 and n == 1 else ""
    body = sentences(3_500 + n, 80) + more
    return asked.layout(name_of(3_500 + n), body, nav=LANGUAGES[lang], lang=lang)


# Lists, tables and short pages.


@at("/reports")
def reports(asked: Asked) -> Answer:
    listed = range(8 + (asked.edition > 1))
    entries = "".join(f'<li><a class="report" href="/reports/{n}">Report</a></li>' for n in listed)
    return asked.layout("Reports", f"<ul>{entries}</ul>")


@at(r"/reports/(\d+)")
def report(asked: Asked, number: str) -> Answer:
    """Return a page that says what the others say: it leads to another file."""
    edition = "b" if asked.edition > 1 and number == "2" else "a"
    file = f'<a class="file" href="/files/{number}{edition}.pdf">Download</a>'
    return asked.layout("Report", f"<p>The report is here for you to keep, as a PDF.</p>{file}")


@at(r"/files/(\w+)\.pdf")
def file(asked: Asked, name: str) -> Answer:
    return Answer(b"%PDF-1.4 " + name.encode() * 40, headers={"Content-Type": "application/pdf"})


@at("/weather")
def weather(asked: Asked) -> Answer:
    links = "".join(f'<a class="station" href="/weather/{n}">{name_of(n)}</a> ' for n in range(8))
    return asked.layout("Weather", links)


@at(r"/weather/(\d+)")
def station(asked: Asked, number: str) -> Answer:
    """Return a page of few words: two stations often say the same."""
    degrees = int(number) // 2 + 10 + (asked.edition > 1 and number in "14")
    words = f'<p>It has <b class="degrees">{degrees}</b> degrees, and the wind comes from the west.'
    return asked.layout("Station", f"{words}</p>")


@at("/events")
def events(asked: Asked) -> Answer:
    month = int(asked.query.get("month", 1))
    planned = {2: 2, 5: 1, **({6: 1} if asked.edition > 1 else {})}.get(month, 0)
    shown = "".join(
        f'<li class="event">{name_of(700 + 10 * month + k)}</li>' for k in range(planned)
    )
    none = "<p>No events are planned for this month. Come back later, or look at the next ones.</p>"
    return asked.layout("Events", f"<ul>{shown}</ul>" if shown else none)


@at("/league")
def league(asked: Asked) -> Answer:
    """Return a table of a season: the same clubs, other points."""
    season = int(asked.query.get("season", 1))
    late = asked.edition > 1 and season == SEASONS
    rows = "".join(
        f"<tr><td>{name_of(800 + n)}</td><td>{(n * 7 + season * 5) % 23 + 3 * (late and n == 2)}"
        "</td></tr>"
        for n in range(10)
    )
    return asked.layout("League", f"<table><tr><th>Club</th><th>Points</th></tr>{rows}</table>")


@at("/branches")
def branches(asked: Asked) -> Answer:
    links = "".join(f'<a class="branch" href="/branches/{n}">{name_of(n)}</a> ' for n in range(6))
    return asked.layout("Branches", links)


@at(r"/branches/(\d+)")
def branch(asked: Asked, number: str) -> Answer:
    n = int(number)
    closes = 19 if asked.edition > 1 and n == 3 else 18
    body = f"""<p class="city">{name_of(820 + n)}</p><p>Open from 9 to {closes}, also for you.</p>
    <a class="hours" href="/branches/{n}/hours">Holidays</a>"""
    return asked.layout(f"Branch {n}", body)


@at(r"/branches/(\d+)/hours")
def hours(asked: Asked, number: str) -> Answer:
    return asked.layout("Holidays", f'<p class="closed">December 25</p>{sentences(830, 40)}')


@at("/forum")
def forum(asked: Asked) -> Answer:
    links = "".join(f'<a class="thread" href="/forum/{n}">{name_of(n)}</a> ' for n in range(4))
    return asked.layout("Forum", links)


@at(r"/forum/(\d+)")
def thread(asked: Asked, number: str) -> Answer:
    """Return a page of a thread: its posts quote each other, and many say thanks."""
    n, page = int(number), int(asked.query.get("page", 1))
    posts = [f"{text(4_000 + n, 25)}. Thanks, that has helped me a lot. Number {page}"]
    posts += ["Thanks, that has helped me a lot."] * 3
    if asked.edition > 1 and n == 1 and page == 2:
        posts.append(f"{text(4_500, 20)}.")
    shown = "".join(f'<div class="post">{post}</div>' for post in posts)
    further = f'<a class="next" href="/forum/{n}?page=2">Next</a>' if page < 2 else ""
    return asked.layout(name_of(n), shown + further)


@at("/archive")
def archive(asked: Asked) -> Answer:
    """Return a table whose pages are asked for by POST, with the state of the page before."""
    page = int(asked.form.get("__EVENTARGUMENT") or 1)
    if page > 1 and asked.form.get("__VIEWSTATE") != f"state of {page - 1}":
        return Answer(b"Invalid viewstate", 500)
    listed = range(3 * ROWS + 2 * (asked.edition > 1))
    rows = "".join(
        f"<tr><td>{n}</td><td>{name_of(850 + n + 50 * (asked.edition > 1 and n == 6))}</td></tr>"
        for n in listed[(page - 1) * ROWS : page * ROWS]
    )
    last = -(-len(listed) // ROWS)
    body = f"""<form action="/archive" method="post">
    <input type="hidden" name="__VIEWSTATE" value="state of {page}">
    <input type="hidden" name="__EVENTTARGET"><input type="hidden" name="__EVENTARGUMENT">
    <table>{rows}</table><p class="pages">Page {page} of {last}</p></form>"""
    return asked.layout("Archive", body)


# What needs a session, or time.


@at("/login")
def login(asked: Asked) -> Answer:
    if asked.form.get("password") != "secret" or asked.form.get("csrf") != CSRF:
        return asked.layout("Sign in", sign_in())
    session = f"{asked.crawl}.{asked.times('login')}"
    return moved(asked, "/account", {"Set-Cookie": f"session={session}; Path=/{asked.crawl}"})


def sign_in() -> str:
    return f"""<p>Please sign in to see this page.</p><form action="/login" method="post">
    <input type="hidden" name="csrf" value="{CSRF}"><input name="user">
    <input name="password" type="password"><button>Sign in</button></form>
    {sentences(870, 40)}"""


@at("/account")
def account(asked: Asked) -> Answer:
    if not asked.cookies.get("session"):
        return asked.layout("Your account", sign_in())
    body = '<p>You are signed in.</p><a class="orders" href="/orders">Your orders</a>'
    return asked.layout("Your account", body + sentences(870, 40))


@at("/orders")
def orders(asked: Asked) -> Answer:
    listed = range(8 + (asked.edition > 1))
    links = "".join(f'<a class="order" href="/orders/{n}">Order {n}</a> ' for n in listed)
    return asked.layout("Orders", links)


@at(r"/orders/(\d+)")
def order(asked: Asked, number: str) -> Answer:
    """Return an order to who is signed in; a session lasts for some pages only."""
    session = asked.cookies.get("session")
    if not session or asked.times(f"session {session}") > ENDS_AFTER:
        return asked.layout("Sign in", sign_in())
    sent = "delivered" if asked.edition > 1 and number == "3" else "on its way"
    body = f'<p class="state">{sent}</p><p>{name_of(int(number))}</p>{sentences(880, 30)}'
    return asked.layout(f"Order {number}", body)


@at("/export")
def export(asked: Asked) -> Answer:
    links = "".join(f'<a class="job" href="/export/{n}">Start</a> ' for n in range(TICKETS))
    return asked.layout("Exports", links)


@at(r"/export/(\d+)")
def job(asked: Asked, number: str) -> Answer:
    """Ask to come again twice; then say the result."""
    if asked.times(f"export {number}") < 3:
        words = "Your export is being prepared. This takes a moment: please load this page again."
        return asked.layout("Export", f'<p class="wait">{words}</p>')
    lines = int(number) * 3 + 40 + (asked.edition > 1 and number in "15")
    return asked.layout("Export", f'<p class="lines">{lines}</p>{sentences(890 + int(number), 30)}')


@at(r"/busy/(\d+)")
def busy(asked: Asked, number: str) -> Answer:
    """Say to every second request that there are too many, with the status of a page."""
    if asked.times("busy") % 2:
        words = "There are too many visitors at the moment. Please try again in a few seconds."
        return asked.layout("Busy", f'<p class="busy">{words}</p>{sentences(895, 30)}')
    return product(asked, number)


@at(r"/broken/(\d+)")
def broken(asked: Asked, number: str) -> Answer:
    if asked.times(f"broken {number}") < 2:
        return Answer(b"Service unavailable", 503)
    return product(asked, number)


# For machines.


@at("/robots.txt")
def robots(asked: Asked) -> Answer:
    where = f"http://{asked.headers['host']}/{asked.crawl}/sitemap.xml"
    return Answer(f"User-agent: *\nSitemap: {where}\n".encode(), headers=PLAIN_TEXT)


@at("/sitemap.xml")
def sitemap_index(asked: Asked) -> Answer:
    root = f"http://{asked.headers['host']}/{asked.crawl}"
    entries = "".join(
        f"<sitemap><loc>{root}/sitemap-{n}.xml</loc></sitemap>" for n in ("shop", "news")
    )
    return xml(f"<sitemapindex xmlns='{NAMESPACE}'>{entries}</sitemapindex>")


NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


@at(r"/sitemap-(\w+)\.xml")
def sitemap(asked: Asked, name: str) -> Answer:
    root = f"http://{asked.headers['host']}/{asked.crawl}"
    paths = [f"/p/{n}" for n in products(asked.edition)]
    if name == "news":
        paths = [f"/news/{n}" for n in articles(asked.edition)] + ["/", "/news"]
    entries = "".join(f"<url><loc>{root}{path}</loc></url>" for path in paths)
    return xml(f"<urlset xmlns='{NAMESPACE}'>{entries}</urlset>")


def xml(text: str) -> Answer:
    return Answer(text.encode(), headers={"Content-Type": "application/xml"})


@contextlib.contextmanager
def everyday_site(
    edit: Callable[[str, str, bytes], bytes] = lambda agent, path, body: body,
) -> Iterator[str]:
    """Serve the site on loopback; yield its URL. Who asks for `/edition/N` publishes an edition.

    HTML is what `edit` makes of it, from the `User-Agent`, the path with its query, and the body.
    """
    edition = 1
    counted: Counter[tuple[str, str]] = Counter()
    counting = threading.Lock()

    def answer(request: BaseHTTPRequestHandler) -> Answer:
        nonlocal edition
        asked_url = urlsplit(request.path)  # of a proxy the whole URL is asked
        _, crawl, path = (*asked_url.path.split("/", 2), "")[:3]
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = request.rfile.read(int(headers.get("content-length") or 0)).decode()
        if crawl == "edition":
            edition = int(path)
            counted.clear()
            return Answer(b"published", headers=PLAIN_TEXT)
        form = dict(parse_qsl(body))

        def times(what: str) -> int:
            with counting:
                counted[crawl, what] += 1
                return counted[crawl, what]

        query = dict(parse_qsl(asked_url.query))
        answer = answer_to(Asked(crawl, f"/{path}", query, form, headers, edition, times))
        if answer.status == 200 and answer.headers.get("Content-Type", "").startswith("text/html"):
            target = asked_url._replace(scheme="", netloc="").geturl()
            answer.body = edit(headers.get("user-agent", ""), target, answer.body)
        return answer

    with serving(answer) as url:
        yield url


def answer_to(asked: Asked) -> Answer:
    for pattern, page in _pages:
        if match := pattern.fullmatch(asked.path):
            return page(asked, *match.groups())
    return Answer(b"Not here", 404)
