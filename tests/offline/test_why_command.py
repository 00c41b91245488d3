"""`simhash-gate why`: what became of a page, and two pages for a person to look at."""

import json
import re
from contextlib import closing
from pathlib import Path

import pytest
from lxml import html

from simhash_gate import hamming_distance, read_page
from simhash_gate.compare.apart import EXCUSES
from simhash_gate.journal.warc import warcinfo
from simhash_gate.offline.chosen import forget_all
from simhash_gate.stores import open_store
from simhash_gate.stores.base import KEPT_TEXT
from tests.crawls.harness import Site, corrected, crawl, json_lines, page
from tests.journal.pages import packed
from tests.offline.command import write_lines

PAGE = "<html><body><article><h1>Honey</h1><p>{}</p></article></body></html>"
TEXT = " ".join(f"word{n}" for n in range(200))


@pytest.fixture
def pair(tmp_path):
    a, b = TEXT, TEXT.replace("word50 ", "other ").replace("word150 ", "")
    (tmp_path / "a.html").write_text(PAGE.format(a))
    (tmp_path / "b.html").write_text(PAGE.format(b))
    return "a.html", "b.html"


def ways(run, *arguments: str) -> dict[str, str]:
    found = json.loads(run("why", *arguments, "--json").out)["settings"]
    return {way["setting"]: way["then"] for way in found}


def test_the_figures_are_those_of_the_pages_and_words_that_differ_stand_in_context(
    run, pair, tmp_path
) -> None:
    result = run("why", *pair, "--json", "--markdown")
    assert result.status == 0
    found = json.loads(result.out)
    pages = [read_page((tmp_path / name).read_bytes()) for name in pair]
    assert found["distance"] == hamming_distance(pages[0].fingerprint, pages[1].fingerprint)
    assert [found[x]["markdown"] for x in ("kept", "page")] == [page.markdown for page in pages]
    assert [found[x]["words"] for x in ("kept", "page")] == [page.words for page in pages]
    shown = run("why", *pair).out
    assert "word48 word49 [-word50-] {+other+} word51 word52" in shown
    assert "word149 [-word150-] word151" in shown
    assert "word100" not in shown


def test_the_verdict_follows_the_policy_and_the_settings_named_would_change_it(run, pair) -> None:
    by_distance = ["-s", "SIMHASH_GATE_VERIFY=0"]
    at = json.loads(run("why", *pair, "--json").out)["distance"]
    assert at > 0
    for bits, name in ((at, "duplicate"), (at - 1, "new")):
        given = ["-s", f"SIMHASH_GATE_THRESHOLD={bits}", "-s", f"SIMHASH_GATE_NEAR={bits}"]
        found = json.loads(run("why", *pair, "--json", *given, *by_distance).out)
        assert found["outcome"] == name
    domains = json.dumps({"b.org": {"threshold": at, "near": at}})
    given += ["-s", f"SIMHASH_GATE_DOMAINS={domains}"]
    found = json.loads(run("why", *pair, "--url", "http://b.org/", "--json", *given).out)
    assert found["outcome"] == "near"
    (looser,) = ways(run, *pair)
    named = [f"-s{part.replace(' = ', '=')}" for part in looser.split("; ")]
    assert json.loads(run("why", *pair, "--json", *named).out)["outcome"] == "duplicate"
    stricter, *_ = ways(run, *pair, *named)
    lower = [f"-s{part.replace(' = ', '=')}" for part in stricter.split("; ")]
    assert json.loads(run("why", *pair, "--json", *named, *lower).out)["outcome"] != "duplicate"


