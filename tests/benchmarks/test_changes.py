"""Where real pages are changed to see what a gate sees, and what is told of it."""

import json
from pathlib import Path

import pytest

from benchmarks.changes import GATE, Change, Seen, main, places, rate
from tests.crawls.harness import text

CONTENT = f"The mill of 1892 grinds barley. {text(1)} Posted 3 March 2024 for all who read here"
PAGE = (
    "<html><head><title>Millstone</title><style>cobble</style></head><body>"
    "<nav><a href=/>Homeward we go</a></nav><main><h1>Millstone</h1><p>The mill of 1892 grinds "
    f"barley.</p><p>{text(1)}</p><p>Captioned by nobody</p>"
    "<p>Posted 3 March 2024 for all who read here</p></main>"
    "<p hidden>Concealed</p><footer>Imprinted in 2031</footer></body></html>"
)


def test_each_place_is_changed_as_what_it_is() -> None:
    found = [*places(PAGE, CONTENT)]
    assert all(PAGE.count(change.before) == 1 for change in found)
    kinds = {
        (word, change.where, change.kind)
        for change in found
        for word in ("Homeward", "Captioned", "1892", "barley", "2024", "Imprinted", "2031")
        if word in change.before and word not in change.after and change.after
    }
    assert kinds >= {
        ("1892", "inside", "number"),
        ("barley", "inside", "word"),
        ("2024", "inside", "stamp"),
        ("Homeward", "outside", "word"),
        ("Captioned", "gap", "word"),
        ("2031", "outside", "number"),
    }
    gone = {(change.kind, change.before) for change in found if not change.after}
    assert ("block", "The mill of 1892 grinds barley.") in gone
    assert ("stamp", "Posted 3 March 2024 for all who read here") in gone
    assert not any("Concealed" in change.before or "cobble" in change.before for change in found)


def test_stamps_are_counted_apart() -> None:
    word, stamp = (Change("inside", kind, "a", "b") for kind in ("word", "stamp"))
    found = [Seen(word, True), Seen(stamp, False)]
    assert rate(found, "inside") == 1
    assert rate(found, "inside", "stamp") == 0
    assert rate(found, "outside") is None


def test_the_table_tells_what_is_seen_within_and_beside_the_content(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = []
    for number in range(3):
        page = PAGE.replace(text(1), text(number + 1))
        (tmp_path / f"{number}.html").write_text(page, encoding="utf-8")
        content = CONTENT.replace(text(1), text(number + 1))
        url = f"https://mill.example/{number}"
        told = {"id": number, "path": f"{number}.html", "url": url, "text": content}
        lines.append(json.dumps(told))
    (tmp_path / "pages.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert main([str(tmp_path), "--no-peers", "--workers", "1"]) == 0
    shown = capsys.readouterr().out
    assert f"| {GATE} | 100.0 % | 0.0 % | 100.0 % | 100.0 % | 100.0 % |" in shown
    (tmp_path / "pages.jsonl").write_text("", encoding="utf-8")
    assert main([str(tmp_path)]) == 2
