"""`simhash-gate replay` over a manifest: the gate of a crawl, one line for each page."""

from scrapy import Request
from scrapy.utils.request import fingerprint

from simhash_gate.sources import request_fingerprint

SITE = "https://example.com/"


def test_a_copy_is_a_duplicate_of_the_page_before_it(run, pages) -> None:
    result = run("replay", pages)
    assert result.status == 0
    assert result.column("id") == ["a", "copy", "b"]
    assert result.column("outcome") == ["new", "duplicate", "new"]
    duplicate = result.lines[1]
    assert duplicate["matched_url"] == SITE + "a"
    assert duplicate["distance"] <= 3
    assert duplicate["title"] == duplicate["matched_title"] == "Story 1"
    assert duplicate["words"] == duplicate["matched_words"] > 100
    assert (duplicate["threshold"], duplicate["near"]) == (3, 8)
    assert result.column("dropped") == [False, True, False]
    assert all(size > 1_000 for size in result.column("bytes"))
    assert result.column("time") == [None] * 3
    assert result.err == "pages: 3 (2 new, 1 duplicate)\n"


def test_pages_of_other_names_are_told(run, write_named, manifest) -> None:
    names = ["Apple", "Pear", "Plum", "Fig", "Lemon", "Melon"]
    for name in names:
        write_named(f"{name}.html", f"{name} jam", seed=2)
    write_named("Apple.html", "Apple jam", price="9.00 €", seed=2)
    write_named("cheap.html", "Apple jam", price="8.00 €", seed=2)
    path = manifest(*({"path": f"{n}.html", "url": SITE + n} for n in [*names, "cheap"]))
    result = run("replay", path)
    assert result.column("differs") == [None, *["names"] * 5, "offers"]
    blind = run("replay", path, "-s", "SIMHASH_GATE_VERIFY=0")
    for found in (result.err, blind.err):
        assert "example.com: 5 of 6 pages within the threshold have another name." in found
        assert "SIMHASH_GATE_COMPARE" in found
    assert "pages: 7 (6 near, 1 new)" in result.err
    assert "not dropped: 5 other names, 1 other offers." in result.err
    assert "pages: 7 (6 duplicate, 1 new)" in blind.err
    assert "Dropped, although the title contradicts that of the kept page: 5 pages." in blind.err


def test_policies_are_settings_of_the_crawl_and_of_domains(run, write, manifest) -> None:
    for name, seed in (("a", 1), ("b", 2)):
        write(f"{name}.html", seed)
    path = manifest(
        *(
            {"path": f"{n}.html", "url": f"https://{host}/"}
            for host in ("x.com", "y.com")
            for n in "aba"
        )
    )
    assert run("replay", path).column("outcome") == ["new", "new", "duplicate"] * 2
    forgetful = run("replay", path, "-s", 'SIMHASH_GATE_DOMAINS={"x.com": {"window": 1}}')
    assert forgetful.column("outcome") == ["new", "new", "new", "new", "new", "duplicate"]
    whole = run("replay", path, "-s", "SIMHASH_GATE_SCOPE=crawl")
    assert whole.column("outcome") == ["new", "new", *["duplicate"] * 4]


def test_a_scope_replaces_that_of_the_url_and_a_path_the_url(run, write, manifest) -> None:
    write("a.html", 1)
    path = manifest(
        {"path": "a.html", "url": SITE, "scope": "one"},
        {"path": "a.html", "url": SITE, "scope": "two"},
        {"path": "a.html", "url": "https://elsewhere.org/", "scope": "one"},
        {"path": "a.html"},
        {"path": "./a.html"},
    )
    result = run("replay", path)
    assert result.column("outcome") == ["new", "new", "duplicate", "new", "duplicate"]
    assert result.column("matched_url") == [None, None, SITE, None, "a.html"]


def test_captures_of_any_time_are_judged_and_counted(run, write, manifest, tmp_path) -> None:
    """Archives date pages before 1970, and a damaged time can be any number."""
    write("a.html", 1)
    page = {"path": "a.html", "url": "http://a.com/"}
    old, later, wrong = ({**page, "time": time} for time in ("1965-03-01", -1.0, 1e308))
    result = run("replay", manifest(old, later, wrong))
    assert result.status == 0
    assert -152_668_800 in [line.get("previous_time") for line in result.lines]
    told = tmp_path / "verdicts.jsonl"
    told.write_text(result.out)
    assert "verdicts in the report: 3" in run("report", told, "-o", tmp_path / "report.html").err


def test_a_page_that_could_not_be_read_is_an_error_and_remembered_nowhere(
    run, write_named, manifest
) -> None:
    write_named("a.html", "broken")
    path = manifest(*[{"path": "a.html", "url": SITE}] * 2)
    result = run("replay", path, "-s", "SIMHASH_GATE_EXTRACTOR=tests.offline.extractors.Broken")
    assert result.status == 1
    assert result.column("outcome") == ["error", "error"]
    assert f"{path}:2: unreadable: RuntimeError: no" in result.err


def test_stores_that_can_not_be_opened_are_named(run, pages, tmp_path) -> None:
    (tmp_path / "foreign.sqlite").write_bytes(b"not a database" * 100)
    foreign = run("replay", pages, "-s", "SIMHASH_GATE_STORE=sqlite:///foreign.sqlite")
    assert (foreign.status, foreign.out) == (1, "")
    assert "foreign.sqlite" in foreign.err
    nameless = run("replay", pages, "-s", "SIMHASH_GATE_STORE=sqlite:")
    assert (nameless.status, nameless.out) == (2, "")
    assert "sqlite:///path" in nameless.err


def test_a_page_has_the_request_fingerprint_that_scrapy_gives_its_url() -> None:
    for url in (SITE, "http://a.com/?b=2&a=1#part", "http://a.com", "https://ä.de/ö?ü"):
        assert request_fingerprint(url) == fingerprint(Request(url)).hex()
    for url in ("http://[", ""):
        assert request_fingerprint(url)
