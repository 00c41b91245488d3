"""Pages that differ in symbols or media alone: read from HTML, and judged over a real store."""

import pytest

from simhash_gate.gate.judge import Gate
from simhash_gate.pipeline import read_page
from simhash_gate.stores import open_store

SHORT = "<title>The hive</title><h1>The hive</h1><p>News of the bees in the far north.</p>{}"
STORY = "".join(
    f"<p>In the {year} year of the hive a bee brought {what} home, and the queen was pleased.</p>"
    for year, what in (
        ("first", "honey"),
        ("second", "heather"),
        ("third", "moss"),
        ("last", "ice"),
    )
)
LONG = SHORT.replace("{}", STORY + "{}")


def is_copy(first: str, second: str) -> bool:
    """Tell if the gate takes the second of two pages of a site for a copy of the first."""
    store = open_store("memory:")
    store.begin("now")
    gate = Gate(store, run="now", pipeline="v1")
    outcomes = []
    for path, html in (("a", first), ("b", second)):
        url = f"https://example.com/{path}"
        page = read_page(html.encode(), url=url)
        assert page.words >= 5, "fewer are compared with nothing"
        outcomes.append(gate.judge(page, url=url).outcome)
    store.close()
    assert outcomes[0] == "new"
    return outcomes[1] == "duplicate"


def taken_for_copies(first: str, second: str) -> dict[str, bool]:
    """Judge two bodies as short pages and as long ones."""
    return {
        name: is_copy(template.format(first), template.format(second))
        for name, template in (("short", SHORT), ("long", LONG))
    }


OTHERS = [
    ("<p>Tonight +5 °C</p>", "<p>Tonight -5 °C</p>"),
    ("<p>Tonight 5 °C</p>", "<p>Tonight −5 °C</p>"),
    ("<p>Balance: -$5.20</p>", "<p>Balance: $5.20</p>"),
    ("<p>Taste</p><p>★★★★☆</p>", "<p>Taste</p><p>★☆☆☆☆</p>"),
    ("<p>Taste: ●●●●○</p>", "<p>Taste: ●○○○○</p>"),
    ("<p>✓ sold in winter</p>", "<p>✗ sold in winter</p>"),
    ("<p>Sold in winter: ✅</p>", "<p>Sold in winter: ❌</p>"),
    ("<p>Written in C++</p>", "<p>Written in C#</p>"),
    ("<p>Written in C</p>", "<p>Written in C#</p>"),
    ("<p>Found by A* alone</p>", "<p>Found by A alone</p>"),
    ("<p>A hive costs €500</p>", "<p>A hive costs £500</p>"),
    ("<p>A hive costs 500 €</p>", "<p>A hive costs 500 $</p>"),
    ("<p>Sold by 5 %</p>", "<p>Sold by 5 €</p>"),
    ("<p>Honey ▲ 5</p>", "<p>Honey ▼ 5</p>"),
    ("<p>Swarms when a &lt; b</p>", "<p>Swarms when a &gt; b</p>"),
    ("<pre>if a &lt; b: swarm()</pre>", "<pre>if a &gt; b: swarm()</pre>"),
    ("<pre>bees = old + new</pre>", "<pre>bees = old - new</pre>"),
    ("<p>Call <code>a&amp;b</code></p>", "<p>Call <code>a|b</code></p>"),
    ("<h2>C++ for bees</h2><p>Buzz</p>", "<h2>C# for bees</h2><p>Buzz</p>"),
]
TABLE = "<table><tr><th>Food<th>Now<tr><td>Moss<td>{}<tr><td>Ice<td>5</table>"
OTHERS += [
    (TABLE.format(one), TABLE.format(other))
    for one, other in (("✓", "✗"), ("+5", "-5"), ("●", "○"))
]


@pytest.mark.parametrize(("first", "second"), OTHERS)
def test_another_sign_makes_another_page(first, second) -> None:
    assert not any(taken_for_copies(first, second).values())


@pytest.mark.parametrize(
    ("first", "second"),
    [("C++ for bees", "C# for bees"), ("+5 °C", "-5 °C"), ("Hives: ★★★★☆", "Hives: ★☆☆☆☆")],
)
def test_another_sign_in_the_headline_makes_another_page(first, second) -> None:
    short, long = (
        [f"<title>{title}</title><h1>{title}</h1><p>News of the bees.</p>{rest}" for title in pair]
        for pair, rest in (((first, second), ""), ((first, second), STORY))
    )
    assert not is_copy(*short)
    assert not is_copy(*long)


