"""What servers say of pages before they are fetched, and whether it is believed."""

import pytest

from simhash_gate.history.notes import note_in, with_note
from simhash_gate.history.validators import (
    FEWEST_COMPARED,
    NOTHING,
    REST,
    Seen,
    Trust,
    Validators,
    conditions,
    is_strong,
    same_version,
    validators_of,
)

DAY = "Wed, 01 May 2024 10:00:00 GMT"
SECONDS_LATER = "Wed, 01 May 2024 10:00:03 GMT"
LATER = "Wed, 01 May 2024 10:01:00 GMT"


@pytest.mark.parametrize(
    ("headers", "known"),
    [
        ({"etag": '"a1"'}, Validators('"a1"')),
        ({"etag": ' W/"a1" ', "last-modified": DAY}, Validators('W/"a1"', DAY)),
        ({"last-modified": DAY, "date": LATER}, Validators("", DAY)),
        # It was made for the answer, or that can't be told apart.
        ({"last-modified": DAY, "date": SECONDS_LATER}, NOTHING),
        ({"last-modified": LATER, "date": DAY}, NOTHING),
        ({"etag": '"a1"', "vary": "Accept, *"}, NOTHING),
        ({"etag": '"a1"', "vary": "Cookie"}, Validators('"a1"')),
        ({"last-modified": "yesterday"}, NOTHING),
        ({"etag": '"%s"' % ("x" * 300)}, NOTHING),
        ({"etag": '"a\x01"'}, NOTHING),
        ({}, NOTHING),
    ],
)
def test_what_a_page_can_be_asked_for_again_with(headers, known) -> None:
    assert validators_of(headers) == known


def test_what_is_asked_with_and_what_promises_the_same_bytes() -> None:
    both = {"If-None-Match": 'W/"a"', "If-Modified-Since": DAY}
    assert conditions(Validators('W/"a"', DAY)) == both
    assert conditions(Validators('"a-gzip"'))["If-None-Match"] == '"a-gzip", "a"'
    assert conditions(Validators("a;br"))["If-None-Match"] == "a;br, a"
    assert conditions(NOTHING) == {}
    # Only a strong ETag promises the same bytes.
    assert is_strong(Validators('"a"', DAY))
    assert not is_strong(Validators('W/"a"'))
    assert not is_strong(Validators("", DAY))


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        (Validators('"a"'), Validators('"a"'), True),
        (Validators('"a"'), Validators('W/"a"'), True),
        (Validators('W/"a-gzip"'), Validators('"a"'), True),
        (Validators('"a"', DAY), Validators('"b"', DAY), False),
        (Validators("", DAY), Validators("", DAY), True),
        (Validators("", DAY), Validators("", LATER), False),
        (Validators("", DAY), Validators('"a"', DAY), None),
        (Validators('"a"'), NOTHING, None),
        (NOTHING, NOTHING, None),
    ],
)
def test_whether_two_answers_name_one_version(before, now, same) -> None:
    assert same_version(before, now) is same
    assert same_version(now, before) is same


def learn(trust: Trust, number: int, *, same: bool, changed: bool, plain: bool = True) -> list[str]:
    return [
        state
        for page in range(number)
        if (state := trust.learn(Seen(f"/{page}", 1e9 + page, same, changed, plain)))
    ]


def test_an_honest_server_stays_believed_and_old_evidence_fades() -> None:
    trust = Trust()
    assert learn(trust, 1_500, same=True, changed=False) == []
    assert learn(trust, 100, same=False, changed=True) == []
    assert trust.state == ""
    assert FEWEST_COMPARED <= trust.compared <= 1_000
    assert len(trust.recent) == 20


def test_one_page_that_changes_under_one_name_is_no_reason_and_a_second_one_is() -> None:
    trust = Trust()
    learn(trust, 200, same=True, changed=False)
    for visit in range(30):
        assert trust.learn(Seen("/clock", 1e9 + visit, True, True)) == ""
    assert trust.learn(Seen("/other", 2e9, True, True)) == "wrong"
    assert [example.url for example in trust.examples] == ["/clock", "/other"]
    assert trust.wrong == 31
    assert learn(trust, 5, same=True, changed=True) == []  # it is said once


def test_few_misses_among_many_changes_that_are_told_are_no_reason() -> None:
    trust = Trust()
    learn(trust, 40, same=False, changed=True)
    assert learn(trust, 2, same=True, changed=True) == []
    assert trust.learn(Seen("/third", 1e9, True, True)) == "wrong"  # of the last 20 changes
    asked = Trust()  # what a condition told is not held against what it hid
    learn(asked, 100, same=False, changed=True, plain=False)
    assert asked.recent == []
    assert learn(asked, 2, same=True, changed=True) == ["wrong"]


def test_nothing_is_left_to_a_server_before_enough_of_what_it_says_was_compared() -> None:
    trust = Trust()
    assert [trust.is_tested(visits) for visits in (0, 58, 59)] == [False, False, True]
    trust.learn(Seen("/missed", 1e9, same=True, changed=True))
    assert not trust.is_tested(1_000)
    trust.learn(Seen("/told", 1e9, same=False, changed=True))
    assert [trust.is_tested(visits) for visits in (0, 4, 5)] == [False, False, True]


def test_after_a_rest_a_domain_is_tried_again_and_rests_longer_the_next_time() -> None:
    trust = Trust()
    learn(trust, 2, same=True, changed=True)
    assert trust.rested(trust.since + 29 * 86_400) is trust
    again = trust.rested(trust.since + REST)
    assert (again.state, again.compared, again.times) == ("", 0, 1)
    learn(again, 2, same=True, changed=True)
    assert again.rested(again.since + REST).state == "wrong"
    assert again.rested(again.since + 2 * REST).state == ""


def test_evidence_is_kept_as_json() -> None:
    trust = Trust()
    learn(trust, 7, same=True, changed=False)
    learn(trust, 3, same=True, changed=True)
    trust.learn(None)
    assert Trust.of_json(vars(trust)) == trust
    for said in (None, {}, {**vars(trust), "state": "?"}, {**vars(trust), "right": "x"}):
        with pytest.raises(ValueError, match="no evidence"):
            Trust.of_json(said)


def test_each_kind_of_notes_leaves_the_others_as_they_are() -> None:
    notes = with_note(with_note(b"", "redesign", {"at": 1}), "validators", {"a": 2})
    assert note_in(notes, "redesign") == {"at": 1}
    fewer = with_note(notes, "validators", {})
    assert (note_in(fewer, "redesign"), note_in(fewer, "validators")) == ({"at": 1}, {})
    assert with_note(with_note(b"", "a", {"b": 1}), "a", {}) == b""
    assert note_in(b"\xff no JSON", "a") == {}
    assert note_in(b"[1]", "a") == {}
    assert note_in(with_note(b"\xff no JSON", "a", {"b": 1}), "a") == {"b": 1}
