"""Traps of parameters: filters and orders that combine without an end, and answers to comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.site.articles import Block
from crawler.site.content import Content, Link
from crawler.site.prose import Writer, grammar
from crawler.site.scenes.address import also
from crawler.site.scenes.scene import Found, dated
from crawler.site.scenes.trap import Trap

if TYPE_CHECKING:
    from random import Random

    from crawler.site.scenes.address import Address

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


class Sort(Trap):
    """A list that is sorted by any keys, one after the other, upwards and downwards."""

    door = Link("/browse?sort=date", "Browse all")

    def inside(self, address: Address, rng: Random) -> Content | None:
        """Return the first entries in an order."""
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

    door = Link("/comments?before=900000", "Recent comments")

    def inside(self, address: Address, rng: Random) -> Content | None:
        """Return a page of the newest comments; there are always older ones."""
        before = address.first("before")
        if address.path != "/comments" or not before.lstrip("-").isdecimal():
            return None
        found, links = [], []
        for number in range(int(before) - 10, int(before)):
            article = self.articles[number % len(self.articles)]
            writer = Writer("en", rng.choice(grammar("en").topics()), rng)
            said = f"{writer.write('person')}: {writer.write('comment')}"
            found.append(Block("p", (said, writer.write("sentence"))))
            links.append(Link(also(dated(article), f"replytocom={number}"), "Reply"))
        older = Link(f"/comments?before={int(before) - 10}", "Older comments")
        return Content(
            title=f"Comments before {before}",
            blocks=tuple(found),
            entries=(*links, older),
            formats=(older,),
        )

    def find(self, address: Address, hit: int) -> Found | None:
        """Return what an address shows; an article with a form for an answer is in the trap."""
        article = self.bases.get(address.without({"replytocom"}).plain())
        if article is None or not address.first("replytocom"):
            return super().find(address, hit)
        return Found(self.story(article, address), f"{article.id};1", trap=True)
