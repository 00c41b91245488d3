"""Crawls of sites that answer with block pages, walls, or "not found" in place of pages."""

from collections.abc import Callable, Iterator, Mapping
from urllib.parse import quote

import pytest

from tests.crawls.harness import Answer, Crawl, Route, Site, crawl, html_answer, page

STORIES = [f"/story-{n}" for n in range(1, 13)]
VERDICTS = """
    def parse(self, response):
        verdict = response.meta["simhash_gate_verdict"]
        asked = response.meta.get("redirect_urls", [response.url])[0]
        yield {"path": asked[len(self.settings["TEST_SITE"]):], "outcome": verdict.outcome}
    def failed(self, failure):
        verdict = getattr(failure.value, "verdict", None)
        yield {"path": failure.request.url[len(self.settings["TEST_SITE"]):],
               "failure": verdict.outcome if verdict else type(failure.value).__name__}
"""


class AnyPath(Mapping[str, Route]):
    """Routes for all paths."""

    def __init__(self, answer: Callable[[str], Answer]) -> None:
        self.answer = answer

    def __getitem__(self, path: str) -> Answer:
        return self.answer(path)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class Stories(Site):
    """A site with stories, of which it gives the first `free` that are asked for."""

    def __init__(self, free: int, wall: Callable[[str], Answer]) -> None:
        super().__init__(AnyPath(self.answer))
        self.free, self.wall, self.given = free, wall, 0

    def answer(self, path: str) -> Answer:
        asked, _, number = path.partition("-")
        if asked == "/story" and number and self.given < self.free:
            self.given += 1
            return page(int(number))
        return self.wall(path)


def captcha(path: str) -> Answer:
    """Return what asks whether a visitor is human; each has a number of its own."""
    return html_answer(
        "<html><head><title>Verify you are human</title></head><body><h1>One more step</h1>"
        f"<p>Please click here to go on reading the site.</p><p>Case {abs(hash(path)):x}</p></body>"
    )


def missing(path: str) -> Answer:
    return html_answer(
        f"<html><head><title>Page not found - Stories</title></head><body><h1>Oh dear</h1>"
        f"<p>We have looked everywhere, and have no page {path}.</p></body>"
    )


def behind(door: str):
    """Return what leads to a wall that asks for something, and back afterwards."""

    def wall(path: str) -> Answer:
        if path.startswith(door):
            return html_answer(
                "<html><head><title>Welcome</title></head><body><h1>Welcome</h1><form>"
                "<p>To read our stories, tell us who you are and what we may keep of you.</p>"
                '<input type="password"></form></body>'
            )
        return Answer(b"", 302, {"Location": f"{door}?from={quote(path, safe='')}"})

    return wall


def visit(folder, site: Site, paths, **settings) -> Crawl:
    settings = {
        "CONCURRENT_REQUESTS": 1,
        "SIMHASH_GATE_STORE": f"sqlite:///{folder}/seen.sqlite",
        "RETRY_TIMES": 0,
        **settings,
    }
    result = crawl(folder, site, " ".join(paths), spider=VERDICTS, settings=settings)
    assert result.status == 0
    assert "Traceback" not in result.log
    checked = sum(
        result.count(name)
        for name in (
            *("new", "near", "updated", "rewritten", "duplicate", "unchanged"),
            *("blocked", "soft_404", "error"),
        )
    )
    assert result.count("checked") == checked
    assert checked == sum(result.count(name) for name in ("passed", "held", "dropped"))
    return result


def outcomes(result: Crawl) -> dict[str, str]:
    return {item["path"]: item.get("outcome", item.get("failure")) for item in result.items}


@pytest.mark.parametrize(
    ("wall", "unknown"), [(captcha, 1), (behind("/login"), 2), (behind("/consent"), 2)]
)
def test_what_a_wall_was_in_front_of_is_kept_by_the_next_crawl(tmp_path, wall, unknown) -> None:
    site = Stories(5, wall)
    with site.running():
        first = visit(tmp_path, site, STORIES)
        assert first.count("new") == 6
        assert first.count("blocked") == len(STORIES) - 5 - unknown
        assert first.count("dropped") == unknown - 1
        assert [outcomes(first)[path] for path in STORIES[:5]] == 5 * ["new"]
        assert [outcomes(first)[path] for path in STORIES[5 + unknown :]] == ["blocked"] * (
            len(STORIES) - 5 - unknown
        )
        assert first.log.count("something that is no page (blocked), such as") == 1
        site.free = 100
        second = visit(tmp_path, site, STORIES)
    assert second.count("unchanged") == 5
    assert second.count("new") == len(STORIES) - 5
    assert second.delivered() == sorted(STORIES[5:])


def test_a_page_that_is_missing_with_the_status_of_a_page_is_said_so(tmp_path) -> None:
    site = Stories(100, missing)
    paths = [f"/{'abcdef'[n]}-{n}" for n in range(6)]
    with site.running():
        result = visit(tmp_path, site, [*STORIES[:3], *paths, *STORIES[3:]])
    assert result.count("soft_404") == result.count("dropped") == 5
    assert result.count("new") == len(STORIES) + 1
    assert result.log.count("something that is no page (soft_404), such as") == 1
    (head,) = [line for line in result.log.splitlines() if line.startswith("domain")]
    assert "soft_404" in head


def test_they_are_dropped_on_request_and_reach_the_errback(tmp_path) -> None:
    site = Stories(5, captcha)
    asked = {
        "SIMHASH_GATE_BLOCKED": "drop",
        "SIMHASH_GATE_VERDICTS": "verdicts.jsonl",
        "SIMHASH_GATE_JOURNAL": "dropped",
    }
    with site.running():
        result = visit(tmp_path, site, STORIES, **asked)
    assert result.count("dropped") == result.count("blocked") == len(STORIES) - 6
    assert [item["failure"] for item in result.items if "failure" in item] == ["blocked"] * 6
    assert result.log.count(": blocked (") == 6
    assert result.count("journaled") == 6
    assert (tmp_path / "verdicts.jsonl").read_text().count('"outcome": "blocked"') == 6


@pytest.mark.parametrize(
    ("status", "headers"),
    [(200, {"cf-mitigated": "challenge"}), (403, {"cf-mitigated": "challenge"}), (429, {})],
)
def test_what_a_service_says_by_a_header_is_enough(tmp_path, status, headers) -> None:
    html = "<title>example</title><p>Enable scripts and cookies to go on with this site.</p>"
    site = Site({"/a": html_answer(html, status=status, headers=headers), "/b": page(1)})
    with site.running():
        result = visit(tmp_path, site, ["/a", "/b"])
    assert result.count("blocked") == result.count("new") == 1
    assert outcomes(result)["/a"] == ("blocked" if status == 200 else "HttpError")


def test_a_trial_delivers_them_too(tmp_path) -> None:
    site = Stories(5, captcha)
    settings = {"SIMHASH_GATE_BLOCKED": "drop", "SIMHASH_GATE_ACTION": "tag"}
    with site.running():
        result = visit(tmp_path, site, STORIES, **settings)
    assert result.delivered() == sorted(STORIES)
