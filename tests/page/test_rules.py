"""Each rule of reading, with a page for which it was made: what is read there, and what is not.

Without its rule, none of these pages is read well.
"""

import ast
import inspect
import pkgutil
import re
from importlib import import_module
from typing import Any, NamedTuple

import pytest

from simhash_gate import page, read_page
from tests.page.pages import PROSE, REPLY, json_ld

MODULES = [
    import_module(f"simhash_gate.page.{found.name}")
    for found in pkgutil.iter_modules(page.__path__)
]
TEXT = f"<h1>The flood</h1>{PROSE}"
LINKS = "".join(f"<li><a href=/{n}>The gauge of station {n}</a></li>" for n in range(6))
CARDS = "".join(
    f"<li class=card><a href=/{n}><img src={n}.jpg alt=''>Boat {n}</a> {n}9.90 €</li>"
    for n in range(4)
)
LINES = [f"On day {n} the water stood {n} feet above the gate of the old mill." for n in range(8)]
PARAGRAPHS = [f"<p>{line} {line[::-1]}</p>" for line in LINES]
CONSENT = (
    "<div class=x1><p>We use cookies, and cookies.</p><button class=consent>Fine</button></div>"
)
SONG = "".join(
    f"<div class=verse>{text}<blockquote>{REPLY}</blockquote></div>" for text in PARAGRAPHS[:2]
)
PRODUCT = "<meta property=og:type content=product>"
FORUM = "<meta name=generator content='Discourse 3.4'>"


# A thread as Discourse sends it: what is read without scripts, and what scripts fill.
DISCOURSE = (
    f"{FORUM}<noscript data-path=/t/the-flood/7><header class=d-header>Mill forum</header>"
    "<div id=main-outlet class=wrap><div id=topic-title><h1>The flood</h1></div>"
    + "".join(
        "<div class='topic-body crawler-post'><div class=crawler-post-meta><span class=creator>ada"
        f"</span><time>May 1, 2024</time></div><div class=post>{text}</div></div>"
        for text in PARAGRAPHS
    )
    + "</div><footer class=noscript-footer-wrapper>Powered by Discourse</footer></noscript>"
    "<section id=main><p>One moment, please.</p></section><script src=/app.js></script>"
)


def posts(name: str) -> str:
    return "".join(
        f"<div class={name}><div class=who>Ada, since 2019</div>"
        f"<div class=text>{PARAGRAPHS[n]}{PARAGRAPHS[n + 4]}</div></div>"
        for n in range(4)
    )


class Case(NamedTuple):
    """A page with a text that is read, one that is not, and what the rule returns if it is off."""

    page: str
    read: str = ""
    not_read: str = "\0"
    off: Any = None