def test_a_page_of_signs_and_numbers_is_told_by_its_signs() -> None:
    days = [f"<p>Day {n} of the frost: {{}}{n} °C in hive {n * 7}</p>" for n in range(1, 40)]
    first, second = ("".join(days).format(*[sign] * len(days)) for sign in "+-")
    assert not is_copy(SHORT.format(first), SHORT.format(second))


COPIES = [
    ("<p>Tonight -5 °C</p>", "<p>Tonight −5 °C</p>"),
    ("<p>Tonight -5 °C</p>", "<p>Tonight –5\u00a0°C</p>"),
    ("<p>Tonight -5°C</p>", "<p>Tonight -5 ℃</p>"),
    ("<p>A hive costs 500 €</p>", "<p>A hive costs 500\u202f€</p>"),
    ("<p>A hive costs 500 €</p>", "<p>A hive costs <span>500</span>€</p>"),
    ("<p>Open 5-10 in mid-May</p>", "<p>Open 5–10 in mid‑May</p>"),
    ("<p>Open 5 - 10, call 030-123</p>", "<p>Open 5 — 10, call 030 123</p>"),
    ("<p>Hives 20-24-30 and 1-a</p>", "<p>Hives 20–24–30 and 1–a</p>"),
    ('<p>"Don\'t" -- she said...</p>', "<p>“Don’t” — she said…</p>"),
    ("<p>* moss</p><p>- ice</p>", "<p>• moss</p><p>● ice</p>"),
    ("<p>**Moss** and *ice* for all</p>", "<p>Moss and <i>ice</i> for all</p>"),
    ("<p>Queens | Drones | Workers</p>", "<p>Queens · Drones • Workers</p>"),
    ("<p>And so on to the end »</p>", "<p>And so on to the end &gt;</p>"),
    ("<p>And so on to the end →</p>", "<p>And so on to the end &gt;&gt;</p>"),
    ("<p>&lt; Back to the moss</p>", "<p>« Back to the moss</p>"),
    ("<h2>Food</h2><p>Buzz</p>", "<h2>Food<a href=#f>#</a></h2><p>Buzz</p>"),
    ("<h2>Food</h2><p>Buzz</p>", "<h2>Food <a href=#f>¶</a></h2><p>Buzz</p>"),
    ("<p>＋５ and Ｃ＃ and １ ＜ ２</p>", "<p>+5 and C# and 1 &lt; 2</p>"),
]


@pytest.mark.parametrize(("first", "second"), COPIES)
def test_typography_makes_no_other_page(first, second) -> None:
    assert all(taken_for_copies(first, second).values())


VIDEO = "<p>It was filmed by day.</p><video controls {}>{}<p>Get another browser.</p></video>"
PLAYED = [
    VIDEO.format("src=/{}.mp4", ""),
    VIDEO.format("data-src=/{}.mp4", ""),
    VIDEO.format("", "<source src=/{}.mp4><source src=/{}.webm>"),
    "<p>It was heard by day.</p><audio><source src=/{}.ogg></audio>",
    "<audio src=/radio/{}/play.mp3></audio>",
    "<iframe src=https://www.youtube.com/embed/{}></iframe>",
    "<iframe data-src='https://player.example/?id={}'></iframe>",
    "<object data=/papers/{}.pdf></object>",
    "<p>Of oak.</p><button>Buy {}</button>",
    "<p>Of oak.</p><form action=/buy><input name=n value=1><input type=submit value='{}'></form>",
]
SHOWN = [
    VIDEO.format("poster=/{}.jpg", ""),
    "<img src=/{}.jpg>",
    "<img src=/hive.jpg srcset='/{}.jpg 2x'>",
    "<img srcset='/hive.jpg 1x, /{}.jpg 2x'>",
    "<picture><source srcset=/{}.webp><source srcset=/moss.avif><img src=/x.jpg></picture>",
    "<img src=/{}/full.jpg>",
    "<img src=/photo.php?id={}>",
    "<div style='background-image:url(/{}.jpg)'></div>",
]


