"""Crawls that ask for known pages only if they have changed, of servers that lie and that don't."""

from __future__ import annotations

import hashlib
import json
import zlib
from contextlib import closing
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from typing import TYPE_CHECKING

import pytest

from simhash_gate.history.validators import FEWEST_UNCHANGED
from simhash_gate.stores import open_store
from tests.crawls.harness import Answer, Answering, Crawl, Site, crawl, html_answer, page
from tests.stores.store_urls import LASTING, url_maker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DROP = {
    "SIMHASH_GATE_STORE": "sqlite:///store.sqlite",
    "SIMHASH_GATE_REVALIDATE": True,
    "SIMHASH_GATE_REVISIT": "drop",
    "SIMHASH_GATE_REVALIDATE_PROBES": 0,
    "CONCURRENT_REQUESTS": 1,
}
KEEP = {**DROP, "SIMHASH_GATE_REVISIT": "links", "SIMHASH_GATE_KEEP_MARKDOWN": 1 << 24}
PROBED = 5  # pages of a domain that are fetched, if one has changed, before it is asked anything
PATHS = [f"/{number}" for number in range(20)]


def honest(answer: Answer) -> dict[str, str]:
    return {"ETag": f'"{hashlib.sha256(answer.body).hexdigest()[:16]}"'}


def constant(answer: Answer) -> dict[str, str]:
    return {"ETag": '"always"'}


@dataclass
class Stated(Answering):
    """A page whose server says by some headers which version it is, and heeds conditions."""

    answer: Answer
    says: Callable[[Answer], dict[str, str]] = honest
    refusal: dict[str, str] = field(default_factory=dict)
    conditions: list[str] = field(default_factory=list)

    def answer_to(self, headers: Mapping[str, str]) -> Answer:
        said = self.says(self.answer)
        wanted = headers.get("If-None-Match")
        since = headers.get("If-Modified-Since")
        self.conditions += [each for each in (wanted, since) if each]
        known = bool(wanted) and said.get("ETag") in str(wanted).split(", ")
        if not wanted and since:
            known = since == said.get("Last-Modified")
        if known:
            return Answer(b"", 304, {**said, **self.refusal})
        return replace(self.answer, headers={**self.answer.headers, **said})


def stated(paths=PATHS, says=honest) -> dict[str, Stated]:
    return {path: Stated(page(int(path[1:])), says) for path in paths}


def change(routes: dict[str, Stated], *paths: str) -> None:
    """Let pages say something else from now on."""
    for path in paths:
        routes[path].answer = page(10_000 + int(path[1:]))


def visit(folder, site: Site, paths=PATHS, settings=DROP, **kwargs) -> Crawl:
    site.answers.clear()
    return crawl(folder, site, " ".join(paths), settings=settings, **kwargs)


def visit_twice(folder, site: Site, routes, paths=PATHS, settings=DROP, **kwargs) -> list[Crawl]:
    """Let a server tell of a change, so that it is believed from then on."""
    first = visit(folder, site, paths, settings, **kwargs)
    change(routes, paths[0])
    return [first, visit(folder, site, paths, settings, **kwargs)]


def answered(site: Site, status: int) -> list[str]:
    return sorted((path for path, given in site.answers if given == status), key=str)


@pytest.mark.parametrize("form", LASTING)
def test_pages_that_an_honest_server_says_are_the_same_are_not_sent_again(
    tmp_path, request, form
) -> None:
    routes = stated()
    settings = {**DROP, "SIMHASH_GATE_STORE": url_maker(request, form)(tmp_path)}
    with Site(routes).running() as site:
        first = visit(tmp_path, site, settings=settings)
        assert first.delivered() == sorted(PATHS)
        assert answered(site, 304) == []
        change(routes, "/0")
        second = visit(tmp_path, site, settings=settings)
        assert second.delivered() == ["/0"]
        assert len(answered(site, 200)) == PROBED
        assert len(answered(site, 304)) == len(PATHS) - PROBED
        change(routes, "/3", "/17")
        third = visit(tmp_path, site, settings=settings)
    assert third.delivered() == ["/17", "/3"]
    assert len(answered(site, 304)) == len(PATHS) - 2
    for result in (second, third):
        assert result.count("fetched") == result.count("checked") == len(PATHS)
        assert result.count("dropped") == len(PATHS) - len(result.delivered())
    assert second.count("unchanged") == len(PATHS) - 1
    assert (second.count("validators/sent"), second.count("validators/probes")) == (15, 5)
    assert second.count("validators/not_modified") == 15
    assert third.count("updated") + third.count("rewritten") == 2
    assert third.count("validators/sent") == len(PATHS)
    assert third.count("validators/wrong") == 0


