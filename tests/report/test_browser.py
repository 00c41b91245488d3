"""The report in a real browser: it opens, sorts, filters, and hostile pages do nothing to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from benchmarks.speed.chromium import running_chromium
from simhash_gate.report.html import render
from simhash_gate.report.summary import Summary
from tests.report.verdicts import NOON, copy, near, verdict

if TYPE_CHECKING:
    from pathlib import Path

PHONE, DESK = 360, 1280

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with running_chromium() as browser:
        yield browser


@pytest.fixture
def happened() -> list[str]:
    """What a report did that it must not: it fetched, failed, asked, or opened something."""
    return []


@pytest.fixture
def show(browser: Browser, tmp_path: Path, happened: list[str]) -> Iterator[Open]:
    """Open a report of some lines, and see that nothing happens."""
    opened: list[Page] = []

    def show(*lines: dict[str, Any], width: int = DESK, **context: Any) -> Page:
        summary = Summary()
        for line in lines:
            summary.add_line(line)
        path = tmp_path / "report.html"
        path.write_bytes(render(summary, name="news"))
        page = browser.new_page(viewport={"width": width, "height": 900}, **context)
        opened.append(page)
        page.on("console", lambda message: happened.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: happened.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (happened.append("dialog"), dialog.dismiss()))
        page.on("popup", lambda popup: happened.append("popup"))
        page.on("request", lambda request: happened.append(request.url))
        page.goto(path.as_uri())
        assert happened.pop(0) == path.as_uri()
        return page

    yield show
    for page in opened:
        page.wait_for_timeout(100)  # what a hostile page would start takes a moment
        page.close()
    assert happened == []


CRAWL = [
    *(verdict(f"a{n}", time=NOON + n) for n in range(10)),
    *(copy(f"copy-{n}", "a1", n % 3, words=300 + n, time=NOON + n) for n in range(12)),
    *(near(f"near-{n}", "a2", 4 + n % 4, time=NOON + 60 * n) for n in range(8)),
    *(verdict(f"https://site{n}.org/", time=NOON) for n in range(6)),
    *(copy(f"https://site{n}.org/c", "a3", time=NOON) for n in range(3, 6)),
    copy("https://site3.org/d", "a3", 3, reason="distance 3, threshold 3; only 'x' → 'y' differs"),
    verdict("robots.txt", "skipped"),
    {
        "audit": {
            "domain": "example.com",
            "audited": 50,
            "compared": 40,
            "wrong": 2,
            "fields": {"price": 2},
        }
    },
]


def column(page: Page, section: str, number: int) -> list[str]:
    rows = page.locator(f"#{section} table.sortable > tbody > tr:visible")
    return rows.locator(f"td:nth-child({number})").all_inner_texts()


def tiles(page: Page) -> dict[str, str]:
    names, values = (page.locator(f".tiles {tag}").all_inner_texts() for tag in ("dt", "dd"))
    return {name: value.split("\n")[0] for name, value in zip(names, values, strict=True)}


def test_it_opens_with_the_figures_of_the_crawl(show: Open) -> None:
    page = show(*CRAWL)
    expect(page).to_have_title("Near-duplicates of news")
    assert tiles(page) == {
        **{"Responses": "41", "New": "16", "Near": "8", "Duplicates": "16"},
        **{"Dropped": "16", "Saved": "16.0 kB"},
    }
    assert column(page, "domains", 1)[0] == "example.com"
    assert page.locator("#distances svg:visible").count() == 1
    assert page.locator("#timeline svg:visible").count() == 1
    assert "threshold, 3 bits" in page.locator("#distances").inner_text()
    cluster = page.locator("#clusters details").first
    expect(cluster.locator("summary")).to_have_text("12 copies of About a1")
    expect(cluster.locator("tbody tr").first).to_contain_text("another name; +11 words")
    expect(page.locator("#near-pages tbody tr").first).to_contain_text("https://example.com/near-0")
    expect(page.locator("#duplicates tbody tr").first).to_contain_text("only 'x' → 'y' differs")
    expect(page.locator("#audit tbody tr")).to_contain_text("price (2)")
    assert column(page, "audit", 5) + column(page, "audit", 6) == ["1.4", "16.5"]


def test_tables_are_sorted_by_mouse_and_by_keyboard(show: Open) -> None:
    page = show(*CRAWL)
    header = page.locator("#domains th", has_text="Duplicate")
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "descending")
    assert column(page, "domains", 5) == ["12", "2", "1", "1", "0", "0", "0"]
    header.get_by_role("button").press("Enter")
    expect(header).to_have_attribute("aria-sort", "ascending")
    assert column(page, "domains", 5) == ["0", "0", "0", "1", "1", "2", "12"]
    name = page.locator("#domains th", has_text="Domain")
    name.get_by_role("button").press("Space")
    expect(header).to_have_attribute("aria-sort", "none")
    names = column(page, "domains", 1)
    assert names == sorted(names)
    assert len(names) == 7


def test_numbers_are_sorted_as_numbers(show: Open) -> None:
    sizes = {"a": 9, "b": 1_000, "c": 20, "d": 12_000_000, "e": 300}
    page = show(*(copy(f"https://{n}.com/", "x", bytes=size) for n, size in sizes.items()))
    page.locator("#domains th", has_text="Saved").get_by_role("button").click()
    assert column(page, "domains", 1) == ["d.com", "b.com", "e.com", "c.com", "a.com"]
    assert column(page, "domains", 7)[0] == "12.0 MB"


def test_filters_leave_what_contains_their_text(show: Open) -> None:
    page = show(*CRAWL)
    box = page.locator("#domains").get_by_label("Filter")
    box.fill("SITE4")
    assert column(page, "domains", 1) == ["site4.org"]
    expect(page.locator("#domains output")).to_have_text("1 of 7")
    box.fill("")
    assert len(column(page, "domains", 1)) == 7
    page.locator("#near-pages").get_by_label("Filter").fill("near-7")
    assert len(column(page, "near-pages", 1)) == 1
    assert len(column(page, "duplicates", 1)) == 16


def test_without_scripts_all_is_there_to_read(show: Open) -> None:
    page = show(*CRAWL, java_script_enabled=False)
    assert len(column(page, "domains", 1)) == 7
    assert page.get_by_role("button").count() == 0
    assert page.get_by_label("Filter").count() == 0


HOSTILE = [
    "<script>window.pwned = 1; alert(1)</script>",
    '"><img src="https://evil.example/x.png" onerror="window.pwned = 1">',
    "'><svg onload=window.pwned=1>",
    "</style></script><script>window.pwned = 1</script>",
    "{{ 7 * 7 }}{% raw %}",
    "\u202eevil\u2066 \u0000 \ud800",
    "<a href='javascript:window.pwned=1'>click</a>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'>",
    "&lt;b&gt; &amp;#60;",
    "x" * 10_000,
]
NO_LINKS = [
    "javascript:window.pwned=1//",
    "JaVaScRiPt:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "file:///etc/passwd",
    "//evil.example/",
    "https://",
    "http://[",
    "https://example.com/" + "y" * 10_000,
]


def test_hostile_titles_reasons_and_addresses_do_nothing(show: Open) -> None:
    lines = []
    for number, text in enumerate(HOSTILE):
        given = {"title": text, "matched_title": text, "reason": f"distance 0; {text}"}
        address = f'https://evil.example/"onmouseover="window.pwned=1"/{number}/<b>'
        lines += [copy(address, "a", **given), near(address, "b", **given)]
    for address in NO_LINKS:
        lines += [copy(address, "a"), copy("c", "a", matched_url=address), near(address, "b")]
    domain = {
        "domain": HOSTILE[0],
        "audited": 3,
        "compared": 3,
        "wrong": 1,
        "fields": {HOSTILE[1]: 1},
    }
    page = show(*lines, {"audit": domain})
    page.evaluate("document.querySelectorAll('details').forEach(it => it.open = true)")
    for link in page.locator("td a").all()[:5]:
        link.hover()
    assert page.evaluate("window.pwned") is None
    assert page.locator("img, iframe, td script, bdi *").count() == 0
    addresses = page.evaluate("Array.from(document.links, it => it.getAttribute('href'))")
    assert {a.partition(":")[0] for a in addresses if not a.startswith("#")} == {"https"}
    assert not set(NO_LINKS) & set(addresses)
    titles = page.locator("#near-pages td:nth-child(1) bdi").all_text_contents()
    assert {HOSTILE[0], HOSTILE[1], HOSTILE[4], HOSTILE[8]} < set(titles)
    assert max(map(len, titles)) <= 300
    for link in page.locator("td a").all()[:3]:
        expect(link).to_have_attribute("rel", "noopener noreferrer")


def test_a_script_that_came_in_all_the_same_would_not_run(show: Open, happened) -> None:
    page = show(*CRAWL)
    with page.expect_console_message() as refusal:
        page.evaluate(
            """() => { const script = document.createElement("script");
                       script.textContent = "window.pwned = 1"; document.body.append(script); }"""
        )
    assert "Content Security Policy" in refusal.value.text
    assert happened.pop() == f"console: {refusal.value.text}"
    assert page.evaluate("window.pwned") is None


@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible_and_fits_the_screen(show: Open, scheme: str, width: int) -> None:
    page = show(*CRAWL, width=width, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(it => it.open = true)")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(
    "lines",
    [
        [verdict("a")],
        [verdict("a", "skipped")],
        [verdict("a", "error", time=None)],
        [verdict("a", "kept", distance=None, threshold=None)],
        [copy("b", "a", threshold=None, action="tag", dropped=False)],
        [copy("", "a", 64, title="", words=None, matched_words=None)],
        [near("b", "a", 60, threshold=64)],
    ],
)
def test_a_crawl_of_few_pages_has_a_report_too(show: Open, lines: list[dict]) -> None:
    page = show(*lines)
    assert tiles(page)["Responses"] == "1"
