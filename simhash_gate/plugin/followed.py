"""A page on its way from its verdict to the end of its items, and the stages of that way."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, auto
from typing import Any

from simhash_gate.stores import Record


class Stage(IntEnum):
    """The stages of a page after its verdict, in this order."""

    PASSED = auto()
    """The gate has let it through. Another downloader middleware may still swallow it."""
    RECEIVED = auto()
    """Scrapy has it from the downloader middlewares."""
    ENTERING = auto()
    """It is on its way to the callback. Another spider middleware may still swallow it."""
    IN_CALLBACK = auto()
    """The callback has begun."""
    FINISHED = auto()
    """The callback has yielded its last output."""
    LEFT = auto()
    """The last output has left the spider middlewares. An item may still fail."""
    SETTLED = auto()
    """All items were scraped or dropped: the page can't fail any more."""
    FAILED = auto()
    """It was taken back."""
    OUT_OF_SIGHT = auto()
    """It is not followed any more, because too many pages were kept after it."""


@dataclass(eq=False)
class FollowedPage:
    """A page on its way from its verdict to the end of its items.

    `record` is that of a kept page, None for another one, which `stands_for` a kept page. It `pays`
    for that page if its items are delivered. `items` counts the items that are not yet scraped or
    dropped, `given` those that were scraped. For each field, `filled` has a digest for each item
    that fills it; `empty` are names of fields that one left empty. For each field, `said` has
    digests of 16 bits of what the items said there; in the fields that it `differs` in, no item
    said so at an earlier visit. `waiting` are items that wait for the end of the callback. It
    `polls` if the callback asks for the page again.
    """

    record: Record | None
    url: str = ""
    stage: Stage = Stage.PASSED
    stands_for: Record | None = None
    pays: bool = False
    items: int = 0
    given: int = 0
    filled: dict[str, list[int]] = field(default_factory=dict)
    empty: set[str] = field(default_factory=set)
    waiting: list[Any] = field(default_factory=list)
    said: dict[str, set[int]] = field(default_factory=dict)
    differs: list[str] = field(default_factory=list)
    polls: bool = False

    @property
    def news(self) -> str:
        """Why its items are delivered, though the page is unchanged; "" if they are not."""
        came = self.differs and self.given and self.stage is Stage.SETTLED
        return f"they say something else in {', '.join(self.differs)}" if came else ""

    @property
    def decides(self) -> Record | None:
        """The record whose copies wait for the end of this page: its own, or that it pays for."""
        return self.record or (self.stands_for if self.pays else None)
