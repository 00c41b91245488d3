"""What a page has to say, before any design gives it a look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from crawler.site.articles import Article, Block


class Link(NamedTuple):
    """A link on this site, with its text; one with `session` gets a session id when it is shown."""

    href: str
    text: str
    teaser: str = ""
    session: bool = False


@dataclass(frozen=True, kw_only=True)
class Content:
    """A page's own part: blocks of text on a story, entries on a listing.

    `formats` are other views of a story, or the pager of a listing. An article page also has its
    article. `session` tells that the URL carried a session id.
    """

    title: str
    language: str = "en"
    design: str = "semantic"
    blocks: tuple[Block, ...] = ()
    entries: tuple[Link, ...] = ()
    formats: tuple[Link, ...] = ()
    related: tuple[Link, ...] = ()
    article: Article | None = None
    version: int = 0
    session: bool = False
    late_comment: bool = False
