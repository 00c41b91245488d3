"""One response in the making: content, furniture, and what is live this time."""

from __future__ import annotations

from html import escape
from random import Random
from typing import TYPE_CHECKING
from urllib.parse import quote

from crawler.site.blocks import render_blocks
from crawler.site.chrome import Chrome, anchors, labels

if TYPE_CHECKING:
    from crawler.site.content import Content, Link


class Sheet:
    """What a design puts on a page. `live` counts how often the path was served before.

    All that changes from response to response hangs on path and `live`, never on the clock: the
    first response to a URL is the same in every crawl of the same site.
    """

    def __init__(self, content: Content, chrome: Chrome, path: str, live: int) -> None:
        self.content = content
        self.chrome = chrome
        self.path = path
        self.live = live
        self.rng = Random(f"{chrome.seed}/live/{path}/{live}")
        self.ui = labels(content.language)
        self.title = escape(content.title)
        self.html = f'lang="{content.language}"'
        if content.language == "ar":
            self.html += ' dir="rtl"'
        self.comments = self._comments()
        self.cookies = chrome.cookies(self.rng, self.ui)
        self.share = chrome.share(path, self.ui)
        self.newsletter = chrome.newsletter(self.ui)

    def href(self, link: Link) -> str:
        """Return where a link of the content goes: with a new session id, if it has one."""
        session = f"sid={self.rng.getrandbits(64):016x}"
        if link.session:
            return f"{escape(link.href)}{'&amp;' if '?' in link.href else '?'}{session}"
        if self.content.session:
            return f"/go?to={quote(link.href, safe='')}&amp;{session}"
        return escape(link.href)

    def byline(self) -> tuple[str, str, str]:
        """Return author, date, and what is live about them; blanks where nobody signed."""
        article, ui, rng = self.content.article, self.ui, self.rng
        if article is None:
            return "", "", ""
        live = (
            f"{ui['updated']} {rng.randint(2, 59)} {ui['ago']} · "
            f"{rng.randint(1, 98)},{rng.randint(100, 999)} {ui['views']} · "
            f"{rng.randint(2, 12)} {ui['min_read']}"
        )
        return (
            f"{ui['by']} {escape(article.opening[1])}",
            article.published.strftime("%d.%m.%Y"),
            live,
        )

    def ad(self) -> str:
        """Return the text of an advertisement, another one each time."""
        return self.chrome.ad(self.rng)

    def script(self) -> str:
        """Return the page's scripts."""
        state: dict[str, object] = {
            "title": self.content.title,
            "path": self.path,
            "teasers": [link.teaser or link.text for link in self.content.related],
            "ids": [self.rng.getrandbits(40) for _ in range(120)],
        }
        return self.chrome.script(self.rng, state)

    def shuffled(self, count: int) -> list[Link]:
        """Return some of the related links in an order of today."""
        related = self.content.related
        return self.rng.sample(related, min(count, len(related)))

    def shuffled_anchors(self, count: int) -> str:
        """Return some of the related links as list items."""
        return anchors(self.shuffled(count))

    def formats(self, tag: str = "li") -> str:
        """Return the links to other views, or the pager, as list items or in another tag."""
        return anchors(self.content.formats, tag=tag)

    def body(self, manner: str, *boxes: str) -> str:
        """Return the blocks, with boxes of the design between them."""
        parts = list(render_blocks(self.content.blocks, manner, self.content.language))
        for box in boxes:
            if len(parts) > 4:
                parts.insert(self.rng.randint(2, len(parts) - 1), box)
        return "\n".join(parts)

    def _comments(self) -> list[str]:
        """Return the comments shown: all but the last one, which comes with time."""
        if self.content.article is None:
            return []
        comments = [escape(text) for text in self.content.article.comments]
        return comments if self.content.late_comment or self.live else comments[:-1]