def test_a_304_keeps_a_record_alive_and_counts_as_a_visit(tmp_path) -> None:
    routes = stated()
    with Site(routes).running() as site:
        visit_twice(tmp_path, site, routes)
        visit(tmp_path, site)
        assert len(answered(site, 304)) == len(PATHS)
    with closing(open_store(f"sqlite:///{tmp_path}/store.sqlite")) as store:
        records = {record.url[-3:].lstrip("/0123456789:"): record for record in store.records()}
        seen = [record.last_seen - record.first_seen for record in store.records()]
        assert len(seen) == len(PATHS)
        assert all(seconds > 0 for seconds in seen)
        histories = list(store.histories())
        assert len(histories) == len(PATHS)
        assert records


def test_the_callback_of_a_listing_runs_on_what_was_kept_and_its_links_are_followed(
    tmp_path,
) -> None:
    follows = """
    def parse(self, response):
        for link in response.css("ul.list > li > a.story::attr(href)").getall():
            yield self.request(link)
        yield {**next(super().parse(response)), "flags": response.flags, "size": len(response.body)}
"""
    entries = "".join(f'<li><a class="story" href="{path}">{path}</a></li>' for path in PATHS)
    body = f"<title>All</title><ul class='list'>{entries}</ul>"
    routes = {"/list": Stated(html_answer(f"<html><body>{body}</body></html>")), **stated()}
    with Site(routes).running() as site:
        first = visit(tmp_path, site, ["/list"], KEEP, spider=follows)
        assert len(first.delivered()) == 1 + len(PATHS)
        change(routes, "/0")  # a change that is told, and then its domain is believed
        for _ in range(2):
            second = visit(tmp_path, site, ["/list"], KEEP, spider=follows)
        assert site.answers["/list", 304] == 1
        assert site.answers["/list", 200] == 0
        change(routes, "/7")
        third = visit(tmp_path, site, ["/list"], KEEP, spider=follows)
    assert second.delivered() == []
    assert second.count("items_held") == 1 + len(PATHS)
    assert second.count("unchanged") == 1 + len(PATHS)
    assert sum(site.hits.values()) == 4 * (1 + len(PATHS))
    assert third.delivered() == ["/7"]
    assert third.count("validators/not_modified") == len(PATHS)


def test_what_a_callback_needs_is_kept_or_the_page_is_fetched(tmp_path) -> None:
    without = {name: value for name, value in KEEP.items() if "MARKDOWN" not in name}
    with Site(stated()).running() as site:
        for _ in range(3):
            result = visit(tmp_path, site, settings=without)
    assert len(answered(site, 200)) == len(PATHS)
    assert result.count("validators/sent") == 0
    assert result.count("items_held") == len(PATHS)
    assert "Set SIMHASH_GATE_KEEP_MARKDOWN, or SIMHASH_GATE_REVISIT = 'drop'" in result.log


