import pytest

from simhash_gate.page import extract
from simhash_gate.page.blocks import blocks
from simhash_gate.page.extract import ReadabilityExtractor, SteadyExtractor
from simhash_gate.page.flow import flow
from tests.page.pages import clean_page

PARAGRAPHS = [
    "The harbour was closed on Monday after a crane fell into the water, the port authority said.",
    "Nobody was hurt, but two ships had to wait outside, and a third one turned back to the north.",
    "Divers began to look at the wreck in the afternoon; lifting it may take until the weekend.",
    "A spokeswoman said that ferries were not affected, since they leave from the other basin.",
]
HEADLINE = "Crane falls into harbour"
STORY = "".join(f"<p>{text}</p>" for text in PARAGRAPHS)
ARTICLE = f"<h1>{HEADLINE}</h1>{STORY}"


def extracted(body, extractor=SteadyExtractor, title=HEADLINE):
    page = clean_page(body, f"{title} | News")
    return [block.text for block in blocks(flow(extractor()(page).element))]


@pytest.mark.parametrize(
    "template",
    [
        "<body>{}</body>",
        "<body><header><a href=/>News</a></header><main>{}</main><footer>c</footer></body>",
        "<body><div><div><div><div id=content>{}</div></div></div></div></body>",
        "<body><div class=has-sidebar><div>{}</div><div class=sidebar>Weather</div></div></body>",
        "<body><div>{}</div><div><ul><li><a href=1>More</a><li><a href=2>Old</a></ul></div></body>",
    ],
)
def test_the_same_article_comes_out_of_every_template(template):
    assert extracted(template.format(ARTICLE)) == [HEADLINE, *PARAGRAPHS]


def test_what_stands_above_the_headline_is_left_out():
    above = "<p>You read an archived page.</p><h2>Crane falls into harbour</h2>"
    assert extracted(f"<body>{above}{ARTICLE}</body>")[0] == HEADLINE
    above = "<p>Section Accidents at sea</p>"
    page = f"<body>{above}<h1>Report {HEADLINE}</h1>{STORY}</body>"
    assert extracted(page, title=f"{HEADLINE} (2024)")[0] == f"Report {HEADLINE}"


def test_the_article_with_the_headline_wins_over_longer_columns_beside_it():
    live = "".join(
        f"<li>At {n} o'clock the wind turned, and boat {n} came home.</li>" for n in range(20)
    )
    body = f"<main><div><article>{ARTICLE}</article></div><div><ul>{live}</ul></div></main>"
    assert extracted(f"<body>{body}</body>") == [HEADLINE, *PARAGRAPHS]


def test_an_article_shorter_than_its_header_is_not_its_header():
    body = (
        f"<body><article><header><h1>{HEADLINE}</h1><p>By Ada Lovelace, our woman in the north, "
        "and Grace Hopper at home</p></header><div><p>Nobody was hurt.</p></div></article></body>"
    )
    assert extracted(body)[-1] == "Nobody was hurt."


@pytest.mark.parametrize(
    "body",
    [
        f"<header><h1>{HEADLINE}</h1></header><div><p>By Ada</p></div><div>{STORY}</div>",
        f"<header></header><div><p>By Ada</p></div><div>{STORY}</div>",
    ],
)
def test_the_headline_comes_along_wherever_the_template_keeps_it(body):
    assert extracted(f"<body>{body}</body>") == [HEADLINE, *PARAGRAPHS]


@pytest.mark.parametrize(
    "template",
    [
        "<div class=side><div>{side}</div></div><div class=post>{post}</div>",
        "<div class=post>{post}</div><aside><div>{side}</div></aside>",
        "<div class=post>{post}</div><div class=widget-area><div>{side}</div></div>",
    ],
)
def test_a_short_post_is_not_the_longer_column_beside_it(template):
    post = f"<h1>{HEADLINE}</h1><p>It fell into a boat.</p>"
    assert "It fell into a boat." in extracted(f"<body>{template.format(post=post, side=STORY)}")
    text = "It fell into a boat; the boat sank, the crane with it; nobody was there to see it."
    behind = f"<div><h1>{HEADLINE}</h1><p>{text}</p></div><div>{STORY}</div>"
    assert text in extracted(f"<body>{behind}</body>")


HEAD = "<p>12.90 €</p><p>Item no. C-204</p><p>Sold by the Harbour Shop, delivered in two days</p>"
MENU = (
    "<div><p>Lanterns, ropes and a paragraph about everything else that the shop has got.</p></div>"
)


