"""What of a page is boilerplate, and goes, and what is its text, and stays."""

import pytest

from simhash_gate.page.vocabulary import speaks_of_boilerplate
from simhash_gate.pipeline import read_page
from tests.page.pages import PROSE, REPLY, SENTENCE, clean_page, cleaned

CHROME_NAMES = """
    nav-bar site_nav sidebar article-sidebar cookieConsent share-buttons ad topAd gNav spGNav
    newsletter-box breadcrumbs post-pagination related comments comment read-more adbox
    story-ad-0-wrapper related-posts newsletter-container amp-ad author-bio right-col about_author
    cc-window share-on
"""
CONTENT_NAMES = """
    canvas unnavigable shadow download has-sidebar no-sidebar header article-header-title
    sidebar-layout commentary x1ad3 sc-kKBcAd xAdBcd bXcCde roadmap social-media-text
    table_root__adKqa layout__main--sidebar-enabled--false
    category-newsletter related-title cc td-no-pagination main-with-sidebar EContainerWithoutAd
    topicBodyAndFooter comments-off top-[var(--nav-height)]
"""


def test_chrome_is_named_by_whole_words():
    assert [name for name in CHROME_NAMES.split() if not speaks_of_boilerplate(name)] == []
    assert [name for name in CONTENT_NAMES.split() if speaks_of_boilerplate(name)] == []


BOILERPLATE_TAGS = (
    "script style noscript template nav header footer aside button iframe cookie-banner"
)
BOILERPLATE_ROLES = "navigation complementary banner contentinfo search"


@pytest.mark.parametrize(
    "boilerplate",
    [
        *(f"<{tag}>CHROME</{tag}>" for tag in BOILERPLATE_TAGS.split()),
        *(f"<div role={role}>CHROME</div>" for role in BOILERPLATE_ROLES.split()),
        "<form>CHROME<input value=CHROME></form>",
        "<svg><text>CHROME</text></svg>",
        "<div hidden>CHROME</div>",
        "<div style='color: red; display: none'>CHROME</div>",
        "<amp-ad width=300>CHROME</amp-ad>",
        "<span itemprop=author>CHROME</span>",
    ],
)
def test_chrome_goes_and_the_text_after_it_stays(boilerplate):
    assert cleaned(f"<body>{PROSE}{boilerplate}after</body>") == f"{SENTENCE * 8}after"


@pytest.mark.parametrize("container", ["article", "main"])
def test_header_and_footer_of_an_article_belong_to_it(container):
    own = f"<{container}><header>OWN WORDS</header>{PROSE}<footer>LAST WORDS</footer>"
    assert cleaned(f"<body>{own}") == f"OWN WORDS{SENTENCE * 8}LAST WORDS"


@pytest.mark.parametrize("wrapper", ["div class=sidebar", "aside", "div id=comments", "form"])
def test_what_holds_most_of_the_text_is_no_chrome(wrapper):
    name = wrapper.split()[0]
    assert "river rose" in cleaned(f"<body><p>short</p><{wrapper}>{PROSE}</{name}></body>")
    assert "river rose" in cleaned(f'<body class="sidebar has-sidebar">{PROSE}</body>')
    form = f"<form><button>Send</button>{PROSE}</form>"
    assert "Send" not in cleaned(f"<body>{form}</body>"), "without its controls"


ORDER = "<form action=/cart><p>{}</p>Quantity: <input name=n><button>Buy</button></form>"
REVIEW = "<form action=/reply><p>Your name and what you think of it:</p><input name=n></form>"


def test_a_form_that_says_much_of_what_is_said_outside_of_links_is_what_the_page_is_about():
    links = "".join(
        f"<li><a href=/{n}>Hammers, nails and saws, part {n}</a></li>" for n in range(60)
    )
    shop = f"<p>We deliver on the next day, to any address.</p><ul>{links}</ul>"
    product = "A hammer of 500 g with a handle made of ash, for anybody who builds boats."
    assert product in cleaned(f"<body>{shop}{ORDER.format(product)}</body>")
    assert "what you think" in cleaned(f"<body>{shop}{ORDER.format(product)}{REVIEW}</body>")
    assert "what you think" not in cleaned(f"<body>{PROSE}{REVIEW}</body>")
    for boilerplate in ("hidden", "style='display: none'", "role=search"):
        order = ORDER.replace("form", f"form {boilerplate}", 1).format(product)
        assert product not in cleaned(f"<body>{shop}{order}</body>"), boilerplate


CHOICE = "<form class=cart><p>Size: {}</p><input type=radio><input name=qty value=1></form>"


