"""Everything on a page that is not its content: menus, ads, boxes, scripts and footers.

The heavy parts are made once per site; what is live on them is drawn for each response.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from random import Random

from crawler.site.content import Link
from crawler.site.prose import Writer, grammar

UI = {
    "en": "Home|Menu|Subscribe|Sign in|Newsletter|Your e-mail address|Share|Related stories"
    "|Most read|Comments|Advertisement|Accept all|Settings|views|Updated|minutes ago|By|min read"
    "|Read more"
    "|We and our {n} partners use cookies to store and access information on your device.",
    "de": "Startseite|Menü|Abonnieren|Anmelden|Newsletter|Ihre E-Mail-Adresse|Teilen"
    "|Mehr zum Thema|Meistgelesen|Kommentare|Anzeige|Alle akzeptieren|Einstellungen|Aufrufe"
    "|Aktualisiert vor|Minuten|Von|Min. Lesezeit|Weiterlesen"
    "|Wir und unsere {n} Partner verwenden Cookies, um Daten auf Ihrem Gerät zu speichern.",
    "ar": "الرئيسية|القائمة|اشترك|تسجيل الدخول|النشرة البريدية|بريدك الإلكتروني|شارك"
    "|مواضيع ذات صلة|الأكثر قراءة|التعليقات|إعلان|قبول الكل|الإعدادات|مشاهدة|آخر تحديث قبل"
    "|دقيقة|بقلم|دقائق للقراءة|اقرأ المزيد"
    "|نستخدم نحن وشركاؤنا ({n}) ملفات تعريف الارتباط لتخزين المعلومات على جهازك.",
    "zh": "首页|菜单|订阅|登录|电子报|您的邮箱地址|分享|相关新闻|热门文章|评论|广告|全部接受|设置"
    "|次浏览|更新于|分钟前|作者|分钟阅读|阅读全文"
    "|我们及{n}家合作伙伴使用Cookie在您的设备上存储信息。",
}
NAMES = """home menu subscribe sign_in newsletter email share related most_read comments ad accept
settings views updated ago by min_read read_more cookies"""
LABELS = {
    language: dict(zip(NAMES.split(), texts.split("|"), strict=True))
    for language, texts in UI.items()
}
"""The interface texts of each language by name."""
RIGHTS = "<p>© 2024 The Daily Miniature. All rights reserved."


def anchors(links: Sequence[Link], *, tag: str = "li", css: str = "") -> str:
    """Return links as list items, or inside another tag."""
    attribute = f' class="{css}"' if css else ""
    return "".join(
        f'<{tag}{attribute}><a href="{escape(link.href)}">{escape(link.text)}</a></{tag}>'
        for link in links
    )


class Chrome:
    """The furniture of one site."""

    def __init__(self, seed: int, sections: Sequence[Link], more: Sequence[Link]) -> None:
        self.seed = seed
        self.sections = sections
        rng = Random(f"{seed}/chrome")
        topics = grammar("en").topics()
        self.ads = [Writer("en", rng.choice(topics), rng).write("ad") for _ in range(40)]
        self.menu = self._menu(rng, more)
        self.footer = self._footer(rng, more)
        self.sprite = self._sprite(rng)
        self.styles = {name: self._style(rng, name) for name in ("table", "semantic", "hashed")}
        self.scripts = [self._script(rng) for _ in range(4)]

    def _menu(self, rng: Random, more: Sequence[Link]) -> str:
        columns = "".join(
            f'<li class="mega-menu__item has-children" data-depth="1" aria-haspopup="true">'
            f'<a class="mega-menu__link" href="{section.href}">{escape(section.text)}</a>'
            f'<div class="mega-menu__panel"><ul class="mega-menu__list">'
            f"{anchors(rng.sample(more, min(7, len(more))))}</ul></div></li>"
            for section in self.sections
        )
        return f'<ul class="mega-menu">{columns}</ul>'

    def _footer(self, rng: Random, more: Sequence[Link]) -> str:
        writer = Writer("en", "travel", rng)
        farm = "".join(
            f'<li><a rel="nofollow" href="https://partner{i}.example.com/{i}">'
            f"{escape(writer.write('place'))} {escape(writer.write('thing'))}</a></li>"
            for i in range(60)
        )
        return (
            f'<ul class="footer-links">{anchors(self.sections)}{anchors(more)}</ul>'
            f'<ul class="footer-partners">{farm}</ul>'
            f"{RIGHTS} Reproduction in whole or in part without written permission is prohibited."
            " The Daily Miniature is not responsible for the content of external sites.</p>"
        )

    def _sprite(self, rng: Random) -> str:
        symbols = []
        for name in ("facebook", "mail", "search", "user", "menu", "close", "play", "bookmark"):
            path = " ".join(
                f"{rng.choice('MLHVC')}{rng.random() * 24:.2f} {rng.random() * 24:.2f}"
                for _ in range(24)
            )
            symbols.append(
                f'<symbol id="i-{name}" viewBox="0 0 24 24"><title>{name}</title>'
                f'<path d="{path}Z"/></symbol>'
            )
        return f'<svg style="display:none" aria-hidden="true">{"".join(symbols)}</svg>'

    def _style(self, rng: Random, name: str) -> str:
        rules = []
        for i in range(90):
            suffix = rng.choice(["", ":hover", " a", " > li"])
            margin = f"{rng.randint(0, 40)}px {rng.randint(0, 40)}px"
            colour = f"#{rng.randrange(1 << 24):06x}"
            rules.append(f".{name}-{i}{suffix}{{margin:{margin};color:{colour}}}")
        return f"<style>{''.join(rules)}</style>"

    def _script(self, rng: Random) -> str:
        flags = {f"exp_{rng.randrange(1 << 32):08x}": rng.random() < 0.5 for _ in range(80)}
        slots = [
            {"id": f"div-gpt-{i}", "sizes": [[300, 250], [728, 90]], "bid": round(rng.random(), 4)}
            for i in range(30)
        ]
        return (
            "<script>window.dataLayer=window.dataLayer||[];"
            "function gtag(){dataLayer.push(arguments);}"
            f"window.__FLAGS__={json.dumps(flags)};window.__ADS__={json.dumps(slots)};"
            "if(document.cookie.indexOf('consent=')<0){document.write('<div id=\"cmp\"></div>');}"
            "</script>"
        )

    def ad(self, rng: Random) -> str:
        """Return one advertisement's text, another one each time."""
        return escape(rng.choice(self.ads))

    def script(self, rng: Random, state: dict[str, object]) -> str:
        """Return the scripts of one page, its own state among them."""
        known = {"requestId": f"{rng.getrandbits(64):016x}", "page": state}
        data = json.dumps(known).replace("</", "<\\/")
        return f"{rng.choice(self.scripts)}<script>window.__STATE__={data}</script>"

    def cookies(self, rng: Random, ui: dict[str, str]) -> str:
        """Return the consent banner."""
        text = ui["cookies"].format(n=rng.randint(90, 900))
        return (
            f'<div class="cookie-consent" role="dialog"><p>{text}</p>'
            f"<button>{ui['accept']}</button><button>{ui['settings']}</button></div>"
        )