def test_an_unchanged_page_that_passes_is_the_very_page(tmp_path) -> None:
    tells = """
    def parse(self, response):
        yield {**next(super().parse(response)), "body": response.text, "status": response.status,
               "stored": "simhash_gate_stored" in response.flags, "encoding": response.encoding,
               "type": response.headers["Content-Type"].decode()}
"""
    settings = {**KEEP, "SIMHASH_GATE_REVISIT": "pass"}
    latin = html_answer(page(4).body.decode().replace('charset="utf-8"', "").replace("a", "ä"))
    latin = replace(latin, body=latin.body.decode().encode("latin-1"))
    latin.headers["Content-Type"] = "text/html; charset=iso-8859-1"
    routes = {**stated(), "/4": Stated(latin)}
    with Site(routes).running() as site:
        before = visit_twice(tmp_path, site, routes, settings=settings, spider=tells)
        last = visit(tmp_path, site, settings=settings, spider=tells)
        assert len(answered(site, 304)) == len(PATHS)
    assert [item["stored"] for item in last.items] == [True] * len(PATHS)
    told = [
        {item["path"]: (item["body"], item["encoding"], item["type"], item["markdown"], 200)}
        for result in before
        for item in result.items
    ]
    for item in last.items:
        same = (item["body"], item["encoding"], item["type"], item["markdown"], item["status"])
        assert {item["path"]: same} in told


def test_a_text_that_had_to_go_is_fetched_again(tmp_path) -> None:
    wide = [
        html_answer(page(n).body + zlib.compress(bytes(str(n), "ascii") * 9) * 10) for n in range(3)
    ]
    routes = {f"/{n}": Stated(answer) for n, answer in enumerate(wide)}
    with Site(routes).running() as site:
        visit_twice(tmp_path, site, routes, [*routes], KEEP)
        for _ in range(2):
            visit(tmp_path, site, [*routes], KEEP)
        assert len(answered(site, 304)) == 3
        with closing(open_store(f"sqlite:///{tmp_path}/store.sqlite")) as store:
            store.keep_text("else", 1, b"x", 2e9, 1)  # for nothing else there is room
            assert store.texts_size() <= 1
        result = visit(tmp_path, site, [*routes], KEEP)
    assert len(answered(site, 200)) == 3
    assert result.count("unchanged") == 3


def test_a_domain_whose_validators_lie_is_noticed_told_and_believed_no_more(tmp_path) -> None:
    routes = stated(says=constant)
    with Site(routes).running() as site:
        visit(tmp_path, site)
        change(routes, *PATHS)
        second = visit(tmp_path, site)
        change(routes, *PATHS)
        third = visit(tmp_path, site)
    assert second.delivered() == sorted(PATHS)
    assert second.count("validators/distrusted") == 1
    assert second.count("validators/wrong") >= 2
    warnings = [line for line in second.log.splitlines() if "are wrong" in line]
    assert len(warnings) == 1
    assert "they missed 2 of the last 2 changes" in warnings[0]
    assert len([word for word in warnings[0].split() if word.startswith(site.url)]) == 2
    assert "of 127.0.0.1" in warnings[0]
    assert third.count("validators/sent") == 0
    assert "are wrong" not in third.log
    assert "without conditions until" in third.log
    assert not any(route.conditions for route in routes.values())


def test_a_server_that_never_tells_a_change_is_believed_after_many_pages_only(tmp_path) -> None:
    paths = [f"/{number}" for number in range(40)]
    routes = stated(paths, says=constant)
    with Site(routes).running() as site:
        for _ in range(2):
            result = visit(tmp_path, site, paths)
            assert result.count("validators/sent") == 0
        result = visit(tmp_path, site, paths)
    assert result.count("validators/sent") == 2 * len(paths) - FEWEST_UNCHANGED


def test_what_was_spared_for_a_lie_is_fetched_again(tmp_path) -> None:
    paths = [f"/{number}" for number in range(40)]
    routes = stated(paths, says=constant)
    settings = {**DROP, "SIMHASH_GATE_REVALIDATE_PROBES": 0.3, "CONCURRENT_REQUESTS": 8}
    with Site(routes).running() as site:
        for _ in range(3):  # nothing has changed: now it is believed
            visit(tmp_path, site, paths, settings)
        change(routes, *paths)
        result = visit(tmp_path, site, paths, settings)
    assert result.count("validators/distrusted") == 1
    assert result.delivered() == sorted(paths)
    assert result.count("validators/fetched_again") <= result.count("validators/not_modified")
    assert sum(1 for path in paths if site.answers[path, 304]) >= 1


