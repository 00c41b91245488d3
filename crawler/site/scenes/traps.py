"""Traps: articles with one URL each, beside pages that have no end."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from datetime import date, timedelta
from random import Random
from typing import TYPE_CHECKING

from crawler.site.articles import Block
from crawler.site.content import Content, Link
from crawler.site.listings import listing
from crawler.site.prose import Writer, grammar
from crawler.site.scenes.scene import Found, Scene, also, dated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.site.articles import Article
    from crawler.site.scenes.scene import Address


FACETS = {
    "colour": ("red", "blue", "green", "black", "white", "grey"),
    "size": ("xs", "s", "m", "l", "xl", "xxl"),
    "brand": ("alder", "bexford", "calder", "dunmore", "elmworth", "fernley"),
    "material": ("cotton", "linen", "wool", "silk", "denim", "felt"),
    "price": ("0-20", "20-40", "40-60", "60-80", "80-100", "100-200"),
    "rating": ("1", "2", "3", "4", "5", "none"),
    "delivery": ("today", "tomorrow", "week", "month", "shop", "mail"),
}


class Trap(Scene):
    """Articles with one URL each, and a trap; some of them are linked behind its doors alone.

    A door stands in the middle of the home page and of each section, and before the features: a
    tenth of the articles, which no other list has.
    """

    door = Link("/", "")
    """Where the trap begins."""

    def base(self, article: Article) -> str:
        """Return the only URL of an article."""
        return dated(article)

    def doors(self) -> Sequence[Link]:
        """Return the way in."""
        return (self.door,)

    def shelf(self, article: Article) -> str:
        """Return the section of an article, or the features."""
        return "/features" if article.number % 10 == 3 else super().shelf(article)

    def make_shelves(self, by_list: dict[str, list[Link]]) -> None:
        """Make the features, whose first page has the door before its entries."""
        entries = [self.door, *by_list.pop("/features", [])]
        self.lists |= listing("/features", "Features", entries)
        self.more.append(Link("/features", "Features"))
        super().make_shelves(by_list)

    def elsewhere(self, address: Address, hit: int) -> Found | None:
        """Return a page of the trap."""
        page = self.inside(address, self.random(address))
        return Found(page, str(address), trap=True) if page else None

    @abstractmethod
    def inside(self, address: Address, rng: Random) -> Content | None:
        """Return the page of the trap at an address; None if the trap has none there."""

    def random(self, address: Address) -> Random:
        """Return the random generator of an address: the same at each visit."""
        return Random(f"{self.seed}/trap/{address}")

    def teasers(self, rng: Random, count: int = 8) -> tuple[Link, ...]:
        """Return links to some articles."""
        chosen = rng.sample(self.articles, min(count, len(self.articles)))
        return tuple(self.link(article, "trap") for article in chosen)


class Calendar(Trap):
    """Months without an end, each with a link to the next one and to its days."""

    door = Link("/calendar/2024/06", "What is on this month")

    def inside(self, address: Address, rng: Random) -> Content | None:
        """Return a month, or one of its days."""
        kind, *numbers = address.path.strip("/").split("/")
        if kind != "calendar" or not 2 <= len(numbers) <= 3:
            return None
        try:
            year, month, day = (*map(int, numbers), 1)[:3]
            stand_in = date(2000 + year % 400, month, day)  # the calendar comes back in 400 years
        except ValueError:
            return None
        if len(numbers) == 3:
            return self._day(year, stand_in, rng)
        before, after = _month(year, month - 1), _month(year, month + 1)
        days = sorted(rng.sample(range(1, 29), rng.randint(2, 6)))
        entries = [Link(f"/calendar/{year}/{month:02}/{day:02}", self._event(rng)) for day in days]
        return Content(
            title=f"Events in {stand_in:%B} {year}",
            entries=tuple(entries),
            formats=(Link(before, "Previous month"), Link(after, "Next month")),
            related=self.teasers(rng),
        )

    def find(self, address: Address, hit: int) -> Found | None:
        """Return what an address shows; a month in which something was published is no trap."""
        found = super().find(address, hit)
        if found is None or not found.trap:
            return found
        parts = address.path.strip("/").split("/")
        published = [
            self.link(article, "calendar")
            for article in self.articles
            if parts[1:] == [f"{article.published:%Y}", f"{article.published:%m}"]
        ]
        if not published:
            return found
        entries = (*found.page.entries, *published)
        return Found(replace(found.page, entries=entries), found.key)

    def _day(self, year: int, day: date, rng: Random) -> Content:
        events = [Block("p", (self._event(rng),)) for _ in range(rng.randint(1, 3))]
        other = day + timedelta(days=rng.choice([1, 7]))
        later = year + other.year - day.year
        href = f"/calendar/{later}/{other:%m/%d}"
        return Content(
            title=f"{day:%d %B} {year}",
            blocks=tuple(events),
            formats=(Link(href, "Next"), Link(f"/calendar/{year}/{day:%m}", "Whole month")),
            related=self.teasers(rng),
        )

    def _event(self, rng: Random) -> str:
        writer = Writer("en", "culture", Random(f"{self.seed}/event/{rng.randrange(40)}"))
        return f"{writer.write('thing')} at {rng.randint(9, 21)}:{rng.choice(['00', '30'])}"


def _month(year: int, month: int) -> str:
    year, month = (year - 1, 12) if month == 0 else (year + 1, 1) if month == 13 else (year, month)
    return f"/calendar/{year}/{month:02}"


class Path(Trap):
    """Relative links without a slash before them: each page is also below itself."""

    door = Link("/guide/", "City guide")
    steps = ("sights", "food", "hotels", "maps")

    def inside(self, address: Address, rng: Random) -> Content | None:
        """Return a page of the guide, whose way is its headline."""
        kind, *way = address.path.strip("/").split("/")
        if kind != "guide" or not set(way) <= {*self.steps}:
            return None
        links = tuple(Link(f"{step}/", step.title()) for step in self.steps)
        title = " › ".join(["Guide", *(step.title() for step in way)])
        return Content(
            title=title, entries=self.teasers(rng, 12), formats=links, related=self.teasers(rng)
        )


class Maze(Trap):
    """Prose that a machine wrote, another one on each page, with links to more of it."""

    door = Link("/research/", "Research")

    def inside(self, address: Address, rng: Random) -> Content | None:
        """Return a page that reads like an article."""
        kind, *rest = address.path.strip("/").split("/")
        if kind != "research" or len(rest) > 2:
            return None
        writer = Writer("en", rng.choice(grammar("en").topics()), rng)
        blocks = [
            Block("p", tuple(writer.several("sentence", rng.randint(2, 4))))
            for _ in range(rng.randint(4, 9))
        ]
        links = tuple(self._way_on(rng) for _ in range(8))
        return Content(
            title=writer.write("headline"),
            blocks=tuple(blocks),
            entries=links,
            related=links[:3],
        )

    def _way_on(self, rng: Random) -> Link:
        topic = rng.choice(grammar("en").topics())
        title = Writer("en", topic, rng).write("headline")
        slug = "-".join(word for word in title.lower().split()[:6] if word.isalnum())
        return Link(f"/research/{topic}/{slug}-{rng.getrandbits(24):06x}", title)


class SessionPath(Trap):
    """A copy of the site for each visitor: every page of it leads on under a new id in the path."""

    door = Link("/s/welcome/front", "My Daily Miniature")

    def elsewhere(self, address: Address, hit: int) -> Found | None:
        """Return a page of the visitor's copy; the front has another choice at each visit."""
        kind, _, rest = address.path.removeprefix("/").partition("/")
        session, _, inner = rest.partition("/")
        if kind != "s" or not inner:
            return None
        rng = Random(f"{self.seed}/session/{address}/{hit}")
        front = Link(self._in_session("/front", rng), "My front page")
        teasers = tuple(
            link._replace(href=self._in_session(link.href, rng)) for link in self.teasers(rng, 12)
        )
        if inner == "front":
            page = Content(title="My Daily Miniature", entries=(front, *teasers))
            return Found(page, f"/s/{session}/front/{hit}", trap=True)
        if article := self.bases.get(f"/{inner}"):
            page = replace(self.story(article, address), related=teasers, formats=(front,))
            return Found(page, f"{article.id};1", trap=True)
        return None

    def inside(self, address: Address, rng: Random) -> None:
        """Return nothing: what is inside hangs on the visit too."""

    def _in_session(self, path: str, rng: Random) -> str:
        return f"/s/{rng.getrandbits(80):020x}{path}"


class Soft404(Trap):
    """A site that never says that a page is missing, and names others that are missing too."""

    door = Link("/offers/summer", "Offers")

    def inside(self, address: Address, rng: Random) -> Content | None:
        """Return what stands for any page that is not there."""
        words = address.path.strip("/").replace("-", " ").replace("/", " ").split()
        wanted = " ".join(words[-4:])
        guesses = []
        for _ in range(6):
            title = Writer("en", rng.choice(grammar("en").topics()), rng).write("thing")
            slug = "-".join(title.lower().split())
            guesses.append(Link(f"/{slug}/{'-'.join(words[-1:])}-{rng.randint(1, 999)}", title))
        sorry = f"We could not find “{wanted}”. Perhaps you are looking for one of these."
        return Content(
            title=f"Results for {wanted}",
            blocks=(Block("p", (sorry,)),),
            entries=(*guesses, *self.teasers(rng)),
        )


class Filters(Trap):
    """A catalogue where each filter can be added to all others, in any order, on pages of its own.

    There is always a next page.
    """

    door = Link("/catalogue", "Catalogue")

    def inside(self, address: Address, rng: Random) -> Content | None:
        """Return what a choice of filters leaves of the catalogue."""
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
