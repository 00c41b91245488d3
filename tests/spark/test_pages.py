"""`read_pages`: what is read is what `read_page` reads, and no page is lost."""

import logging
import time

import pytest

from simhash_gate import read_page
from simhash_gate.common.encoded import signed
from simhash_gate.page.extract import SteadyExtractor
from simhash_gate.spark import read_pages
from simhash_gate.values import SettingsError
from tests.crawls.harness import page

READ = ["title", "markdown", "words", "fingerprint", "reason", "look", "scope"]
INLINE = {"SIMHASH_GATE_WORKERS": 0}


class FailsOnSome(SteadyExtractor):
    """Fails, or never ends, as the page says."""

    def __call__(self, page):
        text = page.root.text_content()
        if "please fail" in text:
            raise RuntimeError("this one fails")
        if "never end" in text:
            time.sleep(600)
        return super().__call__(page)


def test_pages_and_texts_are_read_as_everywhere_each_in_its_encoding(spark) -> None:
    text = "<title>Bär</title><p>Grüße aus dem schönen Köln, wo alles blüht.</p>"
    pages = [
        (page(1).body, None),
        (page(2, noise=2).body, "utf-8"),
        *((text.encode(encoding), encoding) for encoding in ("latin-1", "cp1252", "utf-16")),
    ]
    rows = [
        (number, f"https://www.example.com/{number}", *page, [number])
        for number, page in enumerate(pages)
    ]
    columns = "id int, url string, body binary, encoding string, other array<int>"
    df = spark.createDataFrame(rows, columns)
    found = read_pages(df, INLINE)
    assert found.columns == ["id", "url", "other", *READ]
    for row in found.collect():
        body, encoding = pages[row.id]
        expected = read_page(body, url=row.url, encoding=encoding)
        assert row.other == [row.id]
        assert (row.title, row.markdown) == (expected.title, expected.markdown)
        assert (row.words, row.fingerprint) == (expected.words, signed(expected.fingerprint))
        assert row.look.digest == signed(expected.digest)
        assert (bytes(row.look.sketch), row.scope) == (expected.sketch, "example.com")
        assert row.reason is None
        assert row.id < 2 or row.title == "Bär"
    as_text = df.selectExpr("id", "url", "decode(body, 'UTF-16') AS body", "encoding")
    (row,) = read_pages(as_text.where("encoding = 'utf-16'"), INLINE).collect()
    assert row.title == "Bär"
    assert "Grüße" in row.markdown


def test_a_page_that_fails_is_named_and_the_others_are_read(spark) -> None:
    good = page(1).body
    rows = [
        ("good", good, None),
        ("fails", b"<p>please fail", None),
        ("slow", b"<p>let it never end", None),
        ("large", b"<p>" + b"x" * 200_000, None),
        ("skipped", b"", "not html"),
        ("nothing", None, None),
        ("empty", b"<p></p>", None),
        ("last", good, None),
    ]
    df = spark.createDataFrame(rows, "id string, body binary, skipped string")
    df = df.selectExpr("*", "CAST(NULL AS string) AS url", "'mine' AS scope").repartition(1)
    settings = {
        "SIMHASH_GATE_EXTRACTOR": f"{__name__}.{FailsOnSome.__name__}",
        "SIMHASH_GATE_MAX_BYTES": 100_000,
    }
    found = {row.id: row for row in read_pages(df, settings).collect()}
    assert found.keys() == {name for name, *_ in rows}
    assert {row.scope for row in found.values()} == {"mine"}
    for name in ("good", "last"):
        assert found[name].fingerprint == signed(read_page(good).fingerprint)
    reasons = {name: row.reason for name, row in found.items() if row.fingerprint is None}
    assert reasons.pop("slow") == "reading took longer than 10 s"
    assert reasons == {
        "fails": "unreadable: RuntimeError: this one fails",
        "large": "too large",
        "skipped": "not html",
        "nothing": "empty page",
        "empty": "no text",
    }
    assert [name for name, row in found.items() if row.words is None] == [
        name for name in found if name in ("fails", "slow", "large", "skipped")
    ]


def test_what_can_not_be_read_is_said_before_anything_runs(spark, caplog) -> None:
    df = spark.createDataFrame([("u", b"")], "url string, body binary")
    with pytest.raises(ValueError, match="column 'body' is missing: expected binary or string"):
        read_pages(df.drop("body"))
    with pytest.raises(ValueError, match="column 'url' is binary: expected string"):
        read_pages(df.selectExpr("body", "body AS url"))
    with pytest.raises(ValueError, match="column 'title' is there: rename it"):
        read_pages(df.selectExpr("*", "1 AS title"))
    with pytest.raises(SettingsError, match="did you mean SIMHASH_GATE_TRACKING"):
        read_pages(df, {"SIMHASH_GATE_TRACKIN": 1})
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    assert spark.conf.get(name) == "200"
    spark.conf.set(name, "5000")
    try:
        with caplog.at_level(logging.WARNING):
            read_pages(df)
    finally:
        spark.conf.set(name, "200")
    assert caplog.messages == [
        f"{name} is 5000: so many pages are in memory at once. 200 are enough"
    ]
