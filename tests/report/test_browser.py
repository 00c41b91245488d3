"""The report in a real browser: it opens, sorts, filters, and hostile pages do nothing to it."""

import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from simhash_gate.report.html import render
from simhash_gate.report.pairs import Texts
from tests.chromium import running_chromium
from tests.crawls.harness import ROOT
from tests.report.verdicts import NOON, copy, crawl, near, summary_of, verdict

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

    def show(
        *lines: dict[str, Any], width: int = DESK, texts: Texts | None = None, **context: Any
    ) -> Page:
        path = tmp_path / "report.html"
        path.write_bytes(render(summary_of(*lines), name="news", texts=texts))
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
    opened[-1].wait_for_timeout(100)  # what a hostile page would start takes a moment
    for page in opened:
        page.close()
    assert happened == []


CRAWL = [
    crawl(settings={"SIMHASH_GATE_THRESHOLD": 5}, domains={"example.com": {"action": "tag"}}),
    *(verdict(f"a{n}", time=NOON + n) for n in range(10)),
    *(copy(f"copy-{n}", "a1", n % 3, words=300 + n, time=NOON + n) for n in range(12)),
    *(near(f"near-{n}", "a2", 4 + n % 4, time=NOON + 60 * n) for n in range(8)),
    *(verdict(f"https://site{n}.org/", time=NOON) for n in range(6)),
    verdict("robots.txt", "skipped", reason="not html"),
    verdict("slow", "error", reason="reading took longer than 10 s"),
]


def column(page: Page, section: str, number: int) -> list[str]:
    rows = page.locator(f"#{section} table.sortable > tbody > tr:visible")
    # What is out of sight is not laid out, and has no inner text.
    cells = rows.locator(f"td:nth-child({number})").all_text_contents()
    return [cell.strip() for cell in cells]


def open_all(page: Page) -> None:
    """Unfold all, and draw what is out of sight, which would not be looked at."""
    page.evaluate("document.querySelectorAll('details').forEach(it => it.open = true)")
    page.evaluate(
        "document.querySelectorAll('section').forEach(it => it.style.contentVisibility = 'visible')"
    )


def sort_by(page: Page, section: str, name: str, key: str = "Enter") -> str:
    """Sort a table with the keyboard; return how it is sorted then."""
    header = page.locator(f"#{section} th", has_text=name)
    header.get_by_role("button").press(key)
    return header.get_attribute("aria-sort") or ""


def assert_accessible(page: Page, width: int) -> None:
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def texts_where(page: Page, places: str, condition: str) -> list[str]:
    """Return the texts of the places that meet a condition."""
    return page.evaluate(
        f"""() => Array.from(document.querySelectorAll("{places}"))
            .filter((it) => {condition}).map((it) => it.textContent)"""
    )


CUT_OFF = "it.textContent.trim() && it.getBoundingClientRect().right > innerWidth"


def tiles(page: Page) -> dict[str, str]:
    names, values = (page.locator(f".tiles {tag}").all_inner_texts() for tag in ("dt", "dd"))
    return {name: value.split("\n")[0] for name, value in zip(names, values, strict=True)}


def test_it_opens_with_what_looks_wrong_and_figures_and_settings_of_the_crawl(show: Open) -> None:
    page = show(*CRAWL)
    expect(page).to_have_title("Near-duplicates of news")
    answer = page.locator("#answer")
    expect(answer.locator("h2")).to_have_text("⚠ 2 things look wrong, the worst first.")
    for link in answer.locator("a").all():
        link.click()
        assert page.locator(page.url.rpartition("/report.html")[2]).is_visible()

    assert tiles(page) == {
        **{"Responses": "38", "New": "16", "Near": "8", "Duplicates": "12", "Errors": "1"},
        **{"Dropped": "12", "Saved": "12.0 kB"},
    }
    expect(page.locator("#distances")).to_contain_text("threshold, 3 bits")
    bars = "all => all.map(it => [it.className.baseVal, it.width.baseVal.valueAsString])"
    apart = page.locator("#distances tbody tr")
    assert apart.locator("td:nth-child(2)").all_text_contents() == [*"444", *"2222"]
    expect(apart.nth(2)).to_have_class("threshold")
    assert apart.nth(0).locator("rect").evaluate_all(bars) == [["duplicate", "100"]]
    assert apart.nth(3).locator("rect").evaluate_all(bars) == [["near", "50"]]
    assert page.locator("#timeline tbody tr").count() > 5
    cluster = page.locator("#clusters details").first
    expect(cluster.locator("summary")).to_have_text("12 copies of About a1")
    expect(cluster.locator("tbody tr").first).to_contain_text("another name; +11 words")

    head = page.locator("header")
    expect(head).to_contain_text("Spider news, started 2024-06-01 12:00:00 UTC, simhash_gate 0.1.0")
    head.locator("summary").click()
    rows = head.locator("tbody tr").all_inner_texts()
    assert rows == ["all domains\tSIMHASH_GATE_THRESHOLD = 5", "example.com\taction = tag"]