def share_bar(url: str, ui: dict[str, str]) -> str:
    """Return the bar of share buttons."""
    buttons = "".join(
        f'<li><a href="https://{host}.example.com/share?u={escape(url)}" rel="nofollow">'
        f'<svg width="16" height="16"><use href="#i-{host}"/></svg><span>{host.title()}</span>'
        "</a></li>"
        for host in ("facebook", "mail", "chat", "bookmark")
    )
    return f'<ul class="share-bar" aria-label="{ui["share"]}">{buttons}</ul>'


def newsletter_box(ui: dict[str, str]) -> str:
    """Return the box that asks for an e-mail address."""
    return (
        f'<form class="newsletter-signup" action="/account/subscribe" method="post">'
        f'<h3>{ui["newsletter"]}</h3><label>{ui["email"]}<input type="email" name="e"></label>'
        f"<button>{ui['subscribe']}</button></form>"
    )


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
        return f'<ul class="footer-links">{anchors(more)}</ul>{RIGHTS}</p>'

    def _sprite(self, rng: Random) -> str:
        return ""

    def _style(self, rng: Random, name: str) -> str:
        return f"<style>.{name}{{margin:{rng.randint(0, 40)}px}}</style>"

    def _script(self, rng: Random) -> str:
        return f"<script>window.__FLAG__={rng.getrandbits(32)}</script>"
