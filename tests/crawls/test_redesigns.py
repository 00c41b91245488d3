"""A site whose template changes between two crawls."""

import json
import re
from functools import partial

from tests.crawls.harness import Answer, Crawl, Site, crawl, html_answer, page

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


def crawl_in(folder, site: Site, template, paths=HALF, **settings) -> Crawl:
    """Crawl the site in a template, with the store of the folder."""
    site.routes = {path: template(int(path[1:])) for path in PATHS}
    return crawl(folder, site, " ".join(paths), settings={**SETTINGS, **settings})


def test_a_redesign_is_told_once_by_whichever_crawl_meets_it_first(tmp_path) -> None:
    with Site({}).running() as site:
        crawl_in(tmp_path, site, page, PATHS)
        for seed, paths in enumerate((HALF, OTHER, PATHS)):
            result = crawl_in(tmp_path, site, partial(rebuilt, noise=seed), paths)
            assert result.count("unchanged") == len(paths)
            assert result.count("redesigns") == (paths == HALF)
            told = re.findall(r"WARNING: (127\.0\.0\.1 was redesigned: .*)", result.log)
            assert len(told) == (paths == HALF)
            for line in told:
                assert re.search(rf"17 of the last 17 .* such as {site.url}/\d+, {site.url}", line)
                assert "305 words a page before, 305 now (median)" in line
                assert "See that the selectors of your spider still match." in line


def test_a_redesign_that_hides_the_text_says_how_little_is_read(tmp_path) -> None:
    with Site({}).running() as site:
        crawl_in(tmp_path, site, page)
        result = crawl_in(
            *(tmp_path, site, partial(rebuilt, said=False)), SIMHASH_GATE_VERDICTS="verdicts.jsonl"
        )
    assert result.count("redesigns") == 1
    lines = map(json.loads, (tmp_path / "verdicts.jsonl").read_text().splitlines())
    [note] = [line["crawl_note"] for line in lines if "crawl_note" in line]
    assert note["wrong"]
    assert re.search(r"305 words a page before, \d now \(median\)\.", note["message"])
    assert f"WARNING: {note['message']} {note['advice']}" in result.log