def test_what_a_form_offers_to_choose_from_is_said_and_does_not_move_the_fingerprint():
    small, large = (
        read_page(f"<h1>A hat</h1>{CHOICE.format(size)}{PROSE * 4}".encode()) for size in "SL"
    )
    assert "Size: S" in small.markdown
    assert "Size: L" in large.markdown
    assert small.fingerprint == large.fingerprint
    cards = f"<div>A hat{CHOICE.format('S')}</div><div>A cap{CHOICE.format('L')}</div>"
    assert "Size" not in cleaned(f"<body>{PROSE}{cards}</body>"), "a form for each entry of a list"


def test_what_has_gone_is_taken_off_the_size_of_the_links_that_it_was_in():
    card = "<a href=/hat><div>A hat<form action=/cart>How many of them?</form></div></a>"
    measures = clean_page(f"<body>{PROSE}{card * 3}").measures
    links = [element for element in measures.text if element.tag == "a"]
    assert {(measures.text[link], measures.links[link]) for link in links} == {(4, 4)}
    assert [size for element, size in measures.links.items() if element.tag == "body"] == [12]


def test_the_menu_or_footer_of_a_short_page_goes_although_it_is_larger_than_the_article():
    headline = "A short page of few words"
    menu = "".join(f"<li><a href=/{i}>Section number {i}</a>" for i in range(50))
    assert cleaned(f"<body><nav><ul>{menu}</ul></nav><h1>{headline}</h1></body>") == headline
    for tag in ("footer", "div class=page-footer"):
        footer = f"<{tag}>{PROSE}</{tag.split()[0]}>"
        assert cleaned(f"<body><h1>{headline}</h1>{footer}</body>") == headline, tag


@pytest.mark.parametrize("depth", [1, 5, 300])
def test_chrome_is_found_however_many_boxes_it_is_in(depth) -> None:
    within = "<div class=sidebar><nav>Home</nav>" * depth, "<aside>More</aside></div>" * depth
    text = PROSE * 9
    assert cleaned(f"<body>{text.join(within)}after") == cleaned(f"<body>{text}after")


@pytest.mark.parametrize("name", ["comment", "userComment", "thread-reply-comment"])
def test_boxes_under_the_headline_with_no_article_before_them_are_the_posts_of_a_thread(name):
    said = "<b>Ada</b><time>8:15</time>"
    one, *others = (f"<div class={name}>{said}<p>{n}: {REPLY}</p></div>" for n in range(4))
    posts = one + "".join(others)
    thread = cleaned(f"<body><nav>Home</nav><h1>t</h1><div class=comments>{posts}</div></body>")
    assert thread.startswith("tAda8:150: The lower")
    assert thread.endswith(f"3: {REPLY}")
    for article in (f"{PROSE}{posts}", f"{one}{PROSE}{posts}"):
        assert "Ada" not in cleaned(f"<body><h1>t</h1>{article}</body>")


def test_posts_are_of_one_kind_and_comments_below_a_short_text_of_wide_characters_are_none():
    posts = "".join(f"<li class='comment number-{n}'>{n}: {REPLY}</li>" for n in range(4))
    intro = "<p>Be kind to all, and ask if you need help.</p>"
    assert f"3: {REPLY}" in cleaned(f"<body><h1>t</h1>{intro}<ul>{posts}</ul></body>")
    story = "昨夜の大雨で川の水があふれ、低い土地の畑が水につかったと町が明らかにした。"
    comments = "<div class=comment>とても心配です。はやく水が引くように祈っています。</div>" * 9
    assert cleaned(f"<body><h1>t</h1><p>{story}</p>{comments}</body>") == f"t{story}"


@pytest.mark.parametrize(
    "box",
    ["div class=modal", "div class=promo-card", "div class=row hidden", "aside", "ul class=menu"],
)
def test_boxes_of_a_template_are_no_posts_however_short_the_page_is(box):
    boxes = "".join(f"<{box}><li>{n}: {REPLY}</{box.split()[0]}>" for n in range(4))
    page = f"<body><div><h1>t</h1><p>A good hammer.</p></div><div>{boxes}</div></body>"
    assert cleaned(page) == "tA good hammer."


@pytest.mark.parametrize("name", ["modal", "cookie-layer"])
def test_a_layer_with_the_headline_is_the_page(name):
    page = f"<p>Welcome to the gauges of the river</p><div class={name}>{{}}{PROSE}</div>"
    assert "river rose" in cleaned(f"<body>{page.format('<h1>t</h1>')}</body>")
    no_other = cleaned(f"<body>{page.format('<h1>Sign up</h1>')}</body>")
    assert ("river rose" in no_other) == (name == "modal")
    other = f"<h1>The gauges</h1>{page.format('<h2>Sign up</h2>')}"
    assert "river rose" not in cleaned(f"<body>{other}</body>")


@pytest.mark.parametrize("name", ["sales-flash-overlay", "wc-related-upsell-columns-4", "promo"])
def test_what_the_headline_stands_in_is_no_chrome_by_its_name(name):
    product = f"<article class='{name}'><div><h1>{{}}</h1><p>A good hammer.</p></div></article>"
    assert "A good hammer" in cleaned(f"<body>{product.format('t')}{PROSE}</body>")
    assert "A good hammer" not in cleaned(f"<body>{product.format('Other')}{PROSE}</body>")


