"""The furniture of a newspaper whose pages are fetched every day: as on a large site, but less."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

from crawler.site.chrome import Chrome, anchors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from crawler.site.content import Link


class LightChrome(Chrome):
    """Small menus and scripts, so that a year of pages is fetched in minutes.

    `today` is the date at the top of all pages. `notice` is a box that all pages have for a while.
    """

    today = ""
    notice = ""

    def cookies(self, rng: Random, ui: dict[str, str]) -> str:
        """Return what is above the page: date and clock, the box, and the consent banner."""
        clock = f"{self.today}, {rng.randrange(24):02}:{rng.randrange(60):02}"
        visitors = f"{rng.randint(10, 99)},{rng.randint(100, 999)} {ui['views']}"
        box = f'<div class="notice-box"><p>{escape(self.notice)}</p></div>' if self.notice else ""
        bar = f'<div class="top-bar"><span>{clock}</span> <span>{visitors}</span></div>'
        return f"{bar}{box}{super().cookies(rng, ui)}"

    def script(self, rng: Random, state: dict[str, object]) -> str:
        """Return a script with what is new in each response."""
        token = f'<input type="hidden" name="csrf_token" value="{rng.getrandbits(128):032x}">'
        data = json.dumps({"requestId": f"{rng.getrandbits(64):016x}", "path": state["path"]})
        return f"{rng.choice(self.scripts)}<script>window.__STATE__={data}</script>{token}"

    def _menu(self, rng: Random, more: Sequence[Link]) -> str:
        return f'<ul class="menu">{anchors([*self.sections, *more])}</ul>'

    def _footer(self, rng: Random, more: Sequence[Link]) -> str:
        return (
            f'<ul class="footer-links">{anchors(more)}</ul>'
            "<p>© 2024 The Daily Miniature. All rights reserved.</p>"
        )

    def _sprite(self, rng: Random) -> str:
        return ""

    def _style(self, rng: Random, name: str) -> str:
        return f"<style>.{name}{{margin:{rng.randint(0, 40)}px}}</style>"

    def _script(self, rng: Random) -> str:
        return f"<script>window.__FLAG__={rng.getrandbits(32)}</script>"
