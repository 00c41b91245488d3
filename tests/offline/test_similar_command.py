"""`simhash-gate similar`: the pages of a collection that are like one, the nearest first."""

from __future__ import annotations

import pytest


@pytest.fixture
def kept(manifest):
    """Pages at 0, 2, 5 and 64 bits from the first one, on two domains."""
    bits = {
        "https://a.com/0": 0,
        "https://b.org/5": 31,
        "https://b.org/2": 3,
        "https://a.com/-": -1,
    }
    return manifest(
        *(
            {"url": url, "fingerprint": f"{value % 2**64:016x}", "title": url[-1]}
            for url, value in bits.items()
        )
    )


def test_the_nearest_come_first_whatever_their_domain(run, kept) -> None:
    result = run("similar", kept, "0" * 16, "-k", "5")
    assert (result.status, result.err) == (0, "")
    assert result.lines == [
        {"page": url, "distance": distance, "title": url[-1], "fingerprint": f"{bits:016x}"}
        for url, distance, bits in (
            ("https://a.com/0", 0, 0),
            ("https://b.org/2", 2, 3),
            ("https://b.org/5", 5, 31),
        )
    ]


def test_a_page_of_the_source_is_not_like_itself(run, kept) -> None:
    assert run("similar", kept, "https://a.com/0").column("page") == ["https://b.org/2"]
    assert len(run("similar", kept, "https://a.com/0", "-k", "64").lines) == 3


def test_a_file_is_compared_with_the_pages_of_a_folder(run, write) -> None:
    write("pages/a.html", 1)
    write("pages/b.html", 2)
    write("mine.html", 1, noise=5)
    assert run("similar", "pages", "mine.html").column("page") == ["pages/a.html"]
    assert run("similar", "pages", "pages/a.html").lines == []


def test_lines_of_a_list_are_numbers(run, tmp_path) -> None:
    (tmp_path / "list").write_text(f"{1:016x}\n{0:016x}\n")
    assert run("similar", "list", "0" * 16).lines == [
        {"page": 2, "distance": 0, "fingerprint": "0" * 16},
        {"page": 1, "distance": 1, "fingerprint": f"{1:016x}"},
    ]


def test_a_page_that_is_nowhere_or_empty_is_named(run, tmp_path, kept) -> None:
    (tmp_path / "empty.html").write_text("<html></html>")
    for wanted, said in (
        ("https://a.com/none", "no page of the source has this URL"),
        ("none.html", "No such file"),
        ("empty.html", "no fingerprint"),
    ):
        result = run("similar", kept, wanted)
        assert (result.status, result.out) == (1, "")
        assert f"{wanted}: {said}" in result.err
    (tmp_path / "bare").mkdir()
    assert run("similar", "bare", "0" * 16).status == 1
