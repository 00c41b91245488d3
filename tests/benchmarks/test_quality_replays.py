"""What is told of methods that see whole sites, on sites whose copies are known."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.quality import sets
from benchmarks.quality.__main__ import main
from benchmarks.quality.methods import Method, Reading
from benchmarks.quality.sets import Page, Replays

COPY: dict[str, Any] = {"fresh": False, "copies": ["one"]}


def site_page(id_: str, **labels: Any) -> Page:
    known = {"kind": "shop", "scored": True, "fresh": True}
    return Page(id_, Path(id_), "", "a.example", known | labels)


def counted(*pages: tuple[Page, Any]) -> dict[str, int]:
    """Count the drops of a method whose fingerprints are these numbers."""
    readings = {page.id: Reading(value, 1.0) for page, value in pages}
    method = Method("numbers", lambda body, _: int(body))
    return Replays([page for page, _ in pages]).counts(method, readings)["a.example"]


TWO = [(site_page("one"), 0), (site_page("two"), 0xFF)]
UNSURE = site_page("unsure", unsure=["one"])


@pytest.mark.parametrize(
    ("pages", "counts"),
    [
        # Fresh pages dropped are wrong, and copies dropped are found.
        (
            [
                (site_page("one"), 0),
                (site_page("wrong"), 1),
                (site_page("copy", **COPY), 0),
                (site_page("its copy", **COPY), 1),
                (site_page("missed", **COPY), 0xFF),
                (site_page("neither", fresh=False), 0),
                (site_page("two"), 0xFF00),
            ],
            {"fresh": 3, "wrong": 1, "copies": 3, "found": 2, "unsure": 0},
        ),
        # To drop a page for one that nobody can tell it from is not wrong.
        ([*TWO, (UNSURE, 0)], {"wrong": 0, "unsure": 1}),
        ([*TWO, (UNSURE, 0xFF)], {"wrong": 1, "unsure": 0}),
    ],
)
def test_drops_are_counted(pages, counts) -> None:
    found = counted(*pages)
    assert {name: found[name] for name in counts} == counts


def test_a_set_end_to_end_with_what_is_always_installed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two sites of ten articles, the last of each a copy of its first, and a page of nothing."""
    folder, lines = tmp_path / "set", []
    folder.mkdir()
    for site in ("one.example", "two.example"):
        for number in range(10):
            said = " ".join(f"{site[:3]}{number % 9}x{i}" for i in range(90))
            id_ = f"{site}-{number}"
            body = "" if number == 5 else f"<article><h1>Page {number % 9}</h1><p>{said}</article>"
            (folder / id_).write_text(f"<title>Page {number % 9}</title><body><p>{body}")
            line = {"id": id_, "path": id_, "url": f"https://{site}/{number}", "domain": site}
            line |= {"kind": "blog", "scored": True, "fresh": number < 9}
            line |= {"copies": [f"{site}-0"]} if number == 9 else {}
            lines.append(json.dumps(line) + "\n")
    (folder / "pages.jsonl").write_text("".join(lines))
    run = [str(folder), "--set=sites", "--workers=1", "--peers=exact,page-text"]
    monkeypatch.setattr(sets, "MANY_FRESH", 9)
    assert main(run) == 0
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert "mean over 2 sites" in head
    assert len(rows) == 4
    assert all(row.strip("| ").split(" | ")[1:3] == ["0.00 %", "100.0 %"] for row in rows)
