"""Everything on a page that is not its content: menus, ads, boxes, scripts and footers.

The heavy parts are made once per site; what is live on them is drawn for each response.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from random import Random

from crawler.site.content import DESIGNS, Link
from crawler.site.prose import Writer

RIGHTS = "<p>© 2024 The Daily Miniature. All rights reserved."
ICONS = ("facebook", "mail", "search", "user", "menu", "close", "play", "bookmark")
PATH = f'<path d="{"M4.25 4.50 H16.75 V16.25 " * 10}Z"/>'
ITEM = '<li><a href="{}">{}</a></li>'
SPAN = '<span><a href="{}">{}</a></span>'


def anchors(links: Iterable[Link], template: str = ITEM) -> str:
    """Return links, each in a template of URL, text and teaser."""
    return "".join(template.format(*map(escape, link[:3])) for link in links)


class Chrome:
    """The furniture of one site; `icons`, `rules` and `flags` are what only a browser reads."""

    icons: Sequence[str] = ICONS
    rules = 110
    flags = 108

    def __init__(self, seed: int, sections: Sequence[Link], more: Sequence[Link]) -> None:
        self.seed = seed
        self.sections = sections
        rng = Random(f"{seed}/chrome")
        self.ads = [Writer.of_any_topic(rng).write("ad") for _ in range(40)]
        self.menu = self._menu(rng, more)
        self.footer = self._footer(rng, more)
        symbols = "".join(
            f'<symbol id="i-{name}" viewBox="0 0 24 24"><title>{name}</title>{PATH}</symbol>'
            for name in self.icons
        )
        self.sprite = f'<svg style="display:none" aria-hidden="true">{symbols}</svg>'
        self.styles = {name: f"<style>{self._style(rng, name)}</style>" for name in DESIGNS}
        self.scripts = [f"<script>{self._script(rng)}</script>" for _ in range(4)]

    def _menu(self, rng: Random, more: Sequence[Link]) -> str:
        columns = "".join(
            '<li class="mega-menu__item has-children" data-depth="1" aria-haspopup="true">'
            f'<a class="mega-menu__link" href="{section.href}">{escape(section.text)}</a>'
            '<div class="mega-menu__panel"><ul class="mega-menu__list">'
            f"{anchors(rng.sample(more, min(7, len(more))))}</ul></div></li>"
            for section in self.sections
        )
        return f'<ul class="mega-menu">{columns}</ul>'

    def _footer(self, rng: Random, more: Sequence[Link]) -> str:
        write = Writer("en", "travel", rng).write
        farm = "".join(
            f'<li><a rel="nofollow" href="https://partner{i}.example.com/{i}">'
            f"{escape(write('place'))} {escape(write('thing'))}</a></li>"
            for i in range(60)
        )
        return (
            f'<ul class="footer-links">{anchors(self.sections)}{anchors(more)}</ul>'
            f'<ul class="footer-partners">{farm}</ul>'
            f"{RIGHTS} Reproduction in whole or in part without written permission is prohibited."
            " The Daily Miniature is not responsible for the content of external sites.</p>"
        )

    def _style(self, rng: Random, name: str) -> str:
        return "".join(
            f".{name}-{i}{{margin:{rng.randint(0, 40)}px;color:#{rng.randrange(1 << 24):06x}}}"
            for i in range(self.rules)
        )

    def _script(self, rng: Random) -> str:
        flags = {f"exp_{rng.getrandbits(32):08x}": rng.random() for _ in range(self.flags)}
        return (
            "window.dataLayer=window.dataLayer||[];function gtag(){dataLayer.push(arguments);}"
            "if(document.cookie.indexOf('consent=')<0){document.write('<div id=\"cmp\"></div>');}"
            f"window.__FLAGS__={json.dumps(flags)};"
        )

    def script(self, rng: Random, state: Mapping[str, object]) -> str:
        """Return the scripts of one page, its own state among them."""
        return self._state(rng, {"page": state})

    def _state(self, rng: Random, state: Mapping[str, object]) -> str:
        data = json.dumps({"requestId": f"{rng.getrandbits(64):016x}", **state})
        escaped = data.replace("</", "<\\/")
        return f"{rng.choice(self.scripts)}<script>window.__STATE__={escaped}</script>"

    def cookies(self, rng: Random, ui: Mapping[str, str]) -> str:
        """Return the consent banner."""
        text = ui["cookies"].format(n=rng.randint(90, 900))
        return (
            f'<div class="cookie-consent" role="dialog"><p>{text}</p>'
            f"<button>{ui['accept']}</button><button>{ui['settings']}</button></div>"
        )


class LightChrome(Chrome):
    """Small menus and scripts, so that a year of pages is fetched in minutes.

    `today` is the date at the top of all pages. `notice` is a box that all pages have for a while.
    """

    icons = ()
    rules = flags = 1
    today = ""
    notice = ""

    def cookies(self, rng: Random, ui: Mapping[str, str]) -> str:
        """Return what is above the page: date and clock, the box, and the consent banner."""
        clock = f"{self.today}, {rng.randrange(24):02}:{rng.randrange(60):02}"
        visitors = f"{rng.randint(10, 99)},{rng.randint(100, 999)} {ui['views']}"
        box = f'<div class="notice-box"><p>{escape(self.notice)}</p></div>' if self.notice else ""
        bar = f'<div class="top-bar"><span>{clock}</span> <span>{visitors}</span></div>'
        return f"{bar}{box}{super().cookies(rng, ui)}"

    def script(self, rng: Random, state: Mapping[str, object]) -> str:
        """Return a script with what is new in each response."""
        token = f'<input type="hidden" name="csrf_token" value="{rng.getrandbits(128):032x}">'
        return f"{self._state(rng, {'path': state['path']})}{token}"

    def _menu(self, rng: Random, more: Sequence[Link]) -> str:
        return f'<ul class="menu">{anchors([*self.sections, *more])}</ul>'

    def _footer(self, rng: Random, more: Sequence[Link]) -> str:
        return f'<ul class="footer-links">{anchors(more)}</ul>{RIGHTS}</p>'
