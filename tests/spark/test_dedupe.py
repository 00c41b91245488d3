"""`dedupe`: the kept set of the commands, page by page and by fingerprints alone."""

import json
import random

import numpy as np
import pytest

from crawler.site.news import Site
from simhash_gate.collection.listing import find_copies
from simhash_gate.common.encoded import signed
from simhash_gate.options import READABILITY
from simhash_gate.spark import clustering, clusters, dedupe, near_duplicates, pairs, read_pages
from simhash_gate.values import SettingsError
from tests.crawls.harness import page
from tests.spark.test_pairs import ROWS, planted

WHOLE = ["id", "scope", "kept", "original", "distance", "reason"]
INLINE = {"SIMHASH_GATE_WORKERS": 0}
BODIES = "id int, url string, body binary, skipped string"


@pytest.mark.parametrize(("distance", "few", "scopes"), [(3, clustering.FEW, 1), (8, 0, 3)])
def test_fingerprints_alone_make_the_copies_of_the_command_in_each_scope(
    spark, monkeypatch, distance: int, few: int, scopes: int
) -> None:
    monkeypatch.setattr(clustering, "FEW", few)
    monkeypatch.setattr(pairs, "MOST_TOGETHER", 20)
    chance = random.Random(distance)
    fingerprints = planted(distance, 40)
    bits = 0
    for bit in chance.sample(range(64), 30):  # a chain: each is near the next ones
        bits ^= 1 << bit
        fingerprints.append(bits)
    fingerprints += chance.choices(fingerprints, k=60)
    chance.shuffle(fingerprints)
    groups = np.array([number % scopes for number in range(len(fingerprints))], np.uint32)
    listed = find_copies(np.array(fingerprints, np.uint64), groups, distance)
    expected = {row: (kept, off) for group in listed for kept, row, off in group}
    assert len(expected) > 60

    rows = [(n, signed(bits), str(n % scopes)) for n, bits in enumerate(fingerprints)]
    again, number = rows[5], len(rows)
    lacking = [(number, None, "0"), (number, None, "0"), (None, 7, "0")]
    df = spark.createDataFrame([*rows, again, *lacking], f"{ROWS}, scope string").repartition(3)
    found = dedupe(df if scopes > 1 else df.drop("scope"), distance)
    assert [name for name in WHOLE if name in found.columns] == found.columns
    assert len(found.columns) == (6 if scopes > 1 else 5)
    judged = {row.id: row for row in found.collect()}
    assert judged.keys() == {*range(number), number, None}
    for wrong, reason in ((number, "no fingerprint"), (None, "no id")):
        row = judged.pop(wrong)
        assert (row.kept, row.original, row.reason) == (False, None, reason)
    assert {n: (r.original, r.distance) for n, r in judged.items() if not r.kept} == expected
    for row in judged.values():
        assert row.kept == (row.original is None) == (row.distance is None) == (row.reason is None)
        assert row.kept or row.reason == f"distance {row.distance}, threshold {distance}"
        assert scopes == 1 or row.scope == str(row.id % scopes)


def test_no_rows_are_no_rows(spark) -> None:
    df = spark.createDataFrame([], ROWS)
    none = near_duplicates(df)
    assert none.dtypes == [("a", "bigint"), ("b", "bigint"), ("distance", "int")]
    assert clusters(none).collect() == []
    assert dedupe(df).collect() == []
    assert dedupe(read_pages(spark.createDataFrame([], BODIES))).collect() == []


def test_what_is_not_allowed_is_said(spark) -> None:
    df = spark.createDataFrame([(1, 2)], ROWS)
    with pytest.raises(ValueError, match="settings need pages as read_pages returns them"):
        dedupe(df, settings={"SIMHASH_GATE_VERIFY": False})
    with pytest.raises(ValueError, match="not a distance from 0 to 8: 9"):
        dedupe(df, 9)
    pages = read_pages(spark.createDataFrame([(b"", "u")], "body binary, url string"))
    with pytest.raises(ValueError, match="no column 'id'"):
        dedupe(pages)
    with pytest.raises(SettingsError, match="SIMHASH_GATE_THRESHOLD = 65"):
        dedupe(pages, settings={"SIMHASH_GATE_THRESHOLD": 65})


def site_pages() -> list[dict]:
    """Pages of two hosts of the demonstration site, and some that can't be compared."""
    site = Site(articles=4, seed=3)
    hosts = ("www.example.com", "shop.example.org")
    rows = []
    for number, href in enumerate(sorted(site.views)):
        html = site.reply(href).body.decode("utf-8", "replace")
        rows.append({"url": f"https://{hosts[number % 2]}{href}", "html": html})
    some = ["", "<p>x", *(page(n % 4, noise=n).body.decode() for n in range(10))]
    rows += [{"url": f"https://example.com/{n}", "html": html} for n, html in enumerate(some)]
    random.Random(1).shuffle(rows)
    return [{"id": number, **row} for number, row in enumerate(rows)]


def test_pages_are_kept_as_the_command_keeps_them_by_its_settings(spark, run, tmp_path) -> None:
    """By the defaults: tests/spark/test_example.py."""
    rows = site_pages()
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    outputs = ("-o", "kept.jsonl", "--duplicates", "others.jsonl")
    options = [f"SIMHASH_GATE_{it}" for it in ("VERIFY=0", "THRESHOLD=6", "SCOPE=crawl")]
    told = run("dedupe", "pages.jsonl", *outputs, *(p for it in options for p in ("-s", it)))
    assert told.status == 0, told.err
    kept, others = (
        [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
        for name in ("kept.jsonl", "others.jsonl")
    )
    assert len(kept) > 8
    assert len(others) > 10

    settings = {"SIMHASH_GATE_VERIFY": False, "SIMHASH_GATE_SCOPE": "crawl"}
    columns = "id int, url string, body string"
    df = spark.createDataFrame([(row["id"], row["url"], row["html"]) for row in rows], columns)
    pages = read_pages(df, settings | INLINE).cache()
    found = dedupe(pages, 6, settings)
    assert found.columns == WHOLE
    judged = sorted(found.collect())
    assert [row.id for row in judged if row.kept] == [line["id"] for line in kept]
    assert [(r.id, r.original, r.distance, r.reason) for r in judged if not r.kept] == [
        (line["id"], line["kept"], line["distance"], line["reason"]) for line in others
    ]
    markdown = {row.id: row.markdown for row in pages.collect()}
    assert [markdown[line["id"]] for line in kept] == [line["markdown"] for line in kept]
    pages.unpersist()


def test_a_page_that_is_not_read_says_why_and_one_of_another_version_is_not_compared(spark) -> None:
    url, body = "https://a.example/", page(1).body
    rows = [(1, url, body, None), (2, url, b"", "not html"), (3, url, body, None)]
    pages = read_pages(spark.createDataFrame(rows, BODIES), INLINE)
    later = spark.createDataFrame([(4, url, body, None)], BODIES)
    pages = pages.union(read_pages(later, {**INLINE, "SIMHASH_GATE_EXTRACTOR": READABILITY}))
    found = {row.id: (row.kept, row.original, row.reason) for row in dedupe(pages).collect()}
    assert found.pop(2) == (False, None, "not html")
    assert {number: row[:2] for number, row in found.items()} == {
        **{1: (True, None), 3: (False, 1), 4: (True, None)},
    }
