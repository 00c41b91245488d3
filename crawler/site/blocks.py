"""Blocks of text as HTML, in the manners of writing it that the site's designs have."""

from __future__ import annotations

from functools import lru_cache
from html import escape

from crawler.site.articles import Block

SEMANTIC = {
    "p": "<p>{}</p>",
    "lede": '<p class="standfirst">{}</p>',
    "h2": "<h2>{}</h2>",
    "quote": "<blockquote><p>{}</p></blockquote>",
    "ul": "<ul>{}</ul>",
    "li": "<li>{}</li>",
    "code": '<pre><code class="language-python">{}</code></pre>',
    "table": '<table class="data">{}</table>',
    "head": "th",
    "figure": '<figure><picture><source data-srcset="{image} 2x">'
    '<img loading="lazy" data-src="{image}" alt="{text}"></picture>'
    '<noscript><img src="{image}" alt=""></noscript><figcaption>{text}</figcaption></figure>',
}
BOX = '<div class="css-53u6y8">{}</div>'
MANNERS: dict[str, dict[str, str]] = {
    "semantic": SEMANTIC,
    "table": {
        "p": "{}<br><br>",
        "lede": '<b><font size="3">{}</font></b><br><br>',
        "h2": '<br><font size="3" color="#990000"><b>{}</b></font><br>',
        "quote": '<table width="90%"><tr><td class="cit"><i>{}</i></td></tr></table>',
        "ul": "<UL>{}</UL>",
        "li": "<LI><font>{}</font>",
        "code": '<pre class="brush: python">{}</pre>',
        "table": '<table border="1" cellpadding="2" cellspacing="0">{}</table>',
        "head": "td",
        "figure": '<table align="right" width="200"><tr><td><img src="{image}" width="200" alt="">'
        '</td></tr><tr><td class="small">{text}</td></tr></table>',
    },
    "hashed": {
        **{kind: BOX.format(SEMANTIC[kind]) for kind in ("ul", "code", "table")},
        "p": BOX.format('<div><p class="css-at9mc1">{}</p></div>'),
        "lede": '<div class="css-1k7zpq"><p class="css-0"><strong>{}</strong></p></div>',
        "h2": '<div class="css-9qdf2"><h2 class="css-13o0c9t">{}</h2></div>',
        "quote": BOX.format('<q class="css-a8b1">{}</q>'),
        "li": SEMANTIC["li"],
        "head": "th",
        "figure": '<div class="css-1xdhyk6"><img data-src="{image}" class="lazyload" '
        'src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><span class="css-jevhma">{text}</span>'
        "</div>",
    },
    "amp": {
        **SEMANTIC,
        "figure": '<figure><amp-img src="{image}" width="640" height="360" layout="responsive">'
        "</amp-img><figcaption>{text}</figcaption></figure>",
    },
    "print": {**SEMANTIC, "figure": ""},  # what print views leave out
}


@lru_cache(maxsize=2048)
def render_blocks(blocks: tuple[Block, ...], manner: str, language: str) -> tuple[str, ...]:
    """Return each block as HTML; `manner` is one of `MANNERS`."""
    glue = "" if language == "zh" else " "
    return tuple(_render(block, MANNERS[manner], glue, i) for i, block in enumerate(blocks))


def _render(block: Block, manner: dict[str, str], glue: str, number: int) -> str:
    template, items = manner[block.kind], block.items
    if block.kind == "figure":
        return template.format(image=f"/img/{number:03}.png", text=escape(items[0]))
    if block.kind == "ul":
        return template.format("".join(manner["li"].format(escape(item)) for item in items))
    if block.kind == "table":
        rows = ""
        for start in range(0, len(items), block.columns):
            tag = "td" if start else manner["head"]
            cells = (f"<{tag}>{escape(cell)}</{tag}>" for cell in items[start:][: block.columns])
            rows += f"<tr>{''.join(cells)}</tr>"
        return template.format(rows)
    return template.format(glue.join(escape(item, quote=False) for item in items))
