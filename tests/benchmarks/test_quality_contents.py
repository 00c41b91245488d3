"""What is told of extractors, on pages whose main content is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.quality.__main__ import main
from benchmarks.quality.contents import KINDS, Labelled, compare
from benchmarks.quality.labelled import HALVES
from benchmarks.quality.methods import CONTENT_OURS, CONTENT_PEERS
from benchmarks.quality.methods.base import Content


@pytest.mark.parametrize(
    ("text", "found", "precision", "recall", "f1"),
    [
        # Words count as often as they come, whatever their case and order.
        ("One two, two three four", "two ONE five two", 3 / 4, 3 / 5, 2 / 3),
        ("one two", "one one two", 2 / 3, 1, 4 / 5),
        # Nothing found is wrong unless nothing is there.
        ("one", "—", 0, 0, 0),
        ("", "one", 0, 0, 0),
        ("", "", 1, 1, 1),
    ],
)
def test_words_found_are_scored(text, found, precision, recall, f1) -> None:
    page = Labelled(id="a", path=Path("a"), url="", kind="article", title="A title", text=text)
    scored = compare(page, Content(found, None))
    assert scored[:3] == pytest.approx((precision, recall, f1))


def test_a_set_end_to_end_with_what_is_always_installed(tmp_path: Path, capsys) -> None:
    """One page of each kind."""
    folder, out, lines = tmp_path / "set", tmp_path / "out", []
    folder.mkdir()
    for number, kind in enumerate(KINDS):
        said = " ".join(f"word{kind}x{i}" for i in range(90))
        (folder / kind).write_text(
            f"<html><head><title>Page {kind}</title></head><body><nav><a href=/>Home</a></nav>"
            f"<article><h1>Page {kind}</h1><p>{said}.</p></article></body></html>"
        )
        line = {"id": kind, "path": kind, "kind": kind, "title": f"Page {kind}"}
        line["url"] = f"https://{kind}.example/" if number else None
        lines.append(json.dumps(line | {"text": f"Page {kind}\n{said}"}) + "\n")
    (folder / "pages.jsonl").write_text("".join(lines))
    run = [str(folder), "--set=text", f"--out={out}", "--workers=1"]
    assert main([*run, "--peers=page-text,readability,plain"]) == 0
    table = capsys.readouterr().out
    found = json.loads((out / "results.json").read_text("utf-8"))["methods"]
    assert list(found) == [*CONTENT_OURS, "page-text", "readability", "plain"]
    assert table.count("\n") == 2 + len(found)
    ours, whole = (found[name]["scores"] for name in ("content", "page-text"))
    assert set(ours) == {"all", *KINDS, *HALVES}
    assert (ours["all"]["f1"], ours["all"]["titles"]) == (1, 1)
    assert whole["all"]["precision"] == pytest.approx(92 / 93)
    assert not any(method["errors"] for method in found.values())
    with pytest.raises(SystemExit):
        main([*run, "--peers=nutch"])
    assert f"known are {', '.join(CONTENT_PEERS)}" in capsys.readouterr().err
