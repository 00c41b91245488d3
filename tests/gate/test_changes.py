"""Pages of one site that differ in one place: read from HTML, and judged over a real store.

Each is met as a copy at another address in the same crawl, and as a revisit in the next one.
"""

import pytest

from simhash_gate.gate.judge import Gate
from simhash_gate.gate.visit import Visit
from simhash_gate.identity.keys import key_of
from simhash_gate.options import pipeline_version
from simhash_gate.pipeline import read_page
from simhash_gate.stores import open_store

TEXT = (
    "<p>The hive in the north has stood on its slope since the year of the great frost, and nobody "
    "knows who carried the first swarm up there.</p><p>In summer the bees fly down to the heather, "
    "and in the evening the keepers hear them come home over the ridge, heavy and slow.</p>"
)
SITE = (
    "<html><head><title>{title}</title></head><body><nav><a href=/>Home</a></nav><main>"
    "<h1>{title}</h1>{inner}</main>"
    "<footer><p>We answer all letters within a week.</p></footer></body></html>"
)


def site_page(inner: str, title: str = "The hive") -> str:
    return SITE.format(inner=inner, title=title)


def outcomes(one: str, other: str) -> tuple[str, str]:
    """Return what the second page is as a copy of the first, and as a later visit."""
    return judged(site_page(one), site_page(other)), judged(
        site_page(one), site_page(other), revisit=True
    )


def judged(*pages: str, revisit: bool = False) -> str:
    """Judge pages in order, and return the outcome of the last."""
    store, outcome = open_store("memory:"), ""
    for number, html in enumerate(pages):
        url = "https://hive.example/page" if revisit else f"https://hive.example/{number}"
        run = f"run{number if revisit else 0}"
        if revisit or not number:
            store.begin(run)
            gate = Gate(store, run=run, pipeline=pipeline_version())
        visit = Visit(url, "hive.example", key_of(url), 1.7e9 + 86_400 * number)
        page = read_page(html.encode(), url=url)
        outcome = gate.judge(page, visit=visit).outcome
        if revisit:
            store.end(run)
    store.close()
    return outcome


SEEN = ({"near", "new"}, {"updated", "rewritten"})


def assert_seen(one: str, other: str) -> None:
    found = outcomes(one, other)
    assert found[0] in SEEN[0], found
    assert found[1] in SEEN[1], found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Letters are read until 12 March 2024", "Letters are read until 26 March 2024"),
        ("Monday to Friday 9:00 to 17:00", "Monday to Friday 10:00 to 18:00"),
        ("Honey for ten: 45 votes", "Honey for ten: 120 votes"),
        ("On 3 March 2024 the honey is safe", "On 3 March 2024 the honey is bad"),
        ("Sold until 3 March, 12 left", "Sold until 3 March, 9 left"),
    ],
)
@pytest.mark.parametrize("tag", ["p", "li", "div"])
def test_what_stands_beside_a_date_a_clock_or_a_counter_is_seen(one, other, tag) -> None:
    assert_seen(f"{TEXT}<{tag}>{one}</{tag}>", f"{TEXT}<{tag}>{other}</{tag}>")


TREES = ("oak", "ash", "elm", "fir", "yew", "birch")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12 March 2024", "26 March 2024"),
        ("12 March 2024, 8:10", "13 March 2024, 9:30"),
        ("Read 12 times", "Read 400 times"),
        ("3 comments", "45 comments"),
        ("Last updated 3 March 2024", "Last updated 9 March 2024"),
    ],
)
def test_when_a_page_was_published_or_how_often_read_is_no_change_of_it(one, other) -> None:
    byline = [f"<div>{line}</div>{TEXT}" for line in (one, other)]
    assert outcomes(*byline) == ("duplicate", "unchanged")
    below = [f"{TEXT}<div>{line}</div>" for line in (one, other)]
    assert outcomes(*below) == ("duplicate", "unchanged")


@pytest.mark.parametrize("label", ["Published", "Apply by", "Valid until"])
def test_a_date_with_a_label_is_seen(label) -> None:
    lines = (f"<div>{label} {day} March 2024, 8:10</div>" for day in (12, 13))
    assert_seen(*(f"{line}{TEXT}" for line in lines))


def test_a_byline_stands_before_a_text_of_short_lines_too() -> None:
    lines = "<br><br>".join(f"The {name} has lost all of its leaves by now" for name in TREES)
    byline = "By Ann Lee 12.03.2024 Updated {} minutes ago · 5 min read<br>"
    one, other = (f"<div>{byline.format(minutes)}{lines}</div>" for minutes in (5, 17))
    assert outcomes(one, other) == ("duplicate", "unchanged")


