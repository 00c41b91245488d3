"""`simhash-gate compare`: two pages for a person to look at."""

from __future__ import annotations

import json

import pytest

from simhash_gate import hamming_distance, read_page

PAGE = "<html><body><article><h1>Honey</h1><p>{}</p></article></body></html>"
TEXT = " ".join(f"word{n}" for n in range(200))


@pytest.fixture
def pair(tmp_path):
    a, b = TEXT, TEXT.replace("word50 ", "other ").replace("word150 ", "")
    (tmp_path / "a.html").write_text(PAGE.format(a))
    (tmp_path / "b.html").write_text(PAGE.format(b))
    return "a.html", "b.html"


def test_the_figures_are_those_of_the_pages_and_words_that_differ_stand_in_context(
    run, pair, tmp_path
) -> None:
    result = run("compare", *pair, "--json", "--markdown")
    assert result.status == 0
    found = json.loads(result.out)
    pages = [read_page((tmp_path / name).read_bytes()) for name in pair]
    assert found["distance"] == hamming_distance(pages[0].fingerprint, pages[1].fingerprint)
    assert [found[x]["markdown"] for x in "ab"] == [page.markdown for page in pages]
    assert [found[x]["words"] for x in "ab"] == [page.words for page in pages]
    # 201 words make 199 shingles; one changed word costs 3 on each side, one removed 3 and adds 2.
    assert found["jaccard"] == pytest.approx(193 / (199 + 198 - 193), abs=0.02)
    assert found["cosine"] > found["jaccard"]
    shown = run("compare", *pair).out
    assert "word48 word49 [-word50-] {+other+} word51 word52" in shown
    assert "word149 [-word150-] word151" in shown
    assert "word100" not in shown


def test_bands_and_verdict_follow_the_policy(run, pair) -> None:
    by_distance = ["-s", "SIMHASH_GATE_VERIFY=0"]
    at = json.loads(run("compare", *pair, "--json").out)["distance"]
    assert at > 0
    for bits, name in ((at, "duplicate"), (at - 1, "new")):
        given = ["-s", f"SIMHASH_GATE_THRESHOLD={bits}", "-s", f"SIMHASH_GATE_NEAR={bits}"]
        found = json.loads(run("compare", *pair, "--json", *given, *by_distance).out)
        assert (found["band"], found["outcome"]) == (name, name)
    domains = json.dumps({"b.org": {"threshold": at, "near": at}})
    given += ["-s", f"SIMHASH_GATE_DOMAINS={domains}"]
    found = json.loads(run("compare", *pair, "--url-b", "http://b.org/", "--json", *given).out)
    assert found["band"] == "duplicate"


def test_names_offers_and_fields_that_differ_are_shown(run, write_named) -> None:
    write_named("a.html", "Apple jam", price="9.00 €")
    write_named("b.html", "Plum jam", price="8.00 €")
    settings = ("-s", "SIMHASH_GATE_COMPARE=.price")
    found = json.loads(run("compare", "a.html", "b.html", "--json", *settings).out)
    assert found["differs"] == "fields"
    assert found["claims"] == [
        {"kind": "names", "name": "", "a": "Apple jam", "b": None},
        {"kind": "names", "name": "", "a": None, "b": "Plum jam"},
        {"kind": "offered", "name": "shown price", "a": "9.00 EUR", "b": "8.00 EUR"},
        {"kind": "fields", "name": ".price", "a": "9.00 €", "b": "8.00 €"},
    ]
    shown = run("compare", "a.html", "b.html", *settings).out
    assert "names differ\n   name         [-Apple jam-]\n   name         {+Plum jam+}\n" in shown
    assert "offers differ\n   shown price  [-9.00 EUR-] {+8.00 EUR+}\n" in shown
    assert "fields differ\n   .price       [-9.00 €-] {+8.00 €+}\n" in shown
    same = run("compare", "a.html", "a.html").out
    assert "names agree\n   name         Apple jam\n" in same
    assert same.endswith("\nno word of the text differs\n")


def test_a_page_that_is_empty_or_not_there_has_no_distance(run, pair, tmp_path) -> None:
    (tmp_path / "empty.html").write_bytes(b"")
    result = run("compare", pair[0], "empty.html")
    assert result.status == 0
    assert "distance  none" in result.out
    assert "fingerprint  none: empty page" in result.out
    assert json.loads(run("compare", pair[0], "empty.html", "--json").out)["distance"] is None
    result = run("compare", pair[0], "nowhere.html")
    assert (result.status, result.out) == (1, "")
    assert "nowhere.html: No such file or directory" in result.err