CASES = {
    "show_frames": Case("<frameset><frame src=/all.html name=Gauges></frameset>", "[Gauges](/all"),
    "show_formulas": Case(
        f"{TEXT}<p>So <span class=katex><math><mi>x</mi><annotation encoding=application/x-tex>x^2"
        "</annotation></math><span class=katex-html>x2</span></span> holds.",
        "So $x^2$ holds.",
    ),
    "declared_article": Case(
        json_ld({"@type": "Article", "headline": "The flood", "articleBody": " ".join(LINES)})
        + "<div id=app></div>",
        LINES[7],
    ),
    "_is_opened": Case(
        f"{TEXT}<div role=tabpanel>Made of oak.</div><div role=tabpanel hidden>1200 W</div>",
        "1200 W",
        off=False,
    ),
    "_is_fold": Case(
        TEXT + "".join(f"<p>Why?</p><div class=answer hidden>{n}: {REPLY}</div>" for n in "ab"),
        f"b: {REPLY}",
        off=False,
    ),
    "_is_pane": Case(
        f"{TEXT}<div class=pane>{PARAGRAPHS[0]}</div><div class=pane style='display:none'>"
        f"{PARAGRAPHS[1]}</div>",
        LINES[1],
        off=False,
    ),
    "_put_in_place": Case(
        f"<main>{TEXT}<template id=B:1></template></main><div hidden id=S:1>{REPLY}</div>", REPLY
    ),
    "drop_invisible": Case(f"{TEXT}<script>let a = 1</script>", "", "let a"),
    "_end_lines": Case(
        f"{TEXT}<pre><code><span class=line>a = 1</span><span class=line>b = 2</span></code></pre>",
        "a = 1\nb = 2",
    ),
    "_show_images": Case(f"{TEXT}<amp-img src=/mill.jpg alt=Mill></amp-img>", "![Mill](/mill.jpg)"),
    "_take_texts_of_controls": Case(f"{TEXT}<p>An oar <button>Buy it</button></p>", "oar", "Buy"),
    "_is_question": Case(f"{TEXT}<h3><button>Who was hurt?</button></h3>", "hurt?", off=False),
    "_leave_sources": Case(f"{TEXT}<video src=a.mp4>Take another browser.</video>", "", "browser"),
    "_show_if_the_page": Case(DISCOURSE, LINES[3], "ada"),
    "permalinks": Case(f"<h1 id=flood>The flood<a href=#flood>¶</a></h1>{PROSE}", "flood", "¶", []),
    "edit_links": Case(
        f"{TEXT}<h2>Mills<b>[<a href=/w?action=edit>edit</a>]</b></h2>{PROSE}", "Mills", "edit", []
    ),
    "drop_icons": Case(f"{TEXT}<p><i class=material-icons>expand_more</i>Moss.", "Moss", "expand"),
    "drop_unseen": Case(f"{TEXT}<p>Its ri&shy;ver.", "Its river."),
    "label_panels": Case(
        f"{TEXT}<nav role=tablist><b role=tab>Oak</b></nav><div role=tabpanel>{PROSE}</div>", "Oak"
    ),
    "gutters": Case(
        f"{TEXT}<table><tr><td><pre>1\n2</pre><td><pre>a = 1\nb = 2</pre></table>",
        "b = 2",
        "1\n2",
        [],
    ),
    "boxes_of_data": Case(
        f"{TEXT}<pre>[{{'left': 5}}]</pre><div class=hide>[{{&quot;left&quot;: 4, &quot;is&quot;: "
        "&quot;<p>oak</p>&quot;}]</div>",
        "'left': 5",
        "4",
        [],
    ),
    "consent_layers": Case(f"{TEXT}{CONSENT}{PROSE}", "", "cookies", []),
    "is_boilerplate": Case(
        f"{TEXT}<div class=share-bar>Tell your friends</div>", "", "Tell", False
    ),
    "_is_of_text": Case(
        f"<main>{TEXT}<h2 id=comments>Of the mill</h2>{PROSE}", "Of the mill", off=False
    ),
    "is_misnamed": Case(
        f"<article class=promo><div><h1>The flood</h1>{REPLY}</div></article>{PROSE}",
        REPLY,
        off=False,
    ),
    "_is_note": Case(f"<main>{TEXT}<aside><p>{REPLY}</p></aside>{PROSE}", REPLY, off=False),
    "_has_paragraphs": Case(
        f"{TEXT}{PROSE}<div class=promo-card><p>{REPLY}</p><p>{REPLY} Or so.</p></div>",
        REPLY,
        off=False,
    ),
    "_is_of_many": Case(
        TEXT
        + "".join(f"<div class=card><div class=card-footer>{n}: {REPLY}</div></div>" for n in "ab"),
        f"b: {REPLY}",
        off=False,
    ),
    "_is_remark": Case(
        f"{TEXT}<section><h2>grind</h2><div class=tsd-comment>{REPLY}</div></section>{PROSE}",
        REPLY,
        off=False,
    ),
    "_is_between": Case(
        f"{TEXT}<div class=related-party><p>{REPLY}</p></div>{PROSE}", REPLY, off=False
    ),
    "_drop_forms": Case(
        f"{TEXT}<form action=/reply>Your name: <input name=n></form>", "", "Your name"
    ),
    "_drop_large": Case(
        f"<nav><ul>{LINKS * 9}</ul></nav><h1>The flood</h1><p>Soon.", "Soon", "gauge"
    ),
    "drop_link_lists": Case(f"{TEXT}<ul>{LINKS}</ul>{PROSE}", "", "gauge"),
    "_leads_away": Case(
        TEXT
        + "<ul>{}</ul>".format("".join(f"<li><a href=//{n}.example>Of {n}</a>" for n in "abcd")),
        "[Of c]",
        off=False,
    ),
    "_in_grid": Case(
        f"{TEXT}<div>{'<div><a href=/b>Gate b</a></div><div>Open.</div>' * 2}</div>",
        "[Gate b]",
        off=False,
    ),
    "_descend": Case(
        f"<div class=side><div>{PROSE}</div></div><div><h1>The flood</h1><p>{REPLY}</p></div>",
        REPLY,
        off=lambda element, *_: max(element, key=lambda e: len(e.text_content())),
    ),
    "drop_copies": Case(
        f"{TEXT}<div class=narrow><p>{REPLY}</p></div><div class=wide><p>{REPLY}</p></div>{PROSE}",
        REPLY,
        f"{REPLY}\n\n{REPLY}",
    ),
    "_is_refrain": Case(f"<h1>The flood</h1>{SONG}", f"{LINES[1][::-1]}\n\n> {REPLY}", off=False),
    "is_thread": Case(
        f"{FORUM}<h1>The flood</h1>{PROSE}<div>{posts('comment')}</div>",
        LINES[3],
        off=False,
    ),
    "is_gallery": Case(
        f"<main><h1>The flood</h1><div>{PROSE}</div>"
        f"<div><ul>{CARDS.replace('€', '€ for all who row it across')}</ul></div></main>",
        "river",
        "Boat 2",
        off=False,
    ),
    "drop_other_products": Case(
        f"{PRODUCT}<div><h1>The flood</h1>{''.join(PARAGRAPHS)}<ul>{CARDS}</ul></div>",
        LINES[7],
        "Boat 2",
    ),
    "post_metadata": Case(
        f"{FORUM}<h1>The flood</h1>{posts('post')}",
        LINES[3],
        "Ada",
        [],
    ),
    "_article_with_headline": Case(
        f"<main><div><article>{TEXT}</article></div><div><ul>{''.join(PARAGRAPHS)}</ul></div></main>",
        "river",
        LINES[3],
    ),
    "_main": Case(
        f"<div><div>{''.join(PARAGRAPHS[:6])}</div></div><div role=main>{PROSE * 2}</div>",
        "river",
        LINES[3],
    ),
    "_with_parts": Case(
        f"<div><h1>The flood</h1><p>12.90 €</p><p>{REPLY}</p></div><div><div>{PROSE}</div></div>",
        "12.90",
        off=lambda element, *_: element,
    ),
    "_parts": Case(
        f"<main><div class=a><h1>The flood</h1>{PROSE * 2}</div><div class=b>{PARAGRAPHS[2]}</div>"
        f"<div class=c><p>{LINES[1] * 2}</p>{LINKS}</div></main>",
        LINES[2],
        LINES[1],
        off=[],
    ),
    "_are_sections": Case(
        f"<main><h1>The flood</h1><div id=a><h2>Mills</h2>{PROSE * 3}</div>"
        f"<div id=b><h2>Boats</h2><p>{REPLY}</p></div></main>",
        REPLY,
        off=False,
    ),
    "_start_at_headline": Case(
        f"<p>You read an archived page.</p>{TEXT}", "river", "archived", True
    ),
    "_put_headline": Case(PROSE, "# The flood"),
}


def markdown_of(case: Case) -> str:
    return read_page(f"<title>The flood</title>{case.page}".encode()).markdown


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_reads_the_page_for_which_it_was_made(rule, monkeypatch):
    case = CASES[rule]
    markdown = markdown_of(case)
    assert case.read in markdown
    assert case.not_read not in markdown
    for module in MODULES:
        if rule in vars(module):
            off = case.off if callable(case.off) else lambda *_, **__: case.off
            monkeypatch.setattr(module, rule, off)
    without = markdown_of(case)
    assert case.read not in without or case.not_read in without


def test_each_rule_says_for_which_page_it_was_made_and_has_that_page_here():
    sources = list(map(inspect.getsource, MODULES))
    functions = [
        node
        for source in sources
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
    ]
    made = {f.name for f in functions if re.search("^for: .", ast.get_docstring(f) or "", re.M)}
    named = {name for source in sources for name in re.findall(r'rule="(\w+)"', source)}
    assert named <= {name.lstrip("_") for name in made}
    assert made <= CASES.keys()
