"""Pages whose text is in their structured data alone: shells for scripts, and menus."""

import pytest

from simhash_gate import Options, hamming_distance, read_page
from simhash_gate.pipeline import read_closely
from tests.page.pages import json_ld

LINES = [f"Line {n} tells of the wind and the harbour, and of {n} boats at sea." for n in range(9)]
BODY = "\n\n".join(LINES)
STORY = {"@type": "NewsArticle", "headline": "A storm", "articleBody": BODY}
MENU = "<nav>" + "".join(f"<a href=/{n}>Hats and gloves {n}</a> " for n in range(120)) + "</nav>"


def shell(data: object, body: str = "<div id=root></div>", **options):
    page = (
        f"<html><head><title>A storm | X</title>{json_ld(data)}</head>"
        f"<body>{body}<script>run()</script></body></html>"
    )
    return read_page(page.encode(), url="https://x.example/storm", options=Options(**options))


@pytest.mark.parametrize(
    "body", ["", "<p>Please wait.</p>", f"{MENU}<main></main>"], ids=["empty", "waiting", "menu"]
)
def test_an_article_in_json_alone_is_the_article(body):
    page = shell(STORY, body, anchors=True)
    assert page.fingerprint == shell(STORY, body).fingerprint
    assert page.markdown == "# A storm\n\n" + BODY
    assert (page.title, page.kind, page.words) == ("A storm", "article", 2 + 9 * 15)
    written = "".join(f"<p>{line}</p>" for line in LINES)
    shown = read_page(f"<title>A storm | X</title><article><h1>A storm</h1>{written}".encode())
    assert hamming_distance(page.fingerprint, shown.fingerprint) == 0


def test_html_in_it_is_read_as_such():
    body = "<script>x()</script>" + "".join(f"<p>{line} <b>Yes</b> &amp; no</p>" for line in LINES)
    page = shell({**STORY, "articleBody": body})
    assert page.markdown.splitlines()[2] == LINES[0] + " **Yes** & no"
    assert "x()" not in page.markdown


@pytest.mark.parametrize(
    "data",
    [
        {"@type": "Organization", "name": "X", "description": BODY},
        {"@type": "WebPage", "name": "X", "description": BODY},
        {"@type": "NewsArticle", "headline": "A storm", "description": BODY},
        {"@type": "NewsArticle", "headline": "A storm", "articleBody": "Read more."},
        {"@type": "NewsArticle", "headline": "A storm", "comment": {"text": BODY}},
        [STORY, {**STORY, "headline": "A calm"}],
    ],
)
def test_what_is_not_the_text_of_the_page_is_none(data):
    page = shell(data)
    assert (page.fingerprint, page.reason) == (None, "no text")


def test_a_page_that_has_a_text_keeps_it_and_text_and_markdown_tell_one_story():
    own = "".join(f"<p>{n} bees live in the hive below the old oak.</p>" for n in range(12))
    assert "harbour" not in shell(STORY, f"<h1>A storm</h1>{own}").markdown
    reading = read_closely(f"<title>A storm</title><body>{json_ld(STORY)}".encode())
    assert reading.text.splitlines() == ["A storm", *LINES]


@pytest.mark.parametrize(
    "data",
    [
        {"@type": "Product", "sku": "1", "description": [["x"], {"text": 1}, 3]},
        {"@type": "Article", "articleBody": "<p>" * 10_000 + "\x00\ud800" + BODY},
        {"@type": "Article", "articleBody": "<" * 200_000},
    ],
)
def test_odd_data_do_no_harm(data):
    page = shell(data)
    assert not page.unreadable, page.reason
    page.markdown.encode()


def noscript(said: str, more: str = "") -> str:
    return read_page(
        f"<title>A storm</title><section id=splash><p>One moment.</p></section>"
        f"<noscript>{said}</noscript><main id=app></main>{more}".encode()
    ).markdown


def test_what_a_shell_says_without_scripts_is_the_page_and_else_no_part_of_it():
    text = "".join(f"<p>{line}</p>" for line in LINES)
    assert noscript(f"<style>b{{}}</style><h1>A storm</h1>{text}") == "# A storm\n\n" + BODY
    assert "scripts on" not in noscript("<h1>A storm</h1><p>Please switch scripts on to read.")
    of_the_site = noscript(f"<h1>Please switch scripts on</h1>{text}")
    assert "scripts on" not in of_the_site
    own_page = "".join(f"<p>{n}. So it goes." for n in range(99))
    for markdown in (of_the_site, noscript(f"<h1>A storm</h1>{text}", own_page)):
        assert LINES[0] not in markdown


def test_a_page_of_frames_says_what_browsers_without_them_show_and_leads_to_its_frames():
    inner = "<frame src=a.html><frameset><frame src=/b.html name=main></frameset>"
    note = f"<noframes><body><p>{LINES[0]}</p><p>See <a href=a.html>all</a>.</p></body></noframes>"
    for page in (f"<frameset>{inner}{note}</frameset>", f"<frameset>{inner}</frameset>{note}"):
        read = read_page(f"<title>Bees</title>{page}".encode(), url="https://a.example/x/")
        assert read.markdown.endswith("See [all](https://a.example/x/a.html).")
        assert "\\<" not in read.markdown
        assert read.targets.split() == ["https://a.example/b.html", "https://a.example/x/a.html"]
    read = read_page(b"<title>Bees</title><frameset><frame src=a.html name=Hives></frameset>")
    assert read.markdown == "# Bees\n\n[Hives](a.html)"
    read = read_page(f"<title>Bees</title><h1>Bees</h1><p>{LINES[1]}</p>{note}".encode())
    assert read.markdown == f"# Bees\n\n{LINES[1]}"