def bees_and_wasps(template: str) -> dict[str, bool]:
    return taken_for_copies(*(template.replace("{}", name) for name in ("bees", "wasps")))


@pytest.mark.parametrize("template", PLAYED)
def test_another_video_sound_frame_or_button_makes_another_page(template) -> None:
    assert not any(bees_and_wasps(template).values())


def test_a_page_of_other_frames_is_another_page_whatever_stands_for_them() -> None:
    frames = "<title>A handbook of all bees</title><frameset><frame src={} name=main>"
    frames += "<noframes>{}</noframes></frameset>"
    for note in ("", "Your browser shows no frames.", STORY):
        pages = [frames.format(place, note) for place in ("a.html", "b.html", "/a.html")]
        assert [is_copy(pages[0], page) for page in pages] == [True, False, True]


@pytest.mark.parametrize("template", SHOWN)
def test_another_image_makes_another_page_of_few_words(template) -> None:
    assert bees_and_wasps(template) == {"short": False, "long": True}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("<video src=//a.example/bees.mp4></video>", "<video src=/bees.mp4?t=7></video>"),
        (
            "<video><source src=bees.mp4><source src=bees.webm>No video</video>",
            "<video><source src=bees-720p.mp4><p>Get a browser</p></video>",
        ),
        ("<img src=bees.jpg>", "<img src=bees-300x200.jpg>"),
        (
            "<img src=x.gif srcset='/bees.jpg 320w,/640x/bees.jpg?w=640 640w'>",
            "<img src=/bees.jpg srcset='//b.example/w_9,h_9/bees-1024w.jpg 1024w, /bees@2x.jpg'>",
        ),
        (
            "<img src=bees.jpg>",
            "<picture><source srcset='bees-300w.webp 300w, bees.webp'><img src=bees.jpg></picture>",
        ),
        ("<img src=x.gif data-src=bees.jpg>", "<img src=y.gif data-srcset='bees@2x.jpg 2x'>"),
        ("<video src=bees.mp4></video>", "<p></p>"),
        ("<video src=blob:1></video>", "<video src=blob:2></video>"),
    ],
)
def test_another_size_host_or_format_makes_no_other_page(first, second) -> None:
    assert all(taken_for_copies(first, second).values())


@pytest.mark.parametrize(
    ("beside", "link"),
    [
        (False, "<p>Get <a href='/files/{}.pdf'>the report</a></p>"),
        (True, "<div class=box><a href='/files/{}.zip?key=5'>Download</a></div>"),
        (True, "<aside><a href='/get?id={}' download>Download</a></aside>"),
        (
            False,
            "".join(f"<a href='/of/the/hive/{n}.csv'>Table</a> " for n in range(20))
            + "<a href='/p/{}.csv'>Last table</a>",
        ),
    ],
)
def test_another_file_to_download_makes_another_page(beside, link) -> None:
    found = taken_for_copies(link.format("moss"), link.format("ice"))
    assert found == {"short": False, "long": beside}, "what is beside a story is no part of it"
    assert all(taken_for_copies(link.format("moss"), link.format("moss")).values())


def test_a_file_that_the_menu_leads_to_or_another_view_does_not_makes_no_other_page() -> None:
    menu = "<nav><a href='/{}.pdf'>Prices</a></nav>"
    assert taken_for_copies(menu.format(1), menu.format(2)) == {"short": True, "long": True}
    link = "<p>Get {} as a file</p>"
    assert is_copy(
        SHORT.format(link.format("<a href=a.pdf>it</a>")), SHORT.format(link.format("it"))
    )


FIGURE = "<figure><img src=hive.jpg><figcaption>{}</figcaption></figure>"


def test_a_view_without_images_lacks_their_captions() -> None:
    shown = SHORT.format(STORY * 3 + FIGURE.format("Photographed from afar."))
    assert is_copy(shown, SHORT.format(STORY * 3))
    assert is_copy(SHORT.format(STORY * 3), shown)
    captions = (FIGURE.format(f"A {name} at work in its hive.") for name in ("bee", "wasp"))
    assert not is_copy(*(SHORT.format(caption) for caption in captions)), "they are what it says"
