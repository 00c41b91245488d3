"""`dedupe`: the kept set of the commands, page by page and by fingerprints alone."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from crawler.site.site import Site
from simhash_gate.collection.listing import find_copies
from simhash_gate.spark import clustering, dedupe, pairs, read_pages
from simhash_gate.values import SettingsError
from tests.crawls.harness import page
from tests.spark.test_pairs import ROWS, planted, rows_of

WHOLE = ["id", "scope", "kept", "original", "distance", "reason"]
INLINE = {"SIMHASH_GATE_WORKERS": 0}


def copies_of(fingerprints: list[int], distance: int, groups=None) -> dict[int, tuple[int, int]]:
    found = find_copies(np.array(fingerprints, np.uint64), groups, distance)
    return {copy.row: (copy.kept, copy.distance) for group in found for copy in group}


def copies_in(df) -> dict[int, tuple[int, int]]:
    rows = df.collect()
    assert all((row.original is None) == row.kept == (row.distance is None) for row in rows)
    return {row.id: (row.original, row.distance) for row in rows if not row.kept}


@pytest.mark.parametrize(("distance", "few"), [(3, clustering.FEW), (8, 0)])
def test_fingerprints_alone_make_the_copies_of_the_command(
    spark, monkeypatch, distance: int, few: int
) -> None:
    monkeypatch.setattr(clustering, "FEW", few)
    monkeypatch.setattr(pairs, "MOST_TOGETHER", 20)
    chance = random.Random(distance)
    fingerprints = planted(distance, 60)
    bits = 0
    for bit in chance.sample(range(64), 30):  # a chain: each is near the next ones
        bits ^= 1 << bit
        fingerprints.append(bits)
    fingerprints += chance.choices(fingerprints, k=80)
    chance.shuffle(fingerprints)
    expected = copies_of(fingerprints, distance)
    assert len(expected) > 100
    df = spark.createDataFrame(rows_of(fingerprints), ROWS).repartition(3)
    found = dedupe(df, distance)
    assert found.columns == ["id", "kept", "original", "distance", "reason"]
    assert found.count() == len(fingerprints)
    assert copies_in(found) == expected


def test_scopes_are_judged_by_themselves(spark) -> None:
    fingerprints = planted(2, 50)
    scopes = [number % 3 for number in range(len(fingerprints))]
    rows = [(*row, str(scope)) for row, scope in zip(rows_of(fingerprints), scopes, strict=True)]
    df = spark.createDataFrame(rows, f"{ROWS}, scope string")
    expected = copies_of(fingerprints, 6, np.array(scopes, np.uint32))
    found = dedupe(df, 6)
    assert copies_in(found) == expected != {}
    assert {(row.id, row.scope) for row in found.collect()} == {(n, s) for n, _, s in rows}


def test_of_many_alike_one_is_kept_and_each_other_is_named(spark) -> None:
    rows = [*rows_of([7] * 3000), (3000, 6), (3001, None), (3001, None), (None, 7), (2999, 7)]
    found = dedupe(spark.createDataFrame(rows, ROWS)).collect()
    assert [row.id for row in found if row.kept] == [0]
    assert len(found) == 3003
    others = {row.id: row for row in found if not row.kept}
    assert (others[3000].original, others[3000].distance) == (0, 1)
    assert others[3000].reason == "distance 1, threshold 3"
    assert (others[2999].original, others[2999].distance) == (0, 0)
    assert (others[3001].original, others[3001].reason) == (None, "no fingerprint")
    assert (others[None].original, others[None].reason) == (None, "no id")


def test_no_rows_are_no_rows(spark) -> None:
    assert dedupe(spark.createDataFrame([], ROWS)).collect() == []
    pages = spark.createDataFrame([], "id string, url string, body binary")
    assert dedupe(read_pages(pages)).collect() == []


def test_what_is_not_allowed_is_said(spark) -> None:
    df = spark.createDataFrame([(1, 2)], ROWS)
    with pytest.raises(ValueError, match="settings need pages as read_pages returns them"):
        dedupe(df, settings={"SIMHASH_GATE_VERIFY": "text"})
    with pytest.raises(ValueError, match="not a distance from 0 to 8: 9"):
        dedupe(df, 9)
    pages = read_pages(spark.createDataFrame([(b"", "u")], "body binary, url string"))
    with pytest.raises(ValueError, match="no column 'id'"):
        dedupe(pages)
    with pytest.raises(SettingsError, match="SIMHASH_GATE_THRESHOLD = 65"):
        dedupe(pages, settings={"SIMHASH_GATE_THRESHOLD": 65})


@pytest.fixture(scope="session")
def site_pages() -> list[dict]:
    """Pages of two hosts of the demonstration site, and some that can't be compared."""
    site = Site(articles=7, seed=3)
    hosts = ("www.example.com", "shop.example.org")
    rows = []
    for number, href in enumerate(sorted(site.pages.views)):
        html = site.reply(href).body.decode("utf-8", "replace")
        rows.append({"url": f"https://{hosts[number % 2]}{href}", "html": html})
    rows += [{"url": f"https://example.com/{n}", "html": h} for n, h in enumerate(("", "<p>x"))]
    rows += [
        {"url": f"https://example.com/{n}", "html": page(n % 4, noise=n).body.decode()}
        for n in range(20, 32)
    ]
    random.Random(1).shuffle(rows)
    return [{"id": number, **row} for number, row in enumerate(rows)]