def test_who_wrote_a_page_is_seen_when_it_is_visited_again() -> None:
    one, other = (f"<div>By {name}, 12 March 2024</div>{TEXT}" for name in ("Ann Lee", "Bea Roe"))
    assert outcomes(one, other)[1] == "updated"


@pytest.mark.parametrize(
    "box",
    [
        "<div class=related-notes><p>{}</p></div>",
        "<div id=share-box class=share><b>Note</b> {}</div>",
        "<aside class=sidebar><p>{}</p></aside>",
    ],
)
def test_what_a_page_says_within_its_text_is_seen_whatever_its_box_is_called(box) -> None:
    text = TEXT.replace("</p><p>", f"</p>{box}<p>")
    for one, other in (
        ("The ridge is closed until May.", "The ridge is open to all again."),
        ("Ridge: closed", "Ridge: open"),
    ):
        assert one[6:] not in read_page(site_page(text.format(one)).encode()).markdown
        assert_seen(text.format(one), text.format(other))


ROWS = ("yynn", "nyny", "ynyy", "nnyn", "yyny", "nyyn")


@pytest.mark.parametrize("row", range(len(ROWS)))
@pytest.mark.parametrize(("yes", "no"), [("yes", "no"), ("✓", "–"), ("x", "")])
def test_one_mark_of_a_table_is_seen_among_many(yes, no, row) -> None:
    def table(*rows: str) -> str:
        cells = ("".join(f"<td>{yes if mark == 'y' else no}</td>" for mark in it) for it in rows)
        lines = (f"<tr><td>{tree}</td>{it}</tr>" for tree, it in zip(TREES, cells, strict=True))
        return f"{TEXT}<table>{''.join(lines)}</table>"

    other = [*ROWS]
    other[row] = ROWS[row].translate({ord("y"): "n", ord("n"): "y"})[:1] + ROWS[row][1:]
    assert_seen(table(*ROWS), table(*other))


@pytest.mark.parametrize(
    "box",
    [
        "<div class=ad-slot><p>{}</p></div>",
        "<amp-ad><div placeholder>{}</div></amp-ad>",
        "<div class=c-9><small>Advertisement</small><a href=/x rel=sponsored>{}</a></div>",
        "<div class=related><a href=/y>{}</a></div>",
        "<nav>{}</nav>",
    ],
)
def test_advertisements_and_links_within_a_text_are_not(box) -> None:
    text = TEXT.replace("</p><p>", f"</p>{box}<p>")
    lines = "Fly to the south for nine coins today", "Try the new mattress for a hundred nights"
    assert outcomes(*map(text.format, lines)) == ("duplicate", "unchanged")
    around = f"{box}{TEXT}{box}"
    assert outcomes(*map(around.format, lines, lines)) == ("duplicate", "unchanged")


def test_what_the_site_says_within_its_texts_makes_no_other_page_once_it_is_known() -> None:
    note = "<div class=share><p>Write to us, and get a letter back for free</p></div>"
    text = TEXT.replace("</p><p>", f"</p>{note}<p>")
    others = [
        site_page(f"<p>The {name} stands alone, {name}s say, and asks nobody.</p>" * 3 + text, name)
        for name in ("oak", "ash", "elm", "fir")
    ]
    assert judged(site_page(text), site_page(TEXT)) == "near"
    assert judged(*others, site_page(text), site_page(TEXT)) == "duplicate"
    assert judged(*others, site_page(TEXT), site_page(text)) == "duplicate"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "<pre><code>if (open) start();</code></pre>",
            "<pre><code>if (!open) start();</code></pre>",
        ),
        ("<pre>const A = b;</pre>", "<pre>const a = B;</pre>"),
        (
            "<ul><li><input type=checkbox checked> Feed<li><input type=checkbox> Look</ul>",
            "<ul><li><input type=checkbox> Feed<li><input type=checkbox checked> Look</ul>",
        ),
        (
            "<dl><dt>Width<dd>40 cm<dt>Height<dd>60 cm</dl>",
            "<dl><dt>Width<dd>60 cm<dt>Height<dd>40 cm</dl>",
        ),
        (
            "<table><tr><td>Ann<td>passed<tr><td>Bea<td>failed</table>",
            "<table><tr><td>Ann<td>failed<tr><td>Bea<td>passed</table>",
        ),
        ("<ol><li>Smoke<li>Open<li>Look</ol>", "<ol><li>Open<li>Smoke<li>Look</ol>"),
    ],
)
def test_signs_in_code_boxes_checked_and_places_of_values_are_seen(one, other) -> None:
    assert_seen(TEXT + one, TEXT + other)


