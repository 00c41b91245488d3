"""What looks wrong: said in a sentence, with what helps, the worst first; or nothing."""

from typing import Any

import pytest

from simhash_gate.report.doubt import MANY
from simhash_gate.report.findings import SWALLOWED, Finding, findings, notes
from simhash_gate.report.pairs import of_other_offers, side_by_side
from tests.report.verdicts import copy, crawl, near, summary_of, verdict

OTHER = {"title": "Red shirt", "matched_title": "Blue shirt"}
SAME = {"title": "Shirt", "matched_title": "Shirt"}


def found(*lines: dict[str, Any], **counts: int) -> list[Finding]:
    summary = summary_of(*lines)
    for name, number in counts.items():
        setattr(summary, name, number)
    return findings(summary, of_other_offers(side_by_side(summary.duplicates.ranked(), None)))


def test_a_crawl_that_drops_copies_looks_right() -> None:
    lines = [verdict(f"a{n}") for n in range(100)]
    lines += [copy(f"print/a{n}", f"a{n}", n % 4, **SAME) for n in range(40)]
    lines += [copy(f"a1?session={n}", "a1", **SAME) for n in range(2 * SWALLOWED)]
    lines += [near(f"n{n}", "a1", 5) for n in range(9)]
    lines += [verdict("x.pdf", "skipped", reason="not html")]
    lines += [verdict("empty", "skipped", reason="no text"), crawl()]
    assert found(*lines) == []


def test_all_that_looks_wrong_is_told_the_worst_first() -> None:
    lines = [
        verdict("slow", "error", reason="reading took longer than 10 s"),
        verdict("large", "skipped", reason="too large"),
        *(near(f"n{n}", "a", 0, differs="names", **OTHER) for n in range(MANY)),
        *(copy(f"block/{n}", "b", **SAME) for n in range(SWALLOWED)),
        copy("money", "a", reason="distance 0, threshold 3; only '$12' → '$13' differs", **SAME),
        copy("other", "a", **OTHER),
    ]
    got = found(*lines, missed=7, unusable=1)
    expected = [
        (
            "duplicates",
            "1 page dropped although the title names something else than that of the kept page",
        ),
        (
            "duplicates",
            "1 page dropped although the text says another price or offer than that of the kept",
        ),
        ("clusters", f"{SWALLOWED} pages at different addresses are duplicates of 1 page"),
        ("unjudged", "1 page could not be judged"),
        ("unjudged", "1 page skipped"),
        ("figures", "These figures lack 7 verdicts"),
        ("figures", "1 input could not be used"),
    ]
    for finding, (section, said) in zip(got, expected, strict=True):
        assert (finding.section, said in finding.message) == (section, True), finding.message
    assert all("`" in finding.advice for finding in got[:-2])


@pytest.mark.parametrize(
    ("verify", "advice"),
    [(None, "`SIMHASH_GATE_COMPARE`"), ("False", "`SIMHASH_GATE_VERIFY = True`")],
)
def test_advice_is_what_the_settings_leave_to_do_and_the_domains_with_most_are_named(
    verify: str | None, advice: str
) -> None:
    settings = {"SIMHASH_GATE_VERIFY": verify} if verify else {}
    lines = [copy(f"https://s{n}.com/{m}", "a", **OTHER) for n in range(6) for m in range(n)]
    (finding,) = found(crawl(settings=settings), *lines)
    assert finding.message.endswith(": 5 of s5.com, 4 of s4.com, 3 of s3.com and 2 more domains.")
    assert advice in finding.advice


@pytest.mark.parametrize(
    ("reason", "setting"),
    [
        ("reading took longer than 10 s", "simhash-gate fingerprint"),
        ("unreadable: MemoryError: ", "SIMHASH_GATE_MAX_BYTES"),
        ("the store can't be reached", "SIMHASH_GATE_STORE_FAILURE"),
        ("unreadable: ValueError: x", "simhash-gate fingerprint"),
    ],
)
def test_what_helps_against_an_error_is_named(reason: str, setting: str) -> None:
    (finding,) = found(verdict("a"), verdict("b", "error", reason=reason))
    assert setting in finding.advice


def test_a_site_that_was_redesigned_is_told_as_the_crawl_told_it() -> None:
    crawl_note = {"message": "example.com was redesigned.", "advice": "See SIMHASH_GATE_EXTRACTOR."}
    [finding] = found(verdict("a"), {"crawl_note": crawl_note})
    assert finding.message == "example.com was redesigned."
    assert finding.advice == "See `SIMHASH_GATE_EXTRACTOR`."
    with pytest.raises(ValueError, match="'message' is 7: expected a string"):
        found({"crawl_note": {"message": 7}})


def test_a_crawl_of_which_nothing_was_judged_and_one_of_many_pages_without_text_are_wrong() -> None:
    (finding,) = found(*(verdict(f"{n}", "skipped", reason="status") for n in range(3)))
    assert finding.message == "No page was judged: all were skipped: status (3)."
    pages = [verdict(f"{n}") for n in range(90)]
    empty = [verdict(f"e{n}", "skipped", reason="no text") for n in range(10)]
    assert found(*pages, *empty[:2]) == []
    (finding,) = found(*pages, *empty)
    assert "JavaScript" in finding.advice


def test_what_a_trial_would_have_done_is_told_and_where_it_would_not_end_is_wrong() -> None:
    advice = "Set SIMHASH_GATE_BLOCKED = 'drop'."
    said = [{"message": f"{wrong}.", "advice": advice, "wrong": wrong} for wrong in (True, False)]
    summary = summary_of(*({"crawl_note": crawl_note} for crawl_note in said))
    ((finding,), (note,)) = findings(summary), notes(summary)
    assert (finding.message, note.message) == ("True.", "False.")
    assert finding.advice == "Set `SIMHASH_GATE_BLOCKED` = 'drop'."
