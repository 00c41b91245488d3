"""Traps of paths: calendars, relative links, mazes, sessions, and what is never missing."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from random import Random
from typing import TYPE_CHECKING

from crawler.site.articles import Block
from crawler.site.content import Content, Link
from crawler.site.prose import Writer, grammar
from crawler.site.scenes.scene import Found
from crawler.site.scenes.trap import Trap

if TYPE_CHECKING:
    from crawler.site.scenes.address import Address


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
            design="table",
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