def test_validators_that_change_with_each_answer_are_useless_and_no_lie(tmp_path) -> None:
    count = iter(range(10**6))
    routes = stated(says=lambda _: {"ETag": f'"{next(count)}"'})
    with Site(routes).running() as site:
        visit(tmp_path, site)
        second, third = visit(tmp_path, site), visit(tmp_path, site)
    assert second.delivered() == third.delivered() == []
    assert second.log.count("change though pages do not") == 1
    assert "change though pages do not" not in third.log
    assert "were found useless" in third.log
    assert "are wrong" not in second.log + third.log
    assert second.count("validators/sent") == 0
    assert third.count("validators/sent") == 0
    assert third.count("validators/distrusted") == 0
    assert third.count("unchanged") == len(PATHS)


def test_times_of_changes_are_asked_by_unless_they_are_made_for_the_answer(tmp_path) -> None:
    def dated(answer: Answer) -> dict[str, str]:
        return {
            "Last-Modified": formatdate(1714557600 + zlib.crc32(answer.body) % 9999, usegmt=True)
        }

    def now(_: Answer) -> dict[str, str]:
        return {"Last-Modified": formatdate(usegmt=True)}

    routes = {**stated(PATHS[:8], dated), **stated(PATHS[8:], now)}
    with Site(routes).running() as site:
        visit_twice(tmp_path, site, routes)
        visit(tmp_path, site)
    assert answered(site, 304) == PATHS[:8]
    assert not any(route.conditions for path, route in routes.items() if path in PATHS[8:])


def test_a_request_with_conditions_of_its_own_is_left_alone(tmp_path) -> None:
    asks = """
    handle_httpstatus_list = [304]
    def request(self, path, **kwargs):
        return super().request(path, headers={"If-None-Match": '"mine"'}, **kwargs)
    def parse(self, response):
        yield {"path": "asked", "status": response.status, "empty": not response.body}
"""
    routes = stated(PATHS[:7], says=lambda _: {"ETag": '"mine"'})
    with Site(routes).running() as site:
        for _ in range(2):
            result = visit(tmp_path, site, PATHS[:7], spider=asks)
    assert {(item["status"], item["empty"]) for item in result.items} == {(304, True)}
    assert result.count("skipped/status") == 7
    assert result.count("validators/sent") == 0


def test_a_redirect_carries_no_condition_to_another_page(tmp_path) -> None:
    routes: dict = {path: route for path, route in stated().items() if path != "/19"}
    moved = Stated(page(19))
    routes["/19"] = moved
    with Site(routes).running() as site:
        visit_twice(tmp_path, site, routes)
        visit(tmp_path, site)
        assert moved.conditions
        target = routes["/new"] = Stated(page(50))
        routes["/19"] = Answer(b"", 301, {"Location": "/new"})
        result = visit(tmp_path, site)
    assert result.delivered() == ["/new"]
    assert target.conditions == []


def test_a_retry_asks_again_and_gets_its_answer(tmp_path) -> None:
    routes: dict = {**stated()}
    kept = routes["/5"]
    with Site(routes).running() as site:
        visit_twice(tmp_path, site, routes)
        visit(tmp_path, site)
        before = len(kept.conditions)

        class Shaky(Answering):
            calls = 0

            def answer_to(self, headers):
                self.calls += 1
                return Answer(b"", 503) if self.calls == 1 else kept.answer_to(headers)

        routes["/5"] = Shaky()
        result = visit(tmp_path, site)
    assert len(kept.conditions) == before + 1
    assert result.count("unchanged") == len(PATHS)
    assert result.count("validators/not_modified") == len(PATHS)


def test_a_304_that_names_another_version_is_not_believed(tmp_path) -> None:
    routes = stated()
    with Site(routes).running() as site:
        visit_twice(tmp_path, site, routes)
        routes["/9"].refusal = {"ETag": '"another"'}
        result = visit(tmp_path, site)
    assert (site.answers["/9", 304], site.answers["/9", 200]) == (1, 1)
    assert result.count("unchanged") == len(PATHS)


def test_a_page_that_was_gone_is_fetched_when_it_is_back(tmp_path) -> None:
    routes: dict = {**stated()}
    kept = routes["/2"]
    with Site(routes).running() as site:
        visit_twice(tmp_path, site, routes)
        routes["/2"] = Answer(b"gone", 410)
        visit(tmp_path, site)
        routes["/2"] = kept
        before = len(kept.conditions)
        result = visit(tmp_path, site)
    assert result.delivered() == ["/2"]
    assert len(kept.conditions) == before


