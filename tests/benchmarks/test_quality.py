"""What is told of methods that compare pairs of pages, and what the smaller commands print."""

from __future__ import annotations

import json
import re
from pathlib import Path

from benchmarks.quality import audit, trees
from benchmarks.quality.__main__ import main
from benchmarks.quality.corpus import Corpus, Page, Pair
from benchmarks.quality.methods import CONTENT_OURS, CONTENT_PEERS, OURS, PEERS
from benchmarks.quality.methods.base import Reading
from benchmarks.quality.scores import Rate, curve, score
from benchmarks.quality.tune import row, sites

ROOT = Path(__file__).parents[2]


def pair(label: str, kind: str = "", op: str = "", changed: float = 0.0, lang: str = "en") -> Pair:
    return Pair("a", "b", label, kind, op, changed, lang, "high")


def test_a_pair_is_a_duplicate_up_to_the_threshold_and_never_without_a_fingerprint() -> None:
    scores = score([pair("dup")] * 4, [0, 3, 4, None], threshold=3)
    assert scores.true_duplicates == Rate(2, 4)
    pairs = [*[pair("dup")] * 4, pair("update", changed=0.05), pair("diff"), pair("diff")]
    scores = score(pairs, [0, 0, 0, 9, 0, 0, 9], threshold=3)
    assert (scores.precision, scores.recall, scores.f1) == (3 / 5, 3 / 4, 2 / 3)
    pairs = [pair("dup"), pair("dup"), pair("diff")]
    assert list(curve(pairs, [2, 9, 5])) == [(2, 1, 1 / 2), (5, 1 / 2, 1 / 2), (9, 2 / 3, 1)]


def corpus(folder: Path) -> Path:
    """Three articles, each as itself, among other chrome, and with half of it written anew."""
    folder.mkdir()
    pages, pairs = [], []
    for number in range(3):
        stay, old, new = (
            " ".join(f"{x}{number}x{i}" for i in range(90)) for x in ("stay", "old", "new")
        )
        for name, text, chrome in (
            ("one", old, "<nav><a href=/>Home</a></nav>"),
            ("two", old, "<aside>Read this as well</aside>"),
            ("new", new, ""),
        ):
            id_ = f"{name}{number}"
            (folder / id_).write_text(
                f"<html><head><title>Article {number}</title></head><body>{chrome}<article>"
                f"<h1>Article {number}</h1><p>{stay}.</p><p>{text}</p></article></body></html>"
            )
            url = f"https://site.example/{name}/{number}"
            pages.append({"id": id_, "path": id_, "url": url, "words": 181})
        for other, label, kind, changed in (
            (f"two{number}", "dup", "noise", 0.0),
            (f"new{number}", "update", "content", 0.5),
            (f"two{(number + 1) % 3}", "diff", "diff-news", 1.0),
        ):
            told = {"label": label, "kind": kind, "changed": changed, "op": "", "lang": "en"}
            pairs.append({"a": f"one{number}", "b": other, "confidence": "high", **told})
    for name, lines in {"pages": pages, "pairs": pairs}.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines))
    return folder


def test_a_corpus_end_to_end_with_what_is_installed_and_a_line_for_a_peer_that_is_not(
    tmp_path: Path, capsys, monkeypatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert main([str(tmp_path)]) == 2
    assert "no labelled corpus" in capsys.readouterr().err
    out, peers = tmp_path / "out", ["body-md5", "page-text", "nutch"]
    run = [str(corpus(tmp_path / "corpus")), f"--out={out}", "--workers=1"]
    run += ["--peers", ",".join([*peers, "javascript"])]
    assert main(run) == 0
    table, complaints = capsys.readouterr()
    assert complaints.count("javascript: left out: needs node and npm\n") == 1
    found = json.loads((out / "results.json").read_text("utf-8"))["methods"]
    assert list(found) == [*OURS, *peers]
    assert table.count("\n") == 2 + len(found)
    assert [found[name]["f1"] for name in OURS] == [1, 1, 1]
    assert (found["body-md5"]["recall"], found["body-md5"]["precision"]) == (0, None)
    assert found["page-text"]["false_duplicates"] == [0, 6]
    assert not any(method["errors"] for method in found.values())
    assert main(run) == 0
    assert capsys.readouterr().out == table, "the times too: no page was read again"


def test_every_method_is_documented_by_the_name_it_is_asked_for() -> None:
    text = (ROOT / "docs/quality.md").read_text("utf-8")
    known = {*OURS, *PEERS, *CONTENT_OURS, *CONTENT_PEERS}
    assert set(re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE)) == known


# Thresholds that labelled sites suggest, and whether an IDF table helps.


def labelled(*names: str) -> Corpus:
    """Pages 0 to 59 of each site, of which 0 is paired with all others: the first 30 are copies."""
    pages = [Page(f"{site}-{n}", Path(), "", 50, site) for site in names for n in range(60)]
    pairs = [
        Pair(f"{site}-0", f"{site}-{n}", "dup" if n < 30 else "diff", "", "", 0, "en", "high")
        for site in names
        for n in range(1, 60)
    ]
    return Corpus({page.id: page for page in pages}, pairs)


def test_each_site_has_a_row_with_what_labels_suggest() -> None:
    """Copies are at distance 1 and others at 2; on the other site at 6 and at 7."""
    found, readings = labelled("near", "far"), {}
    for page in found.pages.values():
        number, apart = int(page.id.split("-")[1]), 1 if page.site == "near" else 6
        bits = 0 if number == 0 else apart if number < 30 else apart + 1
        readings[page.id] = Reading((1 << bits) - 1, 0.0, None)
    near, far = (row(site) for site in sites(found, readings))
    assert near[:5] == ("near", "59", "1: 1.000", "1: 1.000", "3: 0.659")
    assert far[:5] == ("far", "59", "6: 1.000", "6: 1.000", "3: 0.000")
    assert (near[6], near[8]) == ("1.000", "1.000")


# The audit against the truth of the demonstration site.


def test_an_audit_of_all_duplicates_finds_the_wrong_drops_that_the_site_knows(capsys) -> None:
    assert audit.main(["--seeds=1", "--articles=12", "--share=1"]) == 0
    _, _, row, _, last = capsys.readouterr().out.splitlines()
    assert last == "1 of 1 intervals hold the true share."
    drops, wrong_drops, compared, wrong = (
        int(cell.split()[0]) for cell in row.strip("| ").split(" | ")[1:5]
    )
    assert compared == drops > 20
    assert wrong_drops > 0
    assert abs(wrong - wrong_drops) <= max(1, 0.05 * drops)


# The comparison with an HTML5 parser.


def test_the_comparison_prints_shares_and_the_worst_page(tmp_path, capsys) -> None:
    assert trees.difference(list("abcd"), list("axcd")) == 0.25
    assert trees.difference([], ["a", "b"]) == trees.difference(["a"], []) == 1
    (tmp_path / "well.html").write_text("<p>one two")
    (tmp_path / "lost.html").write_text("<p>one</html><p>two")
    (tmp_path / "blank.html").write_text("")
    (tmp_path / "frames.html").write_text("<frameset><frame></frameset><p>one")
    assert trees.main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "the same words, as libxml2 reads them: 2 of 4 pages (50.00%)",
        "the same words, as we read them: 3 of 4 pages (75.00%)",
        "read again by an HTML5 parser: 1 of 4 pages (25.00%)",
        f"100.00% of 0 words differ: {tmp_path / 'frames.html'}",
    ]
