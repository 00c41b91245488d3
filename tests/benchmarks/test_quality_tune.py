"""The thresholds that are suggested for labelled sites, and whether an IDF table helps."""

from __future__ import annotations

from pathlib import Path

from benchmarks.quality.corpus import Corpus, Page, Pair
from benchmarks.quality.idf import Said, of_each_site, of_other_sites
from benchmarks.quality.idf import row as idf_row
from benchmarks.quality.methods.base import Reading
from benchmarks.quality.tune import row, sites


def corpus(*sites_: str) -> Corpus:
    """Pages 0 to 59 of each site, of which 0 is paired with all others: the first 30 are copies."""
    pages = [Page(f"{site}-{n}", Path(), "", 50, site) for site in sites_ for n in range(60)]
    pairs = [
        Pair(f"{site}-0", f"{site}-{n}", "dup" if n < 30 else "diff", "", "", 0, "en", "high")
        for site in sites_
        for n in range(1, 60)
    ]
    return Corpus({page.id: page for page in pages}, pairs)


def test_each_site_has_a_row_with_what_labels_suggest() -> None:
    labelled = corpus("near", "far")
    readings = {
        page.id: Reading((1 << bits(page.site, int(page.id.split("-")[1]))) - 1, 0.0, None)
        for page in labelled.pages.values()
    }
    near, far = (row(site) for site in sites(labelled, readings))
    assert near[:5] == ("near", "59", "1: 1.000", "1: 1.000", "3: 0.659")
    assert far[:5] == ("far", "59", "6: 1.000", "6: 1.000", "3: 0.000")
    assert (near[6], near[8]) == ("1.000", "1.000")


def bits(site: str, number: int) -> int:
    """Copies at 1 and others at 2; or copies at 6 and others at 7."""
    copy, other = (1, 2) if site == "near" else (6, 7)
    return 0 if number == 0 else copy if number < 30 else other


def test_tables_are_of_own_pages_or_of_the_other_half_of_the_sites() -> None:
    pages = corpus("a", "b")
    said = {
        page.id: Said([f"all of {page.site}", f"one is {page.id}"], hash(page.id))
        for page in pages.pages.values()
    }
    own = of_each_site(pages, said, shingles=False)
    other = of_other_sites(pages, said, shingles=False)
    assert {site: {"a", "b"} & table.keys() for site, table in own.items()} == {
        "a": {"a"},
        "b": {"b"},
    }
    assert {site: {"a", "b"} & table.keys() for site, table in other.items()} == {
        "a": {"b"},
        "b": {"a"},
    }
    assert idf_row("own", pages, said, own)[0] == "own"
