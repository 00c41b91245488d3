from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from benchmarks.quality.__main__ import main
from benchmarks.quality.corpus import Pair, load
from benchmarks.quality.methods import CONTENT_OURS, CONTENT_PEERS, OURS, PEERS
from benchmarks.quality.methods.nutch import profile
from benchmarks.quality.scores import Rate, curve, score

ROOT = Path(__file__).parents[2]
WITHOUT_EXTRAS = ["body-md5", "readability-md5", "page-text", "nutch", "plain"]


def pair(label: str, kind: str = "", op: str = "", changed: float = 0.0, lang: str = "en") -> Pair:
    return Pair("a", "b", label, kind, op, changed, lang, "high")


def test_a_pair_is_called_duplicate_up_to_the_threshold_and_never_without_a_fingerprint() -> None:
    scores = score([pair("dup")] * 4, [0, 3, 4, None], threshold=3)
    assert scores.true_duplicates == Rate(2, 4)


def test_precision_recall_and_f1_are_pooled_over_pairs() -> None:
    pairs = [*[pair("dup")] * 4, pair("update", changed=0.05), pair("diff"), pair("diff")]
    scores = score(pairs, [0, 0, 0, 9, 0, 0, 9], threshold=3)
    assert (scores.precision, scores.recall, scores.f1) == (3 / 5, 3 / 4, 2 / 3)


def test_means_give_every_kind_the_same_weight() -> None:
    pairs = [
        *[pair("dup", "noise")] * 3,
        pair("dup", "real-version"),
        *[pair("update", "content", changed=0.5)] * 3,
        pair("diff", "diff-short"),
    ]
    scores = score(pairs, [0, 0, 0, 9, 9, 9, 9, 0], threshold=3)
    assert (scores.mean_recall, scores.mean_false) == (1 / 2, 1 / 2)


def test_small_updates_and_unsure_labels_are_told_apart() -> None:
    unsure = Pair("a", "b", "diff", "", "", 0.0, "en", "low")
    pairs = [pair("dup"), unsure, *(pair("update", changed=c) for c in (0.009, 0.01, 0.049))]
    scores = score(pairs, [0, 0, 0, 0, 9], threshold=3)
    assert scores.precision == 1
    assert (scores.update_below_1, scores.update_1_to_5) == (Rate(1, 1), Rate(1, 2))


def test_the_worst_operator_and_language_are_taken_of_those_with_enough_pairs() -> None:
    pairs = [
        *[pair("dup", "noise", "ads")] * 20,
        *[pair("dup", "noise", "rare")] * 19,
        *[pair("dup", "real-version", "ads", lang="ko")] * 30,
    ]
    scores = score(pairs, [*[0] * 19, 9, *[9] * 19, *[0] * 30], threshold=3)
    assert scores.worst_operator == ("ads", Rate(19, 20))
    assert scores.worst_language == ("en", Rate(19, 39))


def test_pairs_of_an_unknown_language_make_none_the_worst() -> None:
    pairs = [*[pair("dup", lang="")] * 30, *[pair("dup", lang="ko")] * 30]
    assert score(pairs[:30], [9] * 30, threshold=3).worst_language is None
    assert score(pairs, [9] * 30 + [0] * 30, threshold=3).worst_language == ("ko", Rate(30, 30))


def test_what_has_no_pairs_has_no_figure() -> None:
    scores = score([pair("diff")], [9], threshold=3)
    assert math.isnan(scores.precision)
    assert math.isnan(scores.f1)
    assert scores.worst_operator is None


def test_a_curve_has_a_point_for_each_distance_from_where_something_is_caught() -> None:
    pairs = [pair("dup"), pair("dup"), pair("diff")]
    assert list(curve(pairs, [2, 9, 5])) == [(2, 1, 1 / 2), (5, 1 / 2, 1 / 2), (9, 2 / 3, 1)]