@pytest.mark.parametrize(
    ("options", "settings", "distance"),
    [
        ([], {}, None),
        (["--verify", "-k", "6"], {"SIMHASH_GATE_VERIFY": "text"}, 6),
        (
            ["--scope", "crawl", "-s", "SIMHASH_GATE_VERIFY=distance"],
            {"SIMHASH_GATE_SCOPE": "crawl", "SIMHASH_GATE_VERIFY": "distance"},
            None,
        ),
    ],
)
def test_pages_are_kept_as_the_command_keeps_them(
    spark, run, tmp_path, site_pages, options, settings, distance
) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in site_pages)
    (tmp_path / "pages.jsonl").write_text(lines)
    told = run(
        "dedupe", "pages.jsonl", "-o", "kept.jsonl", "--duplicates", "others.jsonl", *options
    )
    assert told.status == 0, told.err
    kept, others = (
        [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
        for name in ("kept.jsonl", "others.jsonl")
    )
    assert len(kept) > 10
    assert len(others) > 20

    df = spark.createDataFrame(
        [(row["id"], row["url"], row["html"]) for row in site_pages],
        "id int, url string, body string",
    )
    pages = read_pages(df, {**settings, **INLINE}).cache()
    found = dedupe(pages, distance, settings)
    assert found.columns == WHOLE
    rows = sorted(found.collect())
    assert [row.id for row in rows if row.kept] == [line["id"] for line in kept]
    assert [(r.id, r.original, r.distance, r.reason) for r in rows if not r.kept] == [
        (line["id"], line["kept"], line["distance"], line["reason"]) for line in others
    ]
    markdown = {row.id: row.markdown for row in pages.collect()}
    assert [markdown[line["id"]] for line in kept] == [line["markdown"] for line in kept]
    pages.unpersist()


def test_a_page_that_was_not_read_is_not_kept_and_says_why(spark) -> None:
    rows = [
        (1, "https://a.example/1", page(1).body, None),
        (2, "https://a.example/2", b"", "not html"),
        (3, "https://a.example/3", page(1).body, None),
    ]
    df = spark.createDataFrame(rows, "id int, url string, body binary, skipped string")
    found = {row.id: row for row in dedupe(read_pages(df, INLINE)).collect()}
    assert {number: row.kept for number, row in found.items()} == {1: True, 2: False, 3: False}
    assert (found[2].reason, found[3].original) == ("not html", 1)


def test_pages_of_another_pipeline_version_are_not_compared(spark) -> None:
    df = spark.createDataFrame(
        [(n, "https://a.example/", page(1).body) for n in (1, 2)], "id int, url string, body binary"
    )
    other = {**INLINE, "SIMHASH_GATE_SHINGLE_SIZE": 4}
    pages = read_pages(df.where("id = 1"), INLINE).union(read_pages(df.where("id = 2"), other))
    assert [row.kept for row in dedupe(pages).collect()] == [True, True]
