"""The site's designs: the old one of tables, the two that replace it, AMP and print."""

from __future__ import annotations

import json
from html import escape
from random import Random
from urllib.parse import quote

from crawler.site.blocks import render_blocks
from crawler.site.chrome import ITEM, SPAN, Chrome, anchors
from crawler.site.content import Content, Link, also
from crawler.site.prose import labels


class Sheet:
    """What a design puts on a page. `live` counts how often the path was served before.

    All that changes from response to response hangs on path and `live`, never on the clock: the
    first response to a URL is the same in every crawl of the same site.
    """

    def __init__(self, content: Content, chrome: Chrome, path: str, live: int) -> None:
        self.content, self.chrome, self.path, self.live = content, chrome, path, live
        self.rng = Random(f"{chrome.seed}/live/{path}/{live}")
        self.ui = ui = labels(content.language)
        self.title = escape(content.title)
        self.html = f'lang="{content.language}"' + ' dir="rtl"' * (content.language == "ar")
        self.comments = [*map(escape, content.article.comments)] if content.article else []
        if not (content.late_comment or live):
            self.comments = self.comments[:-1]  # the last one comes with time
        self.cookies = chrome.cookies(self.rng, ui)
        buttons = "".join(
            f'<li><a href="https://{host}.example.com/share?u={escape(path)}" rel="nofollow">'
            f'<svg width="16" height="16"><use href="#i-{host}"/></svg><span>{host.title()}</span>'
            "</a></li>"
            for host in ("facebook", "mail", "chat", "bookmark")
        )
        self.share = f'<ul class="share-bar" aria-label="{ui["share"]}">{buttons}</ul>'
        self.newsletter = (
            '<form class="newsletter-signup" action="/account/subscribe" method="post">'
            f'<h3>{ui["newsletter"]}</h3><label>{ui["email"]}<input type="email" name="e"></label>'
            f"<button>{ui['subscribe']}</button></form>"
        )

    def led(self, link: Link) -> Link:
        """Return a link of the content as it is shown: with a new session id, if it has one."""
        session = f"sid={self.rng.getrandbits(64):016x}"
        if link.session:
            return link._replace(href=also(link.href, session))
        if self.content.session:
            return link._replace(href=f"/go?to={quote(link.href, safe='')}&{session}")
        return link

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
        author = f"{ui['by']} {escape(article.opening[1])}"
        return author, article.published.strftime("%d.%m.%Y"), live

    def ad(self) -> str:
        """Return the text of an advertisement, another one each time."""
        return escape(self.rng.choice(self.chrome.ads))

    def script(self) -> str:
        """Return the page's scripts."""
        state = {
            "title": self.content.title,
            "path": self.path,
            "teasers": [link.teaser or link.text for link in self.content.related],
            "ids": [self.rng.getrandbits(40) for _ in range(120)],
        }
        return self.chrome.script(self.rng, state)

    def entries(self, template: str) -> str:
        """Return the entries of a list, each in a template of URL, text and teaser."""
        return anchors(map(self.led, self.content.entries), template)

    def some(self, count: int) -> list[Link]:
        """Return some of the related links in an order of today."""
        return self.rng.sample(self.content.related, min(count, len(self.content.related)))

    def shuffled(self, count: int, template: str = ITEM) -> str:
        """Return some of the related links in an order of today, each in a template."""
        return anchors(self.some(count), template)

    def formats(self, template: str = ITEM) -> str:
        """Return the links to other views, or the pager, each in a template."""
        return anchors(self.content.formats, template)

    def body(self, manner: str, *boxes: str) -> str:
        """Return the blocks, with boxes of the design between them."""
        parts = list(render_blocks(self.content.blocks, manner, self.content.language))
        for box in boxes:
            if len(parts) > 4:
                parts.insert(self.rng.randint(2, len(parts) - 1), box)
        return "\n".join(parts)


