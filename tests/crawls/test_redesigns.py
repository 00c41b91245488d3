"""A site whose template changes between two crawls: on a real server, with a real store."""

from __future__ import annotations

import json
import re

import pytest

from tests.crawls.harness import Answer, Site, crawl, html_answer, page, text

COUNT = 40
PATHS = [f"/{number}" for number in range(COUNT)]


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


@pytest.fixture
def settings(lasting_url) -> dict:
    return {"SIMHASH_GATE_STORE": lasting_url, "CONCURRENT_REQUESTS": 1}


def test_a_redesign_is_told_once_by_whichever_crawl_meets_it_first(settings, tmp_path) -> None:
    with Site(site_of(page)).running() as site:
        crawl(tmp_path / "1", site, " ".join(PATHS), settings=settings)
        site.routes = site_of(lambda seed: rebuilt(seed, noise=seed))
        half, other = " ".join(PATHS[: COUNT // 2]), " ".join(PATHS[COUNT // 2 :])
        first = crawl(tmp_path / "2", site, half, settings=settings)
        second = crawl(tmp_path / "3", site, other, settings=settings)
        third = crawl(tmp_path / "4", site, f"{half} {other}", settings=settings)
    assert first.count("unchanged") == COUNT // 2
    assert [result.count("redesigns") for result in (first, second, third)] == [1, 0, 0]
    told = re.findall(r"WARNING: (127\.0\.0\.1 was redesigned: .*)", first.log)
    assert len(told) == 1
    assert "17 of the last 17 pages that were visited again" in told[0]
    assert re.search(rf"such as {site.url}/\d+, {site.url}/\d+\. What is read", told[0])
    assert "305 words a page before, 305 now (median)" in told[0]
    assert "Their text is read as before." in told[0]
    assert "was redesigned" not in second.log + third.log


def test_a_redesign_that_hides_the_text_says_that_nothing_is_read(settings, tmp_path) -> None:
    with Site(site_of(page)).running() as site:
        crawl(tmp_path / "1", site, " ".join(PATHS), settings=settings)
        site.routes = site_of(lambda seed: rebuilt(seed, said=False))
        settings["SIMHASH_GATE_VERDICTS"] = str(tmp_path / "verdicts.jsonl")
        result = crawl(tmp_path / "2", site, " ".join(PATHS), settings=settings)
    assert result.count("redesigns") == 1
    lines = map(json.loads, (tmp_path / "verdicts.jsonl").read_text().splitlines())
    [told] = [line["redesign"] for line in lines if "redesign" in line]
    assert (told["domain"], told["changed"], told["empty"]) == ("127.0.0.1", 17, 17)
    assert told["words"][0] == 305
    assert re.search(
        r"305 words a page before, \d now \(median\); 17 have next to no text now\.", result.log
    )
    assert "What is read of them may not be their text any more" in result.log


def test_new_texts_and_a_banner_in_the_old_template_are_no_redesign(settings, tmp_path) -> None:
    banner = b'<body><div class="cookies"><p>We use cookies.</p><button>Fine</button></div>'

    def rewritten(seed: int) -> Answer:
        answer = page(seed, noise=seed + 500)
        body = answer.body.replace(b"<body>", banner).replace(b"</p>", b" " + text(seed).encode())
        return Answer(body, headers=answer.headers)

    with Site(site_of(page)).running() as site:
        crawl(tmp_path / "1", site, " ".join(PATHS), settings=settings)
        site.routes = site_of(rewritten)
        result = crawl(tmp_path / "2", site, " ".join(PATHS), settings=settings)
    assert result.count("updated") + result.count("rewritten") == COUNT
    assert result.count("redesigns") == 0
    assert "was redesigned" not in result.log