def test_a_copy_beyond_near_names_the_setting_that_would_look_at_it(run, tmp_path) -> None:
    product = "<title>Lamp</title><h1>Desk lamp</h1><p>SKU: AL-1240</p><p>Price: 19.90 €</p>"
    product += f"<p>{' '.join(TEXT.split()[:14])}</p>"
    parts = "".join(f"<p>part{n} of{n}</p>" for n in range(8))
    (tmp_path / "a.html").write_text(product + parts)
    (tmp_path / "print.html").write_text(product)
    assert json.loads(run("why", "a.html", "print.html", "--json").out)["outcome"] == "new"
    (way,) = ways(run, "a.html", "print.html")
    assert way.startswith("SIMHASH_GATE_NEAR = ")
    given = way.replace(" = ", "=")
    found = json.loads(run("why", "a.html", "print.html", "--json", "-s", given).out)
    assert found["outcome"] == "duplicate"
    assert not ways(run, "print.html", "a.html")  # what only the whole page says counts


def test_names_offers_and_fields_that_differ_are_shown(run, write_named) -> None:
    write_named("a.html", "Apple jam", price="9.00 €")
    write_named("b.html", "Plum jam", price="8.00 €")
    settings = ("-s", "SIMHASH_GATE_COMPARE=.price")
    found = json.loads(run("why", "a.html", "b.html", "--json", *settings).out)
    assert found["differs"] == "fields"
    assert found["mismatches"] == [
        {"kind": "names", "name": "", "a": "Apple jam", "b": None},
        {"kind": "names", "name": "", "a": None, "b": "Plum jam"},
        {"kind": "offered", "name": "shown price", "a": "9.00 EUR", "b": "8.00 EUR"},
        {"kind": "fields", "name": ".price", "a": "9.00 €", "b": "8.00 €"},
    ]
    shown = run("why", "a.html", "b.html", *settings).out
    assert "names differ\n   name         [-Apple jam-]\n   name         {+Plum jam+}\n" in shown
    assert "offers differ\n   shown price  [-9.00 EUR-] {+8.00 EUR+}\n" in shown
    assert "fields differ\n   .price       [-9.00 €-] {+8.00 €+}\n" in shown
    same = run("why", "a.html", "a.html").out
    assert "names agree\n   name         Apple jam\n" in same
    assert "\nno word of the text differs\n" in same


def test_a_page_that_is_empty_or_not_there_has_no_distance(run, pair, tmp_path) -> None:
    (tmp_path / "empty.html").write_bytes(b"")
    result = run("why", pair[0], "empty.html")
    assert result.status == 0
    assert "would pass (skipped); not judged\n   because      empty page\n" in result.out
    assert json.loads(run("why", pair[0], "empty.html", "--json").out)["distance"] is None
    result = run("why", pair[0], "nowhere.html")
    assert (result.status, result.out) == (1, "")
    assert "nowhere.html: No such file or directory" in result.err


@pytest.fixture
def log(run, pages) -> str:
    """The verdicts on a story, a copy of it, and another story, in a file."""
    lines = run("replay", pages.name).lines
    return write_lines(pages.parent / "verdicts.jsonl", [line | {"time": 9.0} for line in lines])


def test_any_address_of_a_page_leads_to_its_verdict_in_a_log(run, log) -> None:
    for url in ("https://example.com/copy", "http://www.example.com/copy/?utm_source=mail#top"):
        found = json.loads(run("why", url, "--in", log, "--json").out)
        assert (found["became"], found["kept"]["name"]) == ("dropped", "https://example.com/a")
        assert found["time"] == 9.0
    found = json.loads(run("why", "https://example.com/a", "--in", log, "--json").out)
    assert (found["became"], found["copies"]) == ("passed", ["https://example.com/copy"])
    shown = run("why", "https://example.com/a", "--in", log).out
    assert shown.startswith("https://example.com/a\npassed (new)\n")
    assert "\n1 copy of this page in the crawl\n   https://example.com/copy\n" in shown
    result = run("why", "https://example.com/other", "--in", log)
    assert (result.status, result.out) == (1, "")
    assert "https://example.com/other: no verdict on it" in result.err
    assert "(looked in verdicts.jsonl)" in result.err
    result = run("why", "https://example.com/other", *["--in", log] * 5)
    first, *_ = result.err.splitlines()
    assert first.startswith("https://example.com/other: no verdict on it, and no page of it.")
    assert first.endswith(f"(looked in {', '.join([log] * 3)} and 2 more)")


