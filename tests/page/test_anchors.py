"""The links of a whole page."""

from simhash_gate.options import Options, pipeline_version
from simhash_gate.page.skeleton import LONGEST_TEXT, MOST_ANCHORS
from simhash_gate.pipeline import read_page

PAGE = """<!doctype html><html><head><title>Bees</title>%s</head><body>
<nav><a href="/">Home</a> <a href="#top">Top</a> <a href="javascript:go()">Go</a></nav>
<main><h1>Bees in summer</h1><p>A worker bee lives six weeks in summer. <a href="more.html#part">
Read   <b>more</b></a></p><a href="/"><img src="logo.png"></a> <a href="http://[">broken</a></main>
<map><area href="/map"></map>
<footer><a href="mailto:a@example.com">Mail</a><a href="//other.example/x">Other</a></footer>
</body></html>"""
URL = "https://example.com/stories/bees"


def links_of(html: str, url: str = URL) -> dict[str, str]:
    return dict(read_page(html.encode(), url=url, options=Options(anchors=True)).all_links)


def test_all_links_of_a_page_are_found_each_once_with_their_texts() -> None:
    assert links_of(PAGE % "") == {
        "https://example.com/": "Home",
        "https://example.com/stories/bees": "Top",
        "https://example.com/stories/more.html": "Read more",
        "https://example.com/map": "",
        "https://other.example/x": "Other",
    }
    moved = links_of(PAGE % '<base href="/archive/">')
    assert moved["https://example.com/archive/more.html"] == "Read more"


def test_only_those_who_ask_for_them_get_them_and_they_are_bounded() -> None:
    assert read_page((PAGE % "").encode(), url=URL).all_links == ()
    assert pipeline_version(Options(anchors=True)) == pipeline_version()
    long = f'<p><a href="/long">{"x" * (LONGEST_TEXT + 1)}</a></p>'
    many = "".join(f'<a href="/{n}">y</a>' for n in range(MOST_ANCHORS + 5))
    found = links_of(f"<body>{long}{many}</body>")
    assert len(found) == MOST_ANCHORS
    assert found["https://example.com/long"] == "x" * LONGEST_TEXT
