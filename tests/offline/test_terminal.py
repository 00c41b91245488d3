"""What a terminal changes: colours, and a progress bar where it does not disturb."""

from __future__ import annotations

RED, GREEN = "\x1b[31m", "\x1b[32m"


def test_what_differs_is_coloured_unless_no_color_is_set(at_terminal, write) -> None:
    write("a.html", 1)
    write("b.html", 2)
    compare = ("compare", "a.html", "b.html")
    assert RED in (seen := at_terminal(*compare, stdout=True, stderr=True))
    assert GREEN in seen
    assert "\x1b" not in at_terminal(*compare, stdout=True, stderr=True, NO_COLOR="1")


def test_the_bar_is_shown_where_the_results_are_not(at_terminal, write) -> None:
    write("a.html", 1)
    one = ("fingerprint", "a.html")
    assert "1/1" in at_terminal(*one, stdout=False, stderr=True)
    assert "1/1" not in at_terminal(*one, stdout=True, stderr=True)
    assert at_terminal(*one, "--no-progress", stdout=False, stderr=True) == ""


def test_complaints_stand_on_lines_of_their_own_beside_the_bar(at_terminal, tmp_path) -> None:
    (tmp_path / "a.html").write_text("<p>words")
    (tmp_path / "m.jsonl").write_text('{"path": "a.html"}\nbad\n{"path": "a.html"}\n')
    seen = at_terminal("fingerprint", "--input", "m.jsonl", stdout=False, stderr=True, status=1)
    assert "\rm.jsonl:2: not JSON: " in seen