def test_what_became_of_a_page_counts_more_than_what_became_of_its_copies(run, tmp_path) -> None:
    one, page = "https://example.com/a?ref=mail", "https://example.com/a"
    for canonical, first in ((page, one), (page, page)):
        lines = [
            {"url": url, "canonical_url": canonical, "outcome": outcome, "matched_url": first}
            for url, outcome in ((first, "unchanged"), (first, "duplicate"), ("x:/b", "duplicate"))
        ]
        log = write_lines(tmp_path / "log.jsonl", lines)
        found = json.loads(run("why", page, "--in", log, "--json").out)
        assert (found["outcome"], found["page"]["name"]) == ("unchanged", first)


def test_the_words_that_differ_come_from_where_the_pages_are(run, log, pages) -> None:
    shown = run("why", "https://example.com/copy", "--in", log)
    assert "no text of the kept page or of this page is here.\nName where the pages" in shown.out
    shown = run("why", "https://example.com/copy", "--in", log, "--in", pages.name)
    assert shown.status == 0
    assert "names agree\n" in shown.out
    assert "words that differ, none that counts\n" in shown.out
    assert "(ignored: leads elsewhere)\n" in shown.out


def test_the_newest_log_of_the_project_is_read_with_the_settings_of_its_crawl(
    run, log, tmp_path
) -> None:
    first, *others = json_lines(tmp_path / log)
    settings = {"SIMHASH_GATE_ACTION": "tag", "SIMHASH_GATE_STORE": "sqlite:"}
    first["crawl"] = {"name": "news", "settings": settings, "domains": {}}
    (tmp_path / ".scrapy/simhash_gate").mkdir(parents=True)
    write_lines(tmp_path / ".scrapy/simhash_gate/news.jsonl", [first, *others])
    named = ways(run, "https://example.com/copy")
    assert not any("action" in way for way in named)  # it is "tag" already
    assert 'SIMHASH_GATE_DOMAINS = {"example.com": {"compare": ["h1"]}}' in named


def test_a_journal_and_a_store_know_what_became_of_a_page(run, tmp_path, pages, url) -> None:
    folder = tmp_path / "dropped"
    folder.mkdir()
    (folder / "dropped-20240601T120000000000Z-0badcafe.warc.gz").write_bytes(
        warcinfo() + packed(1, url="https://example.com/copy")
    )
    found = json.loads(run("why", "https://example.com/copy", "--in", "dropped", "--json").out)
    assert (found["became"], found["outcome"]) == ("dropped", "duplicate")
    run("replay", pages.name, "-s", f"SIMHASH_GATE_STORE={url}")
    found = json.loads(run("why", "https://example.com/b", "--in", url, "--json").out)
    assert (found["became"], found["page"]["title"]) == ("kept", "Story 2")


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (["sqlite:///pages.sqlite", "https://example.com/"], "for `why`, after --in"),
        (["kept.sqlite", "https://example.com/"], "Write sqlite:///kept.sqlite"),
        (["https://example.com/", "--in", "kept.sqlite"], "Write sqlite:///kept.sqlite"),
        (["log.jsonl", "https://example.com/"], "To look in it: --in log.jsonl"),
        (["https://example.com/", "--in", "-"], "stdin can't be read twice"),
        (["verdicts.jsonl"], "expected a URL, http://… or https://…; or two pages to compare"),
        (["https://example.com/"], "Name a SOURCE, or crawl with SIMHASH_GATE_VERDICTS"),
        (["https://example.com/", "--in", "nothing.jsonl"], "nothing.jsonl: No such file"),
    ],
)
def test_arguments_that_lead_nowhere_are_answered_with_the_remedy(
    run, tmp_path, arguments, remedy
) -> None:
    (tmp_path / "kept.sqlite").write_bytes(b"SQLite format 3\0")
    write_lines(tmp_path / "log.jsonl", [{"url": "https://example.com/", "outcome": "new"}])
    result = run("why", *arguments)
    assert result.status in (1, 2)
    assert remedy in result.err
    assert "Traceback" not in result.err