TEXTS = {
    "a3": "# Lamp\n\nPrice: 12.90 EUR\n\n" + "This is what both pages say. " * 60,
    "lamp": "# Lamp\n\nPrice: 14.90 EUR\n\n" + "This is what both pages say. " * 60 + "\nNew!",
}


def texts(names: Collection[str]) -> dict[str, str]:
    known = {f"https://example.com/{name}": text for name, text in TEXTS.items()}
    return {name: known[name] for name in names if name in known}


def test_what_differs_in_the_texts_is_marked_by_more_than_colour(show: Open) -> None:
    lines = [
        copy("lamp", "a3", 3, title="Lamp", matched_title="Lamp", words=301),
        copy("lamp", "b", 1, title="Lamp", matched_title="Lamp", words=301),
    ]
    page = show(*lines, texts=texts)
    open_all(page)
    first, second = page.locator("#duplicates details.pair").all()
    expect(first.locator("summary")).to_have_text("another price or offer; +1 word Lamp")
    for place in (".place", ".text"):
        assert first.locator(f"{place} del").all_text_contents() == ["12.90"]
        assert first.locator(f"{place} ins").all_text_contents() == ["14.90", "New!"]
    style = "(it, pseudo) => getComputedStyle(it, pseudo)"
    for tag, line, said in (("ins", "underline", "duplicate"), ("del", "line-through", "kept")):
        mark = page.locator(f".text {tag}").first
        assert line in mark.evaluate(f"it => ({style})(it, null).textDecorationLine")
        assert said in mark.evaluate(f"it => ({style})(it, '::before').content")
    expect(second).to_contain_text("Its text is not to be had here.")
    assert second.locator(".text").count() == 1


def test_tables_are_sorted_by_mouse_and_keyboard_and_filtered(show: Open) -> None:
    sizes = {"a": 9, "b": 1_000, "c": 20, "d": 12_000_000, "e": 300}
    lines = [copy(f"https://{n}.com/", "x", bytes=size) for n, size in sizes.items()]
    lines += [copy(f"https://b.com/{n}", "x", bytes=0) for n in range(10)]
    page = show(*lines, *(near(f"https://c.com/{n}", "x") for n in range(9)))
    page.locator("#domains th", has_text="Duplicate").get_by_role("button").click()
    assert column(page, "domains", 4) == ["11", "1", "1", "1", "1"]
    assert sort_by(page, "domains", "Duplicate") == "ascending"
    assert column(page, "domains", 4) == ["1", "1", "1", "1", "11"]
    assert sort_by(page, "domains", "Saved") == "descending"
    assert column(page, "domains", 1) == ["d.com", "b.com", "e.com", "c.com", "a.com"]
    assert sort_by(page, "domains", "Domain", "Space") == "ascending"
    assert column(page, "domains", 1) == ["a.com", "b.com", "c.com", "d.com", "e.com"]

    box = page.locator("#domains").get_by_label("Filter")
    box.fill("D.COM")
    assert column(page, "domains", 1) == ["d.com"]
    expect(page.locator("#domains output")).to_have_text("1 of 5")
    page.locator("#near-pages").get_by_label("Filter").fill("com/7")
    assert len(column(page, "near-pages", 1)) == 1
    assert page.locator("#duplicates details:visible").count() == len(lines)


def test_without_scripts_all_is_there_to_read(show: Open) -> None:
    page = show(*CRAWL, java_script_enabled=False)
    assert len(column(page, "domains", 1)) == 7
    assert page.get_by_role("button").count() == 0
    assert page.get_by_label("Filter").count() == 0


HOSTILE = [
    "<script>window.pwned = 1; alert(1)</script>",
    '"><img src="https://evil.example/x.png" onerror="window.pwned = 1">',
    "</style></script><script>window.pwned = 1</script>",
    "{{ 7 * 7 }}{% raw %}",
    "\u202eevil\u2066 \u0000 \ud800",
    "one\r\nline \x1b[31mred\x07 \x9b2J\u2028",
    "<a href='javascript:window.pwned=1'>click</a>",
    "&lt;b&gt; &amp;#60;",
    "x" * 10_000,
]
NO_LINKS = [
    "JaVaScRiPt://evil.example/%0awindow.pwned=1",
    "data:text/html,<script>alert(1)</script>",
    "file:///etc/passwd",
    "//evil.example/",
    "http://[",
    "https://example.com/" + "y" * 10_000,
]


