"""`simhash-gate idf`: a table of weights from the pages of a crawl."""

from __future__ import annotations

import json
from math import log

import pytest

from simhash_gate.cli.idf import Frequencies
from simhash_gate.pipeline import Options, read_page

PAGE = "<html><body><main><p>{}</p></main></body></html>"


@pytest.fixture
def crawl(manifest):
    """Three pages, of which one comes twice, all with the words `bees` and `fly`."""
    texts = (
        "bees fly to every flower of the garden",
        "bees fly out when summer comes",
        "bees fly home again at night",
        "bees fly home again at night",
    )
    return manifest(
        *(
            {"html": PAGE.format(text), "url": f"https://hive.example/{number}"}
            for number, text in enumerate(texts)
        )
    )


def test_a_word_weighs_less_the_more_pages_have_it(run, crawl, tmp_path) -> None:
    result = run("idf", crawl, "-o", "idf.json", "--min-pages", 1)
    assert (result.status, result.out) == (0, "")
    assert result.err.endswith(" words of 3 pages\n")  # a copy counts once
    (tmp_path / "other").touch()  # as the umask says
    assert (tmp_path / "idf.json").stat().st_mode == (tmp_path / "other").stat().st_mode
    table = json.loads((tmp_path / "idf.json").read_text())
    unseen = log(4) + 1
    assert table["bees"] == table["fly"] == round(1 / unseen, 4)
    assert table["garden"] == round((log(4 / 2) + 1) / unseen, 4)
    assert list(table) == sorted(table)
    body = PAGE.format("bees fly to every flower of the garden").encode()
    weighed = read_page(body, options=Options(idf=str(tmp_path / "idf.json")))
    assert weighed.fingerprint != read_page(body).fingerprint


def test_pages_that_fail_hang_or_kill_their_process_are_named_and_left_out(run, crawl) -> None:
    bad = [{"html": f"<title>{title}</title>a b c"} for title in ("endless", "deadly", "broken")]
    crawl.write_text("\n".join([*map(json.dumps, bad), crawl.read_text()]))
    settings = ("EXTRACTOR=tests.offline.extractors.Hostile", "TIMEOUT=1", "WORKERS=1")
    given = [word for setting in settings for word in ("-s", f"SIMHASH_GATE_{setting}")]
    result = run("idf", crawl, "--min-pages", 1, *given)
    assert result.status == 1
    assert f"{crawl}:1: reading took longer than 1 s\n" in result.err
    assert f"{crawl}:2: the page-reading process ended with status 3\n" in result.err
    assert f"{crawl}:3: unreadable: RuntimeError: no\n" in result.err
    assert "words of 3 pages\n" in result.err
    assert "bees" in json.loads(result.out)


def test_the_table_is_bounded_and_may_have_shingles(run, crawl) -> None:
    assert list(json.loads(run("idf", crawl, "--most", 2, "--min-pages", 1).out)) == ["bees", "fly"]
    result = run("idf", crawl, "--shingles", "--min-pages", 1)
    assert "bees fly home" in json.loads(result.out)
    assert " shingles of 3 pages" in result.err


def test_a_table_without_a_word_leaves_an_earlier_one_alone(run, crawl, tmp_path) -> None:
    (tmp_path / "idf.json").write_text("before")
    result = run("idf", crawl, "-o", "idf.json", "--min-pages", 9)
    assert result.status == 1
    assert f"{crawl}: 3 pages, and no word is in 9 of them\n" in result.err
    assert (tmp_path / "idf.json").read_text() == "before"


def test_rare_words_are_forgotten_where_there_are_too_many() -> None:
    found = Frequencies(most=50)
    for page in range(200):
        found.add(["always", *["often"] * (page % 2), f"rare-{page}"], digest=page)
    assert len(found.counts) <= 50
    assert found.error > 0
    for word, pages in (("always", 200), ("often", 100)):
        assert pages <= found.counts[word] <= pages + found.error
    weights = found.weights(2, 2)
    assert weights["always"] < weights["often"]