def test_a_log_that_says_anything_is_complained_of_and_moves_no_terminal(run, tmp_path) -> None:
    url = "https://example.com/"
    wrong = {"url": url, "outcome": "duplicate", "distance": "far"}
    right = {"url": url, "outcome": "new", "title": "a\x1b[31mb", "reason": "\x1b[2J"}
    log = write_lines(tmp_path / "log.jsonl", [wrong, right])
    result = run("why", "https://user:secret@example.com/", "--in", log)
    assert "log.jsonl:1: 'distance' is 'far'" in result.err
    assert result.out.startswith(f"{url}\nwould pass (new)\n")
    assert "\x1b" not in result.out
    assert "secret" not in result.out + result.err


def test_each_place_that_makes_no_other_page_says_why(run, tmp_path) -> None:
    story = (
        "<title>Bees</title><h1>Bees</h1><p>Updated 12:0{0}</p><p>A worker bee lives six weeks in"
        " summer, most of them inside, before she ever sees a flower.</p><p><a href=/{0}>News {0}"
        " of the hive</a></p><fieldset>Size {0}</fieldset><p>She brings a spoon of {0} honeys.</p>"
        "<footer><p>Beside {0} all of it.</p></footer>"
    )
    for name, number in (("a.html", 3), ("b.html", 5)):
        (tmp_path / name).write_text(story.format(number), encoding="utf-8")
    found = json.loads(run("why", "a.html", "b.html", "--json").out)
    assert "new: 'she brings a spoon of 5 honeys'" in found["reason"]
    assert [(change["added"], change["ignored"]) for change in found["changes"]] == [
        ("05", EXCUSES["page"]),
        ("5", EXCUSES["elsewhere"]),
        ("5", EXCUSES["elsewhere"]),
        ("5", ""),
        ("5", EXCUSES["elsewhere"]),
    ]


def test_an_updated_page_stands_beside_what_it_said_before(run, tmp_path) -> None:
    routes = {"/a": page(1), "/b": page(2)}
    settings = {
        "SIMHASH_GATE_STORE": "sqlite:",
        "SIMHASH_GATE_VERDICTS": ".scrapy/simhash_gate/%(name)s-%(time)s.jsonl",
        "SIMHASH_GATE_KEEP_MARKDOWN": 1 << 20,
        "HTTPCACHE_ENABLED": True,
    }
    with Site(routes).running() as site:
        crawl(tmp_path, site, settings=settings)
        url, was = f"{site.url}/a", json.loads(run("why", f"{site.url}/a", "--json").out)
        routes["/a"] = corrected(page(1))
        second = crawl(tmp_path, site, settings={**settings, "HTTPCACHE_ENABLED": False})
        crawl(tmp_path, site, "/b", settings=settings)  # a small one, whose log does not know it
    assert f"] INFO: Updated {url}: " in second.log
    found = json.loads(run("why", url, "--json").out)
    assert (found["became"], found["outcome"]) == ("passed", "updated")
    assert found["kept"]["fingerprint"] == was["page"]["fingerprint"]
    assert found["page"]["words"] == found["kept"]["words"] + 1
    shown = run("why", url)
    words = was["page"]["words"]
    assert (
        f"\nearlier version  {url}\n   title        Story 1\n   words        {words}\n" in shown.out
    )
    assert "{+Corrected.+}" in shown.out
    assert "KEEP_MARKDOWN" not in shown.out
    assert "sqlite:///.scrapy/simhash_gate/test.sqlite" in shown.err
    store = "sqlite:///.scrapy/simhash_gate/test.sqlite"
    with closing(open_store(store)) as kept:
        forget_all(kept, kept.blobs(KEPT_TEXT))
    assert "{+Corrected.+}" in run("why", url).out  # the verdict log has it, too
    _, log, _ = sorted(map(str, Path(".scrapy/simhash_gate").glob("*.jsonl")))
    run("report", log, "-o", "report.html")
    root = html.fromstring(Path("report.html").read_text("utf-8"))
    assert root.xpath("//a[@href='#changed'][.='Updated']")
    (row,) = root.xpath("//section[@id='changed']//tbody/tr")
    assert (row.xpath("string(.//a)"), row.xpath("string(.//ins)")) == (url, "Corrected.")
    (changed,) = run("history", "list", store, "--changed").out.splitlines()
    assert json.loads(changed)["url"] == url