def test_a_text_profile_counts_in_steps_and_leaves_out_what_comes_once() -> None:
    text = "Gate gate GATE: a-gate; words, words & once"
    assert profile(text) == "gate 4\nwords 2"
    assert profile("once only") == "once 1\nonly 1"
    assert profile("") == ""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Six articles, each as itself, among other chrome, and with half of it written anew."""
    folder = tmp_path / "corpus"
    (folder / "pages").mkdir(parents=True)
    pages, pairs = [], []
    for number in range(6):
        old, new = (" ".join(f"{x}{number}x{i}" for i in range(90)) for x in ("old", "new"))
        stay = " ".join(f"stay{number}x{i}" for i in range(90))
        versions = {
            "one": article(number, f"{stay}.</p><p>{old}", "<nav><a href=/>Home</a></nav>"),
            "two": article(number, f"{stay}.</p><p>{old}", "<aside>Read this as well</aside>"),
            "new": article(number, f"{stay}.</p><p>{new}", ""),
        }
        for name, text in versions.items():
            path = f"pages/{name}{number}.html"
            (folder / path).write_text(text, "utf-8")
            url = f"https://site.example/{name}/{number}"
            pages.append({"id": f"{name}{number}", "path": path, "url": url, "words": 181})
        sure = {"op": "", "lang": "en", "confidence": "high"}
        dup = {"label": "dup", "kind": "noise", "changed": 0.0} | sure
        update = {"label": "update", "kind": "content", "changed": 0.5} | sure
        diff = {"label": "diff", "kind": "diff-news", "changed": 1.0} | sure
        pairs += [
            {"a": f"one{number}", "b": f"two{number}", **dup},
            {"a": f"one{number}", "b": f"new{number}", **update},
            {"a": f"one{number}", "b": f"two{(number + 1) % 6}", **diff},
        ]
    for name, lines in {"pages": pages, "pairs": pairs}.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines))
    return folder


def article(number: int, text: str, chrome: str) -> str:
    return (
        f"<html><head><title>Article {number}</title></head><body>{chrome}"
        f"<article><h1>Article {number}</h1><p>{text}</p></article></body></html>"
    )


def test_a_corpus_end_to_end_with_what_is_always_installed(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    run = [str(corpus), "--out", str(out), "--workers", "1", "--peers", ",".join(WITHOUT_EXTRAS)]
    assert main(run) == 0
    table = capsys.readouterr().out
    found = json.loads((out / "results.json").read_text("utf-8"))["methods"]
    assert list(found) == [*OURS, *WITHOUT_EXTRAS]
    assert table.count("\n") == 2 + len(found)
    assert [found[name]["f1"] for name in OURS] == [1, 1, 1]
    assert found["body-md5"]["recall"] == 0
    assert found["body-md5"]["precision"] is None
    assert found["page-text"]["false_duplicates"] == [0, 12]
    assert not any(method["errors"] for method in found.values())

    assert main(run) == 0
    assert capsys.readouterr().out == table, "the times too: no page was read again"


def test_a_peer_that_is_not_installed_is_one_line_and_the_rest_runs(
    corpus: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    out = tmp_path / "out"
    assert main([str(corpus), f"--out={out}", "--workers=1", "--peers=javascript", "--quick"]) == 0
    captured = capsys.readouterr()
    assert captured.err.count("javascript: left out: needs node and npm\n") == 1
    assert captured.out.count("\n") == 2 + len(OURS)


def test_a_folder_that_is_no_corpus_is_said_to_be_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 2
    assert "no labelled corpus" in capsys.readouterr().err


def test_a_broken_line_is_named_by_its_place(corpus: Path) -> None:
    with (corpus / "pairs.jsonl").open("a") as file:
        file.write("{")
    with pytest.raises(ValueError, match=r"pairs\.jsonl, line 19"):
        load(corpus)


def test_every_method_is_documented_by_the_name_it_is_asked_for() -> None:
    text = (ROOT / "docs/quality.md").read_text("utf-8")
    assert set(re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE)) == {
        *OURS,
        *PEERS,
        *CONTENT_OURS,
        *CONTENT_PEERS,
    }