def table(sheet: Sheet) -> str:
    """Return the page in the design of 2004: tables, fonts and inline handlers."""
    ui, chrome = sheet.ui, sheet.chrome
    author, day, live = sheet.byline()
    entries = sheet.entries(
        '<tr><td valign="top"><img src="/img/dot.png" width="4"></td><td class="teaser">'
        '<a href="{}"><b>{}</b></a><br><font size="2">{}</font></td></tr>'
    )
    comments = "".join(
        f'<tr><td bgcolor="#eeeeee"><b>guest{i + 117}</b> wrote:<br>{text}</td></tr>'
        for i, text in enumerate(sheet.comments)
    )
    ad = f"<tr><td>{ui['ad']}<br>{sheet.ad()}</td></tr>"
    ad = f'<table width="300" class="adbox">{ad}</table>'
    return f"""\
<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">
<html {sheet.html}><head><title>{sheet.title} - The Daily Miniature</title>
{chrome.styles["table"]}{sheet.script()}</head>
<body bgcolor="#ffffff" topmargin="0" onload="init()">{sheet.cookies}
<table width="980" align="center" cellpadding="0" cellspacing="0">
<tr><td colspan="3" id="topbar">
<a href="/"><img src="/img/logo.png" alt="The Daily Miniature"></a> {ad}</td></tr>
<tr><td width="160" valign="top" id="leftcol"><div class="navblock">{chrome.menu}</div>{ad}</td>
<td width="560" valign="top" id="centercol"><table width="100%"><tr><td>
<div class="path"><a href="/">{ui["home"]}</a> &gt; <a href="#">{sheet.title}</a></div>
<font size="5" face="Georgia"><span class="headline">{sheet.title}</span></font><br>
<font size="1" color="gray">{author} {day} {live}</font><br>
<font size="1">{sheet.formats(SPAN)}</font></td></tr>
<tr><td class="storytext">{sheet.body("table", ad)}</td></tr></table>
<table width="100%">{entries}</table>
<div class="sharetools">{sheet.share}</div>
<table width="100%" id="reader-comments">
<tr><td><b>{ui["comments"]} ({len(sheet.comments)})</b></td></tr>{comments}</table></td>
<td width="260" valign="top" id="rightcol">
<div class="box"><b>{ui["most_read"]}</b><ol>{sheet.shuffled(8)}</ol></div>
<div class="box"><b>{ui["related"]}</b><ul>{sheet.shuffled(5)}</ul></div>
{sheet.newsletter}{ad}</td></tr>
<tr><td colspan="3" id="bottom"><div class="footer">{chrome.footer}</div></td></tr></table>
</body></html>"""


def semantic(sheet: Sheet) -> str:
    """Return the page in the first redesign: HTML5 elements and readable class names."""
    ui, chrome = sheet.ui, sheet.chrome
    cards = sheet.shuffled(4, '<li class="card"><a href="{}"><h3>{}</h3></a><p>{}</p></li>')
    entries = sheet.entries('<li class="listing__item"><h2><a href="{}">{}</a></h2><p>{}</p></li>')
    comments = "".join(
        f'<li class="comment"><cite>Reader {i + 41}</cite>'
        f"<time>{sheet.rng.randint(1, 23)}h</time><p>{text}</p></li>"
        for i, text in enumerate(sheet.comments)
    )
    return f"""\
<!doctype html>
<html {sheet.html} class="no-js"><head><title>{sheet.title} | The Daily Miniature</title>
<meta name="viewport" content="width=device-width">
<meta property="og:title" content="{sheet.title}">
{chrome.styles["semantic"]}{sheet.script()}</head>
<body class="has-sidebar page">{chrome.sprite}{sheet.cookies}
<header class="site-header"><a href="/" class="logo">The Daily Miniature</a>
<nav class="site-nav" aria-label="{ui["menu"]}">{chrome.menu}</nav>
<div class="user-tools"><a href="/account/login">{ui["sign_in"]}</a><a href="/search?q=news">?</a>
</div></header>
<div class="layout"><main id="main" class="layout__main">
<nav class="breadcrumb"><ol>{anchors(chrome.sections[:2])}</ol></nav>
{_semantic_story(sheet)}<ul class="listing">{entries}</ul>
<section class="comments" id="comments"><h2>{ui["comments"]}</h2><ul>{comments}</ul></section>
</main>
<aside class="sidebar">
<section class="related-stories"><h2>{ui["related"]}</h2><ul>{cards}</ul></section>
<div class="ad-slot"><span>{ui["ad"]}</span><p>{sheet.ad()}</p></div>
<section class="most-read"><h2>{ui["most_read"]}</h2><ol>{sheet.shuffled(8)}</ol></section>
</aside></div><footer class="site-footer">{chrome.footer}</footer>{sheet.script()}</body></html>"""


def _semantic_story(sheet: Sheet) -> str:
    content, ui = sheet.content, sheet.ui
    if not content.blocks:
        return f'<h1>{sheet.title}</h1><ul class="pagination">{sheet.formats()}</ul>'
    author, day, live = sheet.byline()
    data = json.dumps({"@type": "NewsArticle", "headline": content.title, "datePublished": day})
    ad = f'<div class="ad-slot" data-ad="mpu"><span>{ui["ad"]}</span><p>{sheet.ad()}</p></div>'
    template = f'<p class="read-more">{ui["read_more"]}: <a href="{{}}">{{}}</a></p>'
    more = anchors(map(sheet.led, sheet.some(1)), template)
    return f"""\
<script type="application/ld+json">{data}</script><article class="article">
<header class="article-header"><h1 class="article-header-title">{sheet.title}</h1>
<p class="byline">{author} <time>{day}</time></p><p class="article-live">{live}</p>{sheet.share}
<ul class="formats">{sheet.formats()}</ul></header>
<div class="article-body">{sheet.body("semantic", ad, more, sheet.newsletter)}</div></article>"""