def test_a_page_counts_only_as_it_was_judged(run, tmp_path) -> None:
    """A cache of yesterday, where the copy said something else: as after the trial of Start."""
    routes = {"/a": page(1), "/copy": corrected(page(1))}
    settings = {
        "SIMHASH_GATE_STORE": "sqlite:",
        "SIMHASH_GATE_VERDICTS": ".scrapy/simhash_gate/%(name)s-%(time)s.jsonl",
        "SIMHASH_GATE_KEEP_MARKDOWN": 1 << 20,
        "CONCURRENT_REQUESTS": 1,
    }
    trial = {"HTTPCACHE_ENABLED": True, "SIMHASH_GATE_STORE": "memory:"}
    with Site(routes).running() as site:
        crawl(tmp_path, site, settings=settings | trial)
        routes["/copy"] = page(1)
        crawl(tmp_path, site, settings=settings)
    url, cache = f"{site.url}/copy", ".scrapy/httpcache/test"
    shown = run("why", url)
    assert shown.out.startswith(f"{url}\ndropped (duplicate)\n")
    assert "Corrected" not in shown.out
    assert re.search(rf"not the page that was judged: {cache}/\S+, fetched at 20\S+Z", shown.err)
    assert "no text of this page is here." in shown.out
    assert "KEEP_MARKDOWN" not in shown.out  # it was set
    assert 'SIMHASH_GATE_JOURNAL = "dropped"' in shown.out
    judged = json.loads(run("why", url, "--json").out)["page"]["fingerprint"]
    days = [page(1), corrected(page(1))]
    lines = [{"url": url, "html": day.body.decode()} for day in days]
    write_lines(tmp_path / "days.jsonl", lines)
    found = json.loads(run("why", url, "--in", "days.jsonl", "--json").out)
    assert found["page"]["fingerprint"] == judged
    assert "Corrected" not in run("why", url, "--in", "days.jsonl", "--markdown").out
    shown = run("why", f"{site.url}/a", url, "--in", cache)
    assert re.search(rf"{url} is that of {cache}/\S+, fetched at 20", shown.err)


def test_what_the_project_has_is_looked_in_also_from_a_folder_of_it(run, tmp_path, start) -> None:
    settings = {"SIMHASH_GATE_STORE": "sqlite:", "HTTPCACHE_ENABLED": True}
    kept = {"SIMHASH_GATE_VERDICTS": ".scrapy/simhash_gate/%(name)s.jsonl"}
    routes = {"/a": page(1), "/copy": corrected(page(1))}
    with Site(routes).running() as site:
        crawl(tmp_path, site, settings=settings | {"CONCURRENT_REQUESTS": 1})
        url = f"{site.url}/copy"
        # Without a verdict log, the store and the cache are all that is left.
        assert json.loads(run("why", url, "--json").out)["became"] == "kept"
        (tmp_path / ".scrapy/simhash_gate/test.sqlite").unlink()
        missing = run("why", url)
        assert missing.status == 1
        assert f"{url}: its page is there, and no verdict on it" in missing.err
        assert "(looked in .scrapy/httpcache/test)" in missing.err
        crawl(tmp_path, site, settings=settings | kept | {"CONCURRENT_REQUESTS": 1})
    for arguments in ((), ("--in", ".scrapy/httpcache/test")):
        shown = run("why", url, *arguments)
        assert shown.out.startswith(f"{url}\npassed (near)\n")
        assert "{+corrected+}" in shown.out
    (tmp_path / "spiders").mkdir()
    with start("why", url, cwd=tmp_path / "spiders") as process:
        shown, _ = process.communicate()
    assert b"{+corrected+}" in shown