@pytest.mark.parametrize("name", ["skip-to-products", "gutter-md", "content-read-more"])
def test_a_box_is_no_line_that_says_more_than_a_line(name):
    entries = "".join(f"<li><a href=/{n}>Hammer number {n}</a></li>" for n in range(9))
    box = f"<div class={name}>{{}}</div>"
    assert "Hammer number 8" in cleaned(f"<body>{PROSE}{box.format(entries)}</body>")
    assert "Hammer" not in cleaned(f"<body>{PROSE}{box.format('Hammers')}</body>")
    assert "99" not in cleaned(f"<body>{PROSE}{box.format(' '.join(map(str, range(100))))}")


def test_a_box_around_the_page_is_no_menu_though_it_is_called_one_and_mostly_links():
    entries = "".join(f"<li><a href=/{n}>Hammer number {n}</a> of steel</li>" for n in range(60))
    page = f"<a href=#main>Skip to the main content</a><div class=off-canvas>{entries}</div>"
    assert "Hammer number 59" in cleaned(f"<body>{page}</body>")
    assert "Hammer" not in cleaned(f"<body>{page}{PROSE}</body>")


@pytest.mark.parametrize("name", ["lm_navSource", "promo-card"])
def test_a_box_with_paragraphs_is_no_menu_whatever_its_name(name):
    box = f"<div class={name}><p>{REPLY}</p><p>{REPLY}</p></div>"
    links = f"<div class={name}><p><a href=/1>{REPLY}</a></p><p><a href=/2>{REPLY}</a></p></div>"
    assert REPLY in cleaned(f"<body>{PROSE}{PROSE}{box}</body>")
    assert REPLY not in cleaned(f"<body>{PROSE}{PROSE}{links}</body>")


def test_a_message_after_what_a_reader_did_is_chrome_and_a_price_that_may_change_is_none() -> None:
    page = (
        "<html><body><main><h1>A drill</h1>"
        '<div role="alert">The saw has been added to your basket.</div>'
        '<div role="status"><span>19.90 €</span></div>'
        f"<p>{'The drill weighs less than the old one. ' * 5}</p></main></body></html>"
    )
    markdown = read_page(page.encode()).markdown
    assert "basket" not in markdown
    assert "19.90 €" in markdown


@pytest.mark.parametrize(
    "part",
    [
        "<h2 id=comments>SLUICES</h2>",
        "<table><tr id=share><td>SLUICES<td id=menu>two</table>",
        "<dl><dt id=hive.Session.cookies>SLUICES<dd>two</dl>",
        "<p>We know <a id=menu href=/m>SLUICES</a> too.</p>",
        "<section id=popup-windows><h3>Popup windows</h3>SLUICES</section>",
        "<div class=section id=related><h2>Related</h2>SLUICES</div>",
        "<section id=method.skip><h4>fn skip</h4>SLUICES</section>",
        "<pre><code><span class='token comment'># SLUICES</span>\nrun()</code></pre>",
        "<pre class=code><em class=share>SLUICES</em></pre>",
    ],
)
def test_a_part_of_a_text_is_none_of_its_chrome_for_where_its_links_lead_or_its_colours(part):
    assert "SLUICES" in cleaned(f"<body><main>{PROSE}{part}{PROSE}</main></body>")


@pytest.mark.parametrize(
    "box",
    [
        "<div id=comments><h2>Three replies</h2>CHROME</div>",
        "<div id=related class=related><h2>Related</h2>CHROME</div>",
        "<ul id=menu><li>CHROME</ul>",
        "<table><tr><td id=sidebar><ul><li>CHROME</ul></table>",
        "<p class=copyright>CHROME</p>",
        "<pre><span class=linenos>CHROME</span>x = 1</pre>",
    ],
)
def test_a_box_is_chrome_by_its_name(box):
    assert "CHROME" not in cleaned(f"<body><main>{PROSE}{box}{PROSE}</main></body>")


@pytest.mark.parametrize("start", ["aside", "aside class=note", "div class=hint role=alert"])
def test_a_note_below_a_paragraph_is_part_of_the_text(start):
    name = start.split()[0]

    def left(note: str) -> str:
        return cleaned(f"<body><main>{PROSE}<{start}>{note}</{name}>{PROSE}</main></body>")

    assert REPLY in left(f"<p>{REPLY}</p>")
    assert REPLY not in left(f"<p><a href=/more>{REPLY}</a></p>"), "it leads to other texts"
    assert "Log in" not in left("Log in")
    above = f"<body><main><{start}><p>{REPLY}</p></{name}>{PROSE}</main></body>"
    assert REPLY not in cleaned(above), "a message of the page"
