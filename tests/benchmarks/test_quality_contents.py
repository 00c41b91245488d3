"""What is told of extractors, on pages whose main content is known."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from benchmarks.quality.__main__ import main
from benchmarks.quality.contents import KINDS, Contents, Labelled, compare
from benchmarks.quality.labelled import HALVES, half_of
from benchmarks.quality.methods import CONTENT_OURS, CONTENT_PEERS, create_extractor
from benchmarks.quality.methods.base import Content, Reading
from benchmarks.quality.text import shown

WITHOUT_EXTRAS = ["page-text", "readability", "plain"]


def page(
    id_: str = "a", *, kind: str = "article", title: str = "A title", text: str = ""
) -> Labelled:
    return Labelled(id=id_, path=Path(id_), url="", kind=kind, title=title, text=text)


def test_words_count_as_often_as_they_come_whatever_their_case_and_order() -> None:
    found = compare(page(text="One two, two three four"), Content("two ONE five two", None))
    assert (found.precision, found.recall) == (3 / 4, 3 / 5)
    assert found.f1 == pytest.approx(2 * (3 / 4) * (3 / 5) / (3 / 4 + 3 / 5))
    assert not found.empty


def test_a_word_that_comes_too_often_counts_against_precision() -> None:
    found = compare(page(text="one two"), Content("one one two", None))
    assert (found.precision, found.recall) == (2 / 3, 1)


def test_nothing_found_is_wrong_unless_nothing_is_there() -> None:
    assert compare(page(text="one"), Content("—", None))[:3] == (0, 0, 0)
    assert compare(page(text=""), Content("one", None))[:3] == (0, 0, 0)
    assert compare(page(text=""), Content("", None))[:3] == (1, 1, 1)
    assert compare(page(text="one"), Content("—", None)).empty


def test_a_title_is_right_by_its_words_and_unknown_where_there_is_none() -> None:
    assert compare(page(title="A: title"), Content("", "a title!")).title is True
    assert compare(page(title="A title"), Content("", "A title - Site")).title is False
    assert compare(page(title="A title"), Content("", "")).title is False
    assert compare(page(title="A title"), Content("", None)).title is None
    assert compare(page(title=""), Content("", "Something")).title is None


def test_kinds_are_means_over_their_pages_and_a_page_that_failed_is_empty() -> None:
    pages = [
        page("a", text="one two"),
        page("b", text="one two three four"),
        page("c", kind="forum", text="one"),
    ]
    readings = {
        "a": Reading(Content("one two", "A title"), 1.0),
        "b": Reading(Content("one", "Another title"), 3.0),
        "c": Reading(None, 2.0, "ValueError: odd"),
    }
    result = Contents(pages).result("page-text", create_extractor("page-text"), readings)
    article, forum, whole = (result.scores[group] for group in ("article", "forum", "all"))
    assert (article.pages, article.precision, article.recall) == (2, 1, 5 / 8)
    assert article.f1 == pytest.approx((1 + 2 / 5) / 2)
    assert (article.titles, article.empty) == (1 / 2, 0)
    assert (forum.f1, forum.empty) == (0, 1)
    assert math.isnan(forum.titles)
    assert (whole.pages, whole.precision, whole.titles) == (3, 2 / 3, 1 / 2)
    assert whole.empty == 1 / 3
    assert (result.milliseconds, result.errors) == (2, 1)
    row = dict(zip(Contents.columns, result.row, strict=True))
    assert (row["F1"], row["article"], row["forum"]) == ("0.467", "0.700", "0.000")
    assert (row["product"], row["titles right"], row["empty"]) == ("–", "0.500", "33.3 %")


def test_pages_of_one_site_are_in_one_half_and_both_halves_have_sites() -> None:
    halves = [half_of(f"site{number}.example") for number in range(20)]
    assert set(halves) == set(HALVES)
    assert halves[0] == half_of("site0.example")


def test_text_of_html_parts_words_at_blocks_and_nowhere_else() -> None:
    assert shown("a<!-- no -->b<p>c<i>d</i>e</p>f<br>g") == "ab cde f g"
    assert shown(" ") == ""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One page of each kind."""
    folder = tmp_path / "set"
    (folder / "pages").mkdir(parents=True)
    lines = []
    for number, kind in enumerate(KINDS):
        said = " ".join(f"word{number}x{i}" for i in range(90))
        path = f"pages/{kind}.html"
        (folder / path).write_text(
            f"<html><head><title>Page {kind}</title></head><body><nav><a href=/>Home</a></nav>"
            f"<article><h1>Page {kind}</h1><p>{said}.</p></article></body></html>"
        )
        lines.append(
            {
                "id": kind,
                "path": path,
                "url": f"https://{kind}.example/" if number else None,
                "kind": kind,
                "title": f"Page {kind}",
                "text": f"Page {kind}\n{said}",
            }
        )
    (folder / "pages.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_a_set_end_to_end_with_what_is_always_installed(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    run = [str(folder), "--set=text", f"--out={out}", "--workers=1"]
    run += ["--peers", ",".join(WITHOUT_EXTRAS)]
    assert main(run) == 0
    table = capsys.readouterr().out
    found = json.loads((out / "results.json").read_text("utf-8"))
    assert found["pages"] == len(KINDS)
    assert list(found["methods"]) == [*CONTENT_OURS, *WITHOUT_EXTRAS]
    assert table.count("\n") == 2 + len(found["methods"])
    ours, whole = (found["methods"][name]["scores"] for name in ("content", "page-text"))
    assert set(ours) == {"all", *KINDS, *HALVES}
    assert (ours["all"]["f1"], ours["all"]["titles"]) == (1, 1)
    assert (whole["all"]["recall"], whole["all"]["empty"]) == (1, 0)
    assert whole["all"]["precision"] == pytest.approx(92 / 93)
    assert not any(method["errors"] for method in found["methods"].values())

    assert main(run) == 0
    assert capsys.readouterr().out == table, "the times too: no page was read again"


def test_a_peer_of_another_set_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([str(folder), "--set=text", "--peers=nutch"])
    assert f"known are {', '.join(CONTENT_PEERS)}" in capsys.readouterr().err