def test_hostile_titles_reasons_and_addresses_do_nothing(show: Open, happened) -> None:
    lines = []
    for number, text in enumerate(HOSTILE):
        given = {"title": text, "matched_title": text, "reason": f"distance 0; {text}"}
        address = f'https://evil.example/"onmouseover="window.pwned=1"/{number}/<b>'
        lines += [copy(address, "a", **given), near(address, "b", **given)]
    for address in NO_LINKS:
        lines += [copy(address, "a"), copy("c", "a", matched_url=address), near(address, "b")]
    words = [*HOSTILE, *NO_LINKS]

    def hostile_texts(names: Collection[str]) -> dict[str, str]:
        return {name: " and ".join(words[n % 7 :]) for n, name in enumerate(sorted(names))}

    head = crawl(HOSTILE[0], settings={HOSTILE[1]: HOSTILE[2]}, domains={HOSTILE[2]: {"a": "b"}})
    page = show(head, *lines, texts=hostile_texts)
    assert page.locator(".text").count() > 20
    assert "\u202e" not in "".join(page.locator(".text, .place").all_text_contents())
    open_all(page)
    page.locator("td a").first.hover()
    assert page.evaluate("window.pwned") is None
    assert page.locator("img, iframe, td script, bdi :not(ins, del)").count() == 0
    addresses = page.evaluate("Array.from(document.links, it => it.getAttribute('href'))")
    assert {a.partition(":")[0] for a in addresses if not a.startswith("#")} == {"https"}
    assert not set(NO_LINKS) & set(addresses)
    titles = page.locator("#near-pages td:nth-child(1) bdi").all_text_contents()
    assert {HOSTILE[0], HOSTILE[1], HOSTILE[3], HOSTILE[6]} < set(titles)
    assert max(map(len, titles)) <= 300
    expect(page.locator("td a").first).to_have_attribute("rel", "noopener noreferrer")
    # A script that came in all the same would not run.
    with page.expect_console_message() as refusal:
        page.evaluate(
            """() => { const script = document.createElement("script");
                       script.textContent = "window.pwned = 1"; document.body.append(script); }"""
        )
    assert "Content Security Policy" in refusal.value.text
    assert happened.pop() == f"console: {refusal.value.text}"
    assert page.evaluate("window.pwned") is None


def test_it_is_accessible_fits_every_screen_and_is_all_there_when_printed(show: Open) -> None:
    page = show(*CRAWL, copy("lamp", "a3", title="Light"), texts=texts, color_scheme="light")
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert texts_where(page, ".box, .text", "it.scrollHeight > it.clientHeight + 1") == []
    page.emulate_media(media="screen")
    open_all(page)
    assert_accessible(page, DESK)

    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": PHONE, "height": 900})
    assert_accessible(page, PHONE)
    assert texts_where(page, "td, th, .text, .place", CUT_OFF) == []
    nameless = "getComputedStyle(it, '::before').content === 'none'"
    assert texts_where(page, "td:not(:empty)", nameless) == []
    judged = page.locator("#domains tbody tr").first.locator("td").nth(1)
    label = judged.evaluate("it => getComputedStyle(it, '::before').content")
    assert label == '"Judged"'


FLEET = [
    line
    for n in range(5)
    for line in (
        verdict(f"a{n}") | crawl(f"news {HOSTILE[0]}", run=f"r{n}", settings={"A": HOSTILE[1]}),
        copy(f"b{n}", "a1", matched_run="r1"),
        verdict("slow", "error", reason=HOSTILE[2]),
    )
]


def test_the_picture_in_the_readme_can_be_made_anew(chromium: str, tmp_path: Path) -> None:
    script = (sys.executable, ROOT / ".ci/pictures.py", tmp_path, "-a", "articles=8")
    subprocess.run(script, check=True, timeout=120)
    assert (tmp_path / "report.png").read_bytes().count(b"tEXtSettings\0SIMHASH_GATE_") == 1


def test_a_report_of_several_crawlers_is_accessible_and_fits(show: Open) -> None:
    page = show(*FLEET, color_scheme="dark")
    page.locator("#fleet").get_by_label("Filter").fill("#4")
    assert len(column(page, "fleet", 1)) == 1
    page.locator("#fleet").get_by_label("Filter").fill("")
    assert sort_by(page, "fleet", "Like its own") == "descending"
    assert column(page, "fleet", 8) == ["1", "0", "0", "0", "0"]
    open_all(page)
    assert_accessible(page, DESK)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": PHONE, "height": 900})
    assert_accessible(page, PHONE)
    assert texts_where(page, "#fleet td", CUT_OFF) == []
    assert page.evaluate("window.pwned") is None