def hashed(sheet: Sheet) -> str:
    """Return the page in the second redesign: nested divs whose class names say nothing."""
    ui, chrome = sheet.ui, sheet.chrome
    author, day, live = sheet.byline()
    ads = [
        f'<div class="css-k0d8"><div id="story-ad-{i}-wrapper" class="css-1r07">'
        f"<span>{ui['ad']}</span><p>{sheet.ad()}</p></div></div>"
        for i in range(3)
    ]
    entries = sheet.entries(
        '<div class="css-1l4spti"><a href="{}"><h2 class="css-1kv6qi">{}</h2>'
        '<p class="css-1pga48a">{}</p></a></div>'
    )
    comments = "".join(
        f'<div class="css-c0mm"><span>{i + 3}m</span><p>{text}</p></div>'
        for i, text in enumerate(sheet.comments)
    )
    recirculation = sheet.shuffled(
        5, '<div class="css-r3c"><a href="{}"><p>{}</p><p>{}</p></a></div>'
    )
    return f"""\
<!DOCTYPE html><html {sheet.html}><head>
<title data-rh="true">{sheet.title} - Daily Miniature</title>
{chrome.styles["hashed"]}</head><body><div id="app"><div class="css-t9gz"><div class="css-hd01">
<header class="css-1b4w"><a href="/">DM</a>
<div role="navigation" class="css-1yb">{chrome.menu}</div></header></div>{sheet.cookies}
<div class="css-18z7m18"><div class="css-w0"><main id="site-content">
<div><div class="css-x1"><div>
<h1 class="css-88wicj e1h9rw200" data-testid="headline">{sheet.title}</h1>
<div class="css-by1"><p>{author}</p><span>{day}</span><span class="css-lv">{live}</span></div>
<div class="css-sh" role="toolbar">{sheet.share}</div>
<section name="articleBody" class="meteredContent css-1r7ky0e">
{sheet.body("hashed", *ads[:2])}</section>
<div class="css-l1st">{entries}</div><div class="css-fmt">{sheet.formats(SPAN)}</div>
</div></div></div></main></div>
<div class="css-bt0"><div id="comments-panel">{comments}</div>
<div class="css-rc" data-testid="recirculation">{recirculation}</div>
{sheet.newsletter}{ads[2]}</div></div><footer class="css-ft9">{chrome.footer}</footer></div></div>
{sheet.script()}{sheet.script()}</body></html>"""


def amp(sheet: Sheet) -> str:
    """Return the page as AMP: little furniture, elements of its own."""
    author, day, live = sheet.byline()
    canonical = escape(sheet.content.formats[0].href)
    return f"""\
<!doctype html><html amp {sheet.html}><head><title>{sheet.title}</title>
<link rel="canonical" href="{canonical}">
<style amp-boilerplate>body{{animation:-amp-start 8s steps(1,end) 0s 1 normal both}}</style></head>
<body><amp-sidebar id="sidebar" layout="nodisplay"><ul>{anchors(sheet.chrome.sections)}</ul>
</amp-sidebar><header class="amp-header"><a href="/">The Daily Miniature</a></header>
<article><h1>{sheet.title}</h1><div class="meta">{author} · {day} · {live}</div>
<amp-ad width="300" height="250" type="doubleclick"><div placeholder>{sheet.ad()}</div></amp-ad>
{sheet.body("amp")}</article><amp-social-share type="email"></amp-social-share>
<section class="amp-related"><h3>{sheet.ui["related"]}</h3><ul>{sheet.shuffled(4)}</ul>
<ul>{sheet.formats()}</ul></section><footer>© The Daily Miniature</footer></body></html>"""


def print_view(sheet: Sheet) -> str:
    """Return the page to be printed: the text, and where it came from."""
    author, day, _ = sheet.byline()
    return f"""\
<html><head><title>Print: {sheet.title}</title>{sheet.chrome.styles["table"]}
<meta name="robots" content="noindex"></head><body onload="window.print()">
<img src="/img/logo.png" alt="The Daily Miniature"><hr><h2>{sheet.title}</h2>
<p>{author}, {day}</p><div id="printable">{sheet.body("print")}</div><hr>
<p class="print-footer">Printed from {escape(sheet.path)} on {1 + sheet.live % 28}.7.2024.
{sheet.formats(SPAN)} © The Daily Miniature. For personal use only.</p></body></html>"""


RENDERERS = {
    "table": table,
    "semantic": semantic,
    "hashed": hashed,
    "amp": amp,
    "print": print_view,
}


def render(content: Content, chrome: Chrome, path: str, live: int) -> str:
    """Return the page as HTML; `live` counts how often its path was served before."""
    return RENDERERS[content.design](Sheet(content, chrome, path, live))