@pytest.mark.parametrize(("one", "other"), [("", "Closed"), ("Open", "Closed"), ("Closed", "")])
def test_a_word_of_the_menu_is_seen_where_the_text_says_it_at_a_revisit(one, other) -> None:
    menu = "<div class=menu><p>Open</p><p>Closed</p></div>"
    pages = (site_page(f"{TEXT}<p>{line}</p>{menu}") for line in (one, other))
    assert judged(*pages, revisit=True) == "updated"


def test_a_line_of_links_that_comes_or_goes_is_no_change() -> None:
    links = "<h1>Oaks</h1><p><a href=/print/oaks>Print</a> <a href=/amp/oaks>AMP</a></p>"
    assert outcomes(f"<h1>Oaks</h1>{TEXT}", f"{links}{TEXT}") == ("duplicate", "unchanged")


def test_a_link_of_the_text_that_says_something_else_is_a_change() -> None:
    minutes = "{}<p><a href=/1.pdf>Minutes of April 22</a></p><p><a href=/2.pdf>{}</a></p>"
    one, other = (minutes.format(TEXT, f"Minutes of May {day}") for day in (27, 29))
    assert outcomes(one, other)[1] == "updated"


def test_indentation_is_seen_in_the_next_crawl_and_spaces_at_the_end_are_not() -> None:
    code = "<pre>while bees:\n    feed()\n{}look()</pre>"
    assert outcomes(TEXT + code.format("    "), TEXT + code.format(""))[1] == "updated"
    spaced = code.replace("</pre>", "  \n</pre>").format("")
    assert outcomes(TEXT + code.format(""), TEXT + spaced) == ("duplicate", "unchanged")


SHOP = (
    "<html><head><title>{title}</title></head><body><nav><a href=/>Home</a></nav>"
    "<div class=left><h1>{title}</h1>{text}</div><div class=right>{box}</div>"
    "<h3>Others bought</h3><p><a href=/p/1>A smoker for nine hives</a></p></body></html>"
)
PRICE = "<span>€ 12.90</span>"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"{PRICE}<div>In stock</div>", f"{PRICE}<div>Sold out</div>"),
        (f"{PRICE}<div>Pack of 6</div>", f"{PRICE}<div>Pack of 12</div>"),
        (f"{PRICE}<button>Add to cart</button>", f"{PRICE}<button>Notify me</button>"),
        (
            "<button aria-pressed=true>Red</button><button aria-pressed=false>Blue</button>",
            "<button aria-pressed=false>Red</button><button aria-pressed=true>Blue</button>",
        ),
        (
            "<input type=radio name=c value=r checked>Red<input type=radio name=c value=b>Blue",
            "<input type=radio name=c value=r>Red<input type=radio name=c value=b checked>Blue",
        ),
    ],
)
@pytest.mark.parametrize("tag", ["div", "aside"])
def test_what_stands_beside_a_price_apart_from_the_text_is_seen(one, other, tag) -> None:
    pages = [
        SHOP.replace("div class=right", f"{tag} class=right").format(
            title="A hive of pine", text=TEXT, box=box
        )
        for box in (one, other)
    ]
    assert judged(*pages) == "near"
    assert judged(pages[0], pages[0].replace("A smoker for nine hives", "A veil")) == "duplicate"


@pytest.mark.parametrize("value", ["Sent off after 2 to 9 days", "Comes in packs of 4 or 6"])
def test_a_short_line_with_numbers_is_a_value_though_the_site_has_it_on_many_pages(value) -> None:
    values = [value, "Sent off after 1 to 5 days"]
    others = [
        site_page(f"<p>The {name} stands alone and asks nobody.</p>{TEXT}<p>{value}</p>", name)
        for name in TREES
        for value in values
    ]
    pages = [site_page(f"{TEXT}<p>{value}</p>") for value in values]
    assert judged(*others, *pages) == "near"
    assert judged(*others, pages[0], pages[0]) == "duplicate"


CARDS = "<div><h3>Oak</h3><p>{}</p><p>{}</p></div><div><h3>Ash</h3><p>{}</p><p>{}</p></div>"


