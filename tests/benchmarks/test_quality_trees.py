"""What the comparison with an HTML5 parser says, of pages on which the answer is plain."""

from __future__ import annotations

from benchmarks.quality.trees import compare, difference, main


def test_a_difference_is_a_share_of_the_longer_text() -> None:
    assert difference(["a", "b", "c", "d"], ["a", "b", "c", "d"]) == 0
    assert difference(["a", "x", "c", "d"], ["a", "b", "c", "d"]) == 0.25
    assert difference([], ["a", "b"]) == 1
    assert difference(["a", "b", "c", "d"], []) == 1


def test_a_page_that_libxml2_loses_is_the_same_after_it_is_read_again(tmp_path) -> None:
    page = tmp_path / "lost.html"
    page.write_text("<head></head></html><body><p>one</p><button>no</button><b>two</b> three")
    outcome = compare(page)
    assert (outcome.words, outcome.before, outcome.after, outcome.again) == (3, 1, 0, True)


def test_both_sides_leave_out_the_same(tmp_path) -> None:
    page = tmp_path / "well.html"
    page.write_text(
        "<title>no</title><p>one<b>two</b><svg><text>no</text></svg><video>no</video>"
        "<my-box><template shadowrootmode=open><p>three</p><slot></slot></template>four</my-box>"
        "<template>no</template><select><option>no</select><!-- no --><noscript>no</noscript>"
    )
    outcome = compare(page)
    assert (outcome.words, outcome.before, outcome.again) == (3, 0, False)


def test_the_command_prints_shares_and_the_worst_page(tmp_path, capsys) -> None:
    (tmp_path / "well.html").write_text("<p>one two")
    (tmp_path / "lost.html").write_text("<p>one</html><p>two")
    (tmp_path / "blank.html").write_text("")
    (tmp_path / "frames.html").write_text("<frameset><frame></frameset><p>one")
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "the same words, as libxml2 reads them: 2 of 4 pages (50.00%)",
        "the same words, as we read them: 3 of 4 pages (75.00%)",
        "read again by an HTML5 parser: 1 of 4 pages (25.00%)",
        f"100.00% of 0 words differ: {tmp_path / 'frames.html'}",
    ]
