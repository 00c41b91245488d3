"""Blocks of text as HTML, in the three manners of writing it that the site's designs have."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.site.articles import Block


@lru_cache(maxsize=2048)
def render_blocks(blocks: tuple[Block, ...], manner: str, language: str) -> tuple[str, ...]:
    """Return each block as HTML; `manner` is table, semantic, hashed, amp or print."""
    render = {"table": _table_manner, "hashed": _hashed}.get(manner, _semantic)
    glue = "" if language == "zh" else " "
    parts = []
    for i, block in enumerate(blocks):
        if block.kind == "figure":
            parts.append(_figure(block, manner, i))
            continue
        text = glue.join(escape(item, quote=False) for item in block.items)
        parts.append(render(block, text))
    return tuple(parts)


def _semantic(block: Block, text: str) -> str:
    match block.kind:
        case "lede":
            return f'<p class="standfirst">{text}</p>'
        case "h2":
            return f"<h2>{text}</h2>"
        case "quote":
            return f"<blockquote><p>{text}</p></blockquote>"
        case "ul":
            return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in block.items)}</ul>"
        case "code":
            return f'<pre><code class="language-python">{text}</code></pre>'
        case "table":
            return f'<table class="data">{_rows(block, head="th")}</table>'
    return f"<p>{text}</p>"


def _table_manner(block: Block, text: str) -> str:
    match block.kind:
        case "lede":
            return f'<b><font size="3">{text}</font></b><br><br>'
        case "h2":
            return f'<br><font size="3" color="#990000"><b>{text}</b></font><br>'
        case "quote":
            return f'<table width="90%"><tr><td class="cit"><i>{text}</i></td></tr></table>'
        case "ul":
            points = "".join(f"<LI><font>{escape(item)}</font>" for item in block.items)
            return f"<UL>{points}</UL>"
        case "code":
            return f'<pre class="brush: python">{text}</pre>'
        case "table":
            rows = _rows(block, head="td")
            return f'<table border="1" cellpadding="2" cellspacing="0">{rows}</table>'
    return f"{text}<br><br>"


def _hashed(block: Block, text: str) -> str:
    match block.kind:
        case "lede":
            return f'<div class="css-1k7zpq"><p class="css-0"><strong>{text}</strong></p></div>'
        case "h2":
            return f'<div class="css-9qdf2"><h2 class="css-13o0c9t">{text}</h2></div>'
        case "quote":
            return f'<div class="css-53u6y8"><q class="css-a8b1">{text}</q></div>'
        case "p":
            return f'<div class="css-53u6y8"><div><p class="css-at9mc1">{text}</p></div></div>'
    return f'<div class="css-53u6y8">{_semantic(block, text)}</div>'


def _rows(block: Block, *, head: str) -> str:
    rows = []
    for start in range(0, len(block.items), block.columns):
        tag = head if start == 0 else "td"
        cells = block.items[start : start + block.columns]
        rows.append(f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>")
    return "".join(rows)


def _figure(block: Block, manner: str, number: int) -> str:
    caption = escape(block.items[0])
    image = f"/img/{number:03}.png"
    match manner:
        case "print":
            return ""  # what print views leave out
        case "amp":
            return (
                f'<figure><amp-img src="{image}" width="640" height="360" layout="responsive">'
                f"</amp-img><figcaption>{caption}</figcaption></figure>"
            )
        case "table":
            return (
                f'<table align="right" width="200"><tr><td><img src="{image}" width="200" alt="">'
                f'</td></tr><tr><td class="small">{caption}</td></tr></table>'
            )
        case "hashed":
            return (
                f'<div class="css-1xdhyk6"><img data-src="{image}" class="lazyload" '
                'src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">'
                f'<span class="css-jevhma">{caption}</span></div>'
            )
    return (
        f'<figure><picture><source data-srcset="{image} 2x"><img loading="lazy" data-src="{image}" '
        f'alt="{caption}"></picture><noscript><img src="{image}" alt=""></noscript>'
        f"<figcaption>{caption}</figcaption></figure>"
    )