@pytest.mark.parametrize(
    ("form", "one", "other"),
    [
        ("{text}<dl><dt>Keeper</dt><dd><a href=/p>{}</a></dd></dl>", ["Ann Lee"], ["Bea Roe"]),
        ("{text}<p>12 May 2024: {}</p>", ["123.40"], ["123.90"]),
        ("<p>Sheet 4, scale {}</p>{text}", ["1:25,000"], ["1:50,000"]),
        ("<p>€ 12.90</p><p>Sent off on {} March</p>{text}", [3], [17]),
        ("{text}" + CARDS, ["12 €", "left", "14 €", "gone"], ["14 €", "gone", "12 €", "left"]),
    ],
    ids=["under a label", "beside a date", "no clock", "no byline", "exchanged by cards"],
)
def test_values_are_seen(form, one, other) -> None:
    assert_seen(form.format(*one, text=TEXT), form.format(*other, text=TEXT))


def test_a_sentence_that_is_said_once_more_is_seen() -> None:
    first = TEXT[: TEXT.index("</p>") + 4]
    assert_seen(TEXT, f"{TEXT}<p>A line between the two, as a post has it.</p>{first}")
    assert_seen(f"{TEXT}<p>It was so.</p>", f"{TEXT}{first}<p>It was so.</p>")


SECTIONS = ("Trades and work", "Permits, fines and licences", "Bees, hives and honey")


ABOVE = "<h1>Town of Larch</h1><h1>{section}</h1>"
TEMPLATES = {
    "part": ("{section} | Town of Larch", ABOVE + "<h1>{own}</h1>"),
    "first": ("{own} | Town of Larch", ABOVE + "<h1>{own}</h1>"),
    "second": ("{own} | {section}", "<h1>{section}</h1><main><h2>{own}</h2>"),
    "data": (
        "{section} - Town of Larch",
        '<script type="application/ld+json">{{"@type":"Article","headline":"{own}"}}</script>'
        "<main><h2>{own}</h2>",
    ),
}


def named(own: str, section: str, template: str) -> str:
    title, headings = TEMPLATES[template]
    page = f"<html><head><title>{title}</title></head><body>{headings}{TEXT}</body></html>"
    return page.format(own=own, section=section)


@pytest.mark.parametrize("template", ["first", "second", "data"])
def test_the_section_that_a_page_stands_in_is_no_part_of_its_name(template) -> None:
    one, other = (named("Sell a hive", section, template) for section in SECTIONS[:2])
    assert judged(one, other) == "duplicate"
    assert judged(one, named("Plant a tree", SECTIONS[0], template)) == "near"
    assert judged(one, named("Plant a tree", SECTIONS[1], template)) == "near"


def test_names_that_pages_of_a_site_have_beside_others_are_learned() -> None:
    others = [
        named(f"Care for the {tree}", section, "part").replace("hive in", f"{tree} in")
        for tree in TREES
        for section in SECTIONS
    ]
    one, other = (named("Sell a hive", section, "part") for section in SECTIONS[:2])
    assert judged(one, other) == "near"
    assert judged(*others, one, other) == "duplicate"
    assert judged(*others, one, named("Plant a tree", SECTIONS[0], "part")) == "near"
    assert judged(*others, one, named("Plant a tree", SECTIONS[1], "part")) == "near"


PLACES = ("harbour", "mill", "orchard", "quarry", "station")


@pytest.mark.parametrize(
    ("said", "other", "outcome"),
    [
        ("<p>Printed from The Valley on {} November 2026</p>", "", "duplicate"),
        ("", "<p>Printed from The Valley on {} November 2026</p>", "duplicate"),
        ("<p>The {} keepers of the hive met in {} rooms</p>", "", "near"),  # one page alone says so
        (
            "<p>The walk takes {} hours from here</p>",
            "<p>The walk takes 9 hours from here</p>",
            "near",
        ),
    ],
)
def test_a_sentence_with_numbers_that_one_page_has_as_others_do_makes_no_other(
    said: str, other: str, outcome: str
) -> None:
    usual = said or other
    pages = [
        site_page(f"{TEXT.replace('hive', place)}{usual.format(number, number)}", f"The {place}")
        for number, place in enumerate(PLACES[:2] if "keepers" in said else PLACES, 11)
    ]
    pair = (site_page(f"{TEXT}{it.format(30, 31)}") for it in (said, other))
    assert judged(*pages, *pair) == outcome
