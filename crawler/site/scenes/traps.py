"""Traps: pages without an end, and articles beside them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from random import Random

from crawler.site.articles import Article, Block
from crawler.site.content import Content, Link, also, listing
from crawler.site.prose import Writer
from crawler.site.scenes.scene import Address, Found, Scene


class Trap(Scene):
    """Articles with one URL each, and a trap; some of them are linked behind its doors alone.

    Its `doors` also stand before the features: a tenth of the articles, which no other list has.
    """

    def shelf(self, article: Article) -> str:
        return "/features" if article.number % 10 == 3 else super().shelf(article)

    def make_shelves(self, by_list: dict[str, list[Link]]) -> None:
        entries = [*self.doors, *by_list.pop("/features", [])]
        self.lists |= listing("/features", "Features", entries)
        self.more.append(Link("/features", "Features"))
        super().make_shelves(by_list)

    def elsewhere(self, address: Address, hit: int) -> Found | None:
        # The same at each visit.
        page = self.inside(address, Random(f"{self.seed}/trap/{address}"))
        return Found(page, str(address), trap=True) if page else None

    def inside(self, address: Address, rng: Random) -> Content | None:
        """Return the page of the trap at an address; None if the trap has none there."""
        return None

    def teasers(self, rng: Random, count: int = 8) -> tuple[Link, ...]:
        """Return links to some articles."""
        return self.some("trap", count, rng)


class Calendar(Trap):
    """Months without an end, each with a link to the next one and to its days."""

    doors = (Link("/calendar/2024/06", "What is on this month"),)

    def inside(self, address: Address, rng: Random) -> Content | None:
        kind, *numbers = address.parts
        if kind != "calendar" or not 2 <= len(numbers) <= 3:
            return None
        try:
            year, month, day = (*map(int, numbers), 1)[:3]
            stand_in = date(2000 + year % 400, month, day)  # the calendar comes back in 400 years
        except ValueError:
            return None
        if len(numbers) == 3:
            return self._day(year, stand_in, rng)
        before, after = (
            f"/calendar/{months // 12}/{months % 12 + 1:02}"
            for months in (12 * year + month - 2, 12 * year + month)
        )
        days = sorted(rng.sample(range(1, 29), rng.randint(2, 6)))
        entries = [Link(f"/calendar/{year}/{month:02}/{day:02}", self._event(rng)) for day in days]
        return Content(
            title=f"Events in {stand_in:%B} {year}",
            design="table",
            entries=tuple(entries),
            formats=(Link(before, "Previous month"), Link(after, "Next month")),
            related=self.teasers(rng),
        )

    def find(self, address: Address, hit: int) -> Found | None:
        found = super().find(address, hit)
        if found is None or not found.trap:
            return found
        published = [
            self.link(article, "calendar")
            for article in self.articles
            if f"/calendar/{article.published:%Y/%m}" == f"/{'/'.join(address.parts)}"
        ]
        if not published:
            return found
        return Found(replace(found.page, entries=(*found.page.entries, *published)), found.key)

    def _day(self, year: int, day: date, rng: Random) -> Content:
        events = [Block("p", (self._event(rng),)) for _ in range(rng.randint(1, 3))]
        other = day + timedelta(days=rng.choice([1, 7]))
        href = f"/calendar/{year + other.year - day.year}/{other:%m/%d}"
        return Content(
            title=f"{day:%d %B} {year}",
            blocks=tuple(events),
            formats=(Link(href, "Next"), Link(f"/calendar/{year}/{day:%m}", "Whole month")),
            related=self.teasers(rng),
        )

    def _event(self, rng: Random) -> str:
        writer = Writer("en", "culture", Random(f"{self.seed}/event/{rng.randrange(40)}"))
        return f"{writer.write('thing')} at {rng.randint(9, 21)}:{rng.choice(['00', '30'])}"


class Path(Trap):
    """Relative links without a slash before them: each page is also below itself."""

    doors = (Link("/guide/", "City guide"),)
    steps = ("sights", "food", "hotels", "maps")

    def inside(self, address: Address, rng: Random) -> Content | None:
        kind, *way = address.parts
        if kind != "guide" or not set(way) <= {*self.steps}:
            return None
        links = tuple(Link(f"{step}/", step.title()) for step in self.steps)
        title = " › ".join(["Guide", *map(str.title, way)])
        entries = self.teasers(rng, 12)
        return Content(title=title, entries=entries, formats=links, related=self.teasers(rng))


class Maze(Trap):
    """Prose that a machine wrote, another one on each page, with links to more of it."""

    doors = (Link("/research/", "Research"),)

    def inside(self, address: Address, rng: Random) -> Content | None:
        kind, *rest = address.parts
        if kind != "research" or len(rest) > 2:
            return None
        writer = Writer.of_any_topic(rng)
        blocks = tuple(
            Block("p", tuple(writer.several("sentence", rng.randint(2, 4))))
            for _ in range(rng.randint(4, 9))
        )
        links = []
        for _ in range(8):
            other = Writer.of_any_topic(rng)
            title = other.write("headline")
            slug = "-".join(word for word in title.lower().split()[:6] if word.isalnum())
            links.append(Link(f"/research/{other.topic}/{slug}-{rng.getrandbits(24):06x}", title))
        entries, title = tuple(links), writer.write("headline")
        return Content(title=title, blocks=blocks, entries=entries, related=entries[:3])


class SessionPath(Trap):
    """A copy of the site for each visitor: every page of it leads on under a new id in the path."""

    doors = (Link("/s/welcome/front", "My Daily Miniature"),)

    def elsewhere(self, address: Address, hit: int) -> Found | None:
        kind, _, rest = address.path.removeprefix("/").partition("/")
        session, _, inner = rest.partition("/")
        if kind != "s" or not inner:
            return None
        rng = Random(f"{self.seed}/session/{address}/{hit}")

        def in_session(link: Link) -> Link:
            return link._replace(href=f"/s/{rng.getrandbits(80):020x}{link.href}")

        front = in_session(Link("/front", "My front page"))
        teasers = tuple(map(in_session, self.teasers(rng, 12)))
        if inner == "front":
            page = Content(title="My Daily Miniature", entries=(front, *teasers))
            return Found(page, f"/s/{session}/front/{hit}", trap=True)
        if article := self.bases.get(f"/{inner}"):
            found = self.found(article, address, trap=True)
            return found._replace(page=replace(found.page, related=teasers, formats=(front,)))
        return None


class Soft404(Trap):
    """A site that never says that a page is missing, and names others that are missing too."""

    doors = (Link("/offers/summer", "Offers"),)

    def inside(self, address: Address, rng: Random) -> Content | None:
        words = address.path.strip("/").replace("-", " ").replace("/", " ").split()
        wanted = " ".join(words[-4:])
        guesses = []
        for _ in range(6):
            title = Writer.of_any_topic(rng).write("thing")
            slug = "-".join(title.lower().split())
            guesses.append(Link(f"/{slug}/{'-'.join(words[-1:])}-{rng.randint(1, 999)}", title))
        sorry = f"We could not find “{wanted}”. Perhaps you are looking for one of these."
        return Content(
            title=f"Results for {wanted}",
            blocks=(Block("p", (sorry,)),),
            entries=(*guesses, *self.teasers(rng)),
        )


FACETS = {
    "colour": ("red", "blue", "green", "black", "white", "grey"),
    "size": ("xs", "s", "m", "l", "xl", "xxl"),
    "brand": ("alder", "bexford", "calder", "dunmore", "elmworth", "fernley"),
    "material": ("cotton", "linen", "wool", "silk", "denim", "felt"),
    "price": ("0-20", "20-40", "40-60", "60-80", "80-100", "100-200"),
    "rating": ("1", "2", "3", "4", "5", "none"),
    "delivery": ("today", "tomorrow", "week", "month", "shop", "mail"),
}
ORDERS = ("date", "title", "length", "section", "author", "views", "comments", "rating")


class Filters(Trap):
    """A catalogue where each filter can be added to all others, in any order, on pages of its own.

    There is always a next page.
    """

    doors = (Link("/catalogue", "Catalogue"),)

    def inside(self, address: Address, rng: Random) -> Content | None:
        if address.path != "/catalogue":
            return None
        chosen = {value for name, value in address.query if value in FACETS.get(name, ())}
        more = tuple(
            Link(also(str(address), f"{name}={value}"), value)
            for name, values in FACETS.items()
            for value in rng.sample(values, 2)
            if value not in chosen
        )
        page = address.first("page", "1")
        after = int(page) + 1 if page.isdecimal() else 2
        next_page = Link(also(str(address.without({"page"})), f"page={after}"), "Next page")
        title = ", ".join(["Catalogue", *sorted(chosen)])
        return Content(title=title, entries=self.teasers(rng, 12), formats=(*more, next_page))


class Sort(Trap):
    """A list that is sorted by any keys, one after the other, upwards and downwards."""

    doors = (Link("/browse?sort=date", "Browse all"),)

    def inside(self, address: Address, rng: Random) -> Content | None:
        if address.path != "/browse":
            return None
        sort = address.first("sort", "date")
        more = tuple(
            Link(f"/browse?sort={sort},{sign}{key}", f"then by {key}")
            for key in ORDERS
            for sign in ("", "-")
        )
        return Content(title="Browse", entries=self.teasers(rng, 20), formats=more)


class ReplyToCom(Trap):
    """Comments that are answered: each answer has a form, on a page like the article's own."""

    doors = (Link("/comments?before=900000", "Recent comments"),)

    def inside(self, address: Address, rng: Random) -> Content | None:
        before = address.first("before")
        if address.path != "/comments" or not before.lstrip("-").isdecimal():
            return None
        found, links = [], []
        for number in range(int(before) - 10, int(before)):
            article = self.articles[number % len(self.articles)]
            write = Writer.of_any_topic(rng).write
            comment = f"{write('person')}: {write('comment')}"
            found.append(Block("p", (comment, write("sentence"))))
            links.append(Link(also(article.path, f"replytocom={number}"), "Reply"))
        older = Link(f"/comments?before={int(before) - 10}", "Older comments")
        return Content(
            title=f"Comments before {before}",
            blocks=tuple(found),
            entries=(*links, older),
            formats=(older,),
        )

    def find(self, address: Address, hit: int) -> Found | None:
        article = self.bases.get(address.without({"replytocom"}).plain())
        if article is None or not address.first("replytocom"):
            return super().find(address, hit)
        return self.found(article, address, trap=True)


TRAPS: dict[str, type[Trap]] = {
    "calendar": Calendar,
    "filters": Filters,
    "path": Path,
    "session-path": SessionPath,
    "sort": Sort,
    "soft404": Soft404,
    "maze": Maze,
    "replytocom": ReplyToCom,
}
