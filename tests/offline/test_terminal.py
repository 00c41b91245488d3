"""What a terminal changes: colours, and a progress bar where it does not disturb."""

import pytest


@pytest.mark.parametrize("no_color", ["", "1"])
def test_what_differs_is_coloured_unless_no_color_is_set(at_terminal, write, no_color: str) -> None:
    write("a.html", 1)
    write("b.html", 2)
    command = ("why", "a.html", "b.html")
    seen = at_terminal(*command, stdout=True, stderr=True, NO_COLOR=no_color)
    assert "[-" in seen
    for colour in ("\x1b[31m", "\x1b[32m"):
        assert (colour in seen) == (not no_color)


def test_the_bar_is_shown_where_the_results_are_not_and_complaints_beside_it(
    at_terminal, tmp_path
) -> None:
    (tmp_path / "a.html").write_text("<p>words")
    (tmp_path / "m.jsonl").write_text('{"path": "a.html"}\nbad\n{"path": "a.html"}\n')
    command = ("fingerprint", "m.jsonl", "-s", "SIMHASH_GATE_WORKERS=0")
    seen = at_terminal(*command, stdout=False, stderr=True, status=1)
    assert "2/3" in seen
    assert "\rm.jsonl:2: not JSON: " in seen
    assert "2/3" not in at_terminal(*command, stdout=True, stderr=True, status=1)
