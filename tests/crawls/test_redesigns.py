"""A site whose template changes between two crawls."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from tests.crawls.harness import Answer, Crawl, Site, crawl, html_answer, page, text

COUNT = 36
PATHS = [f"/{number}" for number in range(COUNT)]
HALF, OTHER = PATHS[: COUNT // 2], PATHS[COUNT // 2 :]
SETTINGS = {"SIMHASH_GATE_STORE": "sqlite:///store.sqlite", "CONCURRENT_REQUESTS": 1}


def rebuilt(seed: int, *, noise: int = 0, said: bool = True) -> Answer:
    """Return the article of a seed as `page` has it, in a template of another kind."""
    first, *rest = page(seed).body.decode().partition("<main>")[2].split("<p>")
    headline = first.partition("<h1>")[2].partition("</h1>")[0]
    paragraphs = "".join(f"<p>{part}" for part in rest).partition("</article>")[0]
    body = f"<div><div><section>{paragraphs}</section></div></div>" if said else "<div></div>"
    html = f"""<!doctype html><html><head><meta charset="utf-8"><title>Story {seed}</title></head>
    <body><div class="menu"><ul><li><a href="/">Home</a></li><li>{noise}</li></ul></div>
    <table><tr><td><h1>{headline if said else ""}</h1>{body}</td></tr></table>
    </body></html>"""
    return html_answer(html)


def site_of(template) -> dict[str, Answer]:
    return {path: template(number) for number, path in enumerate(PATHS)}


@pytest.fixture(scope="module")
def visited(tmp_path_factory):
    """A site that was crawled once, and the store that knows its pages."""
    folder = tmp_path_factory.mktemp("visited")
    with Site(site_of(page)).running() as site:
        crawl(folder, site, " ".join(PATHS), settings=SETTINGS)
        yield site, folder / "store.sqlite"


@pytest.fixture
def crawl_again(visited, tmp_path):
    """Crawl the site in the template that it has now."""
    site, store = visited
    shutil.copy(store, tmp_path)

    def run(template, paths=HALF, **settings) -> Crawl:
        site.routes = site_of(template)
        return crawl(tmp_path, site, " ".join(paths), settings={**SETTINGS, **settings})

    return run


def test_a_redesign_is_told_once_by_whichever_crawl_meets_it_first(visited, crawl_again) -> None:
    site, _ = visited

    def template(seed: int) -> Answer:
        return rebuilt(seed, noise=seed)

    results = [crawl_again(template, paths) for paths in (HALF, OTHER, PATHS)]
    assert results[0].count("unchanged") == len(HALF)
    assert [result.count("redesigns") for result in results] == [1, 0, 0]
    (told,) = re.findall(r"WARNING: (127\.0\.0\.1 was redesigned: .*)", results[0].log)
    assert "17 of the last 17 pages that were visited again" in told
    assert re.search(rf"such as {site.url}/\d+, {site.url}/\d+\. What is read", told)
    assert "305 words a page before, 305 now (median)" in told
    assert "Their text is read as before." in told
    assert "was redesigned" not in results[1].log + results[2].log


def test_a_redesign_that_hides_the_text_says_that_nothing_is_read(crawl_again, tmp_path) -> None:
    result = crawl_again(
        lambda seed: rebuilt(seed, said=False), SIMHASH_GATE_VERDICTS="verdicts.jsonl"
    )
    assert result.count("redesigns") == 1
    lines = map(json.loads, (tmp_path / "verdicts.jsonl").read_text().splitlines())
    [told] = [line["redesign"] for line in lines if "redesign" in line]
    assert (told["domain"], told["changed"], told["empty"]) == ("127.0.0.1", 17, 17)
    assert told["words"][0] == 305
    words = r"305 words a page before, \d now \(median\); 17 have next to no text now\."
    assert re.search(words, result.log)
    assert "What is read of them may not be their text any more" in result.log


def test_new_texts_and_a_banner_in_the_old_template_are_no_redesign(crawl_again) -> None:
    banner = b'<body><div class="cookies"><p>We use cookies.</p><button>Fine</button></div>'

    def rewritten(seed: int) -> Answer:
        answer = page(seed, noise=seed + 500)
        body = answer.body.replace(b"<body>", banner).replace(b"</p>", b" " + text(seed).encode())
        return Answer(body, headers=answer.headers)

    result = crawl_again(rewritten)
    assert result.count("updated") + result.count("rewritten") == len(HALF)
    assert result.count("redesigns") == 0
    assert "was redesigned" not in result.log