@pytest.mark.parametrize(
    "template",
    [
        "<body><div>{menu}<div><h1>{name}</h1>{head}</div><div><div>{story}</div></div></div></body>",
        "<body>{menu}<div><h1>{name}</h1></div><div>{head}</div><div><div>{story}</div></div></body>",
    ],
)
def test_what_stands_between_the_headline_and_the_article_is_of_the_page(template):
    body = template.format(menu=MENU, name=HEADLINE, head=HEAD, story=STORY)
    assert extracted(body) == [
        *(HEADLINE, "12.90 €", "Item no. C-204"),
        *("Sold by the Harbour Shop, delivered in two days", *PARAGRAPHS),
    ]


def test_paid_links_and_link_lists_inside_an_article_are_left_out_and_tables_of_links_stay():
    paid = "<a href=x rel='nofollow sponsored'>Buy one, get two</a>"
    links = "<div><a href=1>Most read</a> <a href=2>Second most read</a></div>"
    article = ARTICLE.replace("</p><p>", f"</p>{paid}{links}<p>", 1)
    assert extracted(f"<body>{article}</body>") == [HEADLINE, *PARAGRAPHS]
    rows = "".join(f"<tr><td><a href={n}>Class{n}</a></td><td>Does {n}.</td></tr>" for n in "abc")
    assert "Classa" in extracted(f"<body>{ARTICLE}<table>{rows}</table></body>")


BANNER = "<div class=row><p>Free delivery on all orders of more than fifty pounds.</p></div>"
SHOP = "".join(f"<ul class=menu><li><a href=/{n}>Hats and gloves {n}</a></ul>" for n in range(40))


@pytest.mark.parametrize(
    ("body", "left"),
    [
        (f"{SHOP}{BANNER}", True),
        (f"{SHOP}<div><h3>Delivery - Shop</h3>{BANNER}</div>", True),
        (f"{SHOP}<div><h1>Delivery - Shop</h1><p>It is free.</p>{BANNER}</div>", False),
        (f"{SHOP}<div><h2>Hats</h2><p>All of them are warm.</p>{BANNER}</div>", False),
        (f"{4 * SHOP}<p>{3 * PARAGRAPHS[0]}</p>", False),
        (BANNER, False),
    ],
)
def test_a_small_part_of_a_page_without_its_headline_may_be_what_is_left_of_its_chrome(body, left):
    page = clean_page(f"<body>{body}", "Hats | Shop")
    assert extract.is_leftover(SteadyExtractor()(page), page) == left


def test_readability_alone_finds_an_article_or_takes_the_usual_containers():
    body = f"<body><div><a href=/>Home</a></div><div id=content>{ARTICLE}</div></body>"
    assert set(PARAGRAPHS) <= set(extracted(body, ReadabilityExtractor))
    items = "".join(f"<span>item {n} of a gallery</span> " for n in range(30))
    for container in ("article", "main", "div role=main", "div id=content"):
        body = f"<body><div>x</div><{container}>{items}</{container.split()[0]}></body>"
        assert "item 29" in " ".join(extracted(body, ReadabilityExtractor)), container


PART = (
    "<h2>{}</h2><p>The port has rules of its own for ships that carry {}, whatever their flag.</p>"
)
BIG = "<h2>Cranes</h2>" + STORY * 3


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<div>", "</div>"),
        ("<div class={0}>", "</div>"),
        ("<section id={0}>", "</section>"),
        ("", ""),
    ],
)
def test_parts_under_headings_are_one_text_however_large_one_of_them_is(before, after):
    parts = PART.format("Oil", "oil"), BIG, PART.format("Grain", "grain")
    names = "abc" if before else ""
    boxes = [
        f"{before.format(name)}{part}{after}" for name, part in zip(names, parts, strict=False)
    ]
    if not before:  # headings stand beside what they are of
        boxes = [part.replace("</h2>", "</h2><div>", 1) + "</div>" for part in parts]
    found = extracted(f"<body><main><h1>{HEADLINE}</h1>{''.join(boxes)}</main></body>")
    assert [line for line in found if line in ("Oil", "Cranes", "Grain")] == [
        "Oil",
        "Cranes",
        "Grain",
    ]


def test_what_stands_beside_a_text_without_headings_of_its_kind_is_no_part_of_it():
    story = f"<div class=story>{STORY * 3}</div>"
    other = f"<div class=more>{PART.format('Newsletter', 'letters')}</div>"
    assert "Newsletter" not in extracted(
        f"<body><main><h1>{HEADLINE}</h1>{story}{other}</main></body>"
    )