def test_a_dropped_page_has_its_kept_text_and_is_in_no_journal(tmp_path) -> None:
    tells = """
    def failed(self, failure):
        verdict = failure.value.verdict
        yield {"path": failure.request.url[-2:], "failure": failure.value.response.status,
               "title": verdict.title, "kept": verdict.kept.markdown,
               "seen": verdict.previous.time, "reason": verdict.reason}
"""
    settings = {**KEEP, "SIMHASH_GATE_REVISIT": "drop", "SIMHASH_GATE_JOURNAL": "dropped"}
    routes = stated()
    with Site(routes).running() as site:
        first, second = visit_twice(tmp_path, site, routes, settings=settings)
        last = visit(tmp_path, site, settings=settings, spider=tells)
    assert {item["failure"] for item in last.items} == {304}
    delivered = [item for item in (*first.items, *second.items) if "markdown" in item]
    known = {item["path"]: item["markdown"] for item in delivered}
    assert {item["kept"] for item in last.items} == {*known.values()}
    assert all(item["title"].startswith("Story") for item in last.items)
    assert all("not modified (304), last seen" in item["reason"] for item in last.items)
    assert last.count("journaled") == 0


def test_domains_and_requests_choose_for_themselves(tmp_path) -> None:
    asks = """
    def request(self, path, **kwargs):
        even = int(path[1:]) % 2 == 0
        return super().request(path, meta={"simhash_gate": {"revalidate": even}}, **kwargs)
"""
    routes = stated()
    with Site(routes).running() as site:
        visit_twice(tmp_path, site, routes, spider=asks)
        visit(tmp_path, site, spider=asks)
        assert answered(site, 304) == sorted(PATHS[::2])
        domains = json.dumps({"127.0.0.1": {"revalidate": False}, "other.example": {}})
        visit(tmp_path, site, settings={**DROP, "SIMHASH_GATE_DOMAINS": domains})
        assert answered(site, 304) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"SIMHASH_GATE_REVALIDATE": "often"}, "SIMHASH_GATE_REVALIDATE = 'often'"),
        ({"SIMHASH_GATE_REVALIDATE_PROBES": 5}, "SIMHASH_GATE_REVALIDATE_PROBES"),
        (
            {
                "ADDONS": "{}",
                "DOWNLOADER_MIDDLEWARES": '{"simhash_gate.SimhashGateMiddleware": 20}',
            },
            "simhash_gate.ConditionalRequests to DOWNLOADER_MIDDLEWARES at 840",
        ),
    ],
)
def test_what_can_not_work_stops_the_crawl_before_it_starts(tmp_path, settings, message) -> None:
    with Site({"/a": page(1)}).running() as site:
        chosen = {**DROP, "SIMHASH_GATE_REVISIT": "pass", **settings}
        result = crawl(tmp_path, site, "/a", settings=chosen)
    assert site.hits["/a"] == 0
    assert result.status != 0
    assert message in result.log


def test_both_middlewares_can_be_placed_by_hand(tmp_path) -> None:
    by_hand = {
        **DROP,
        "ADDONS": "{}",
        "DOWNLOADER_MIDDLEWARES": json.dumps(
            {"simhash_gate.SimhashGateMiddleware": 20, "simhash_gate.ConditionalRequests": 840}
        ),
    }
    routes = stated()
    with Site(routes).running() as site:
        visit_twice(tmp_path, site, routes, settings=by_hand)
    assert len(answered(site, 304)) == len(PATHS) - PROBED


def test_beside_the_cache_of_scrapy_nothing_is_asked(tmp_path) -> None:
    settings = {**DROP, "HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path / "cache")}
    with Site(stated()).running() as site:
        for _ in range(2):
            result = visit(tmp_path, site, settings=settings)
    assert answered(site, 304) == []
    assert result.count("validators/sent") == 0
    assert "HttpCache is on" in result.log
