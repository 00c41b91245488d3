"""What servers say of pages before they are fetched, and whether it is believed."""

import json

import pytest

from simhash_gate.history.notes import note_in, with_note
from simhash_gate.history.validators import (
    NOTHING,
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


DAYS = 86_400.0


def visits(number: int, *, same: bool, changed: bool) -> Trust:
    trust = Trust()
    for _ in range(number):
        trust = trust.then(Trust.of_visit("/page", 1e9, same=same, changed=changed))
    return trust


TOLD = Trust(4, 1)


def lie(url: str, at: float = 1e9) -> Trust:
    return Trust.of_visit(url, at, same=True, changed=True)


def test_nothing_is_left_to_a_server_before_enough_of_what_it_says_was_compared() -> None:
    same = [visits(number, same=True, changed=False).believed(1e9) for number in (0, 58, 59)]
    assert same == [False, False, True]
    one = visits(1, same=False, changed=True)
    told = [visits(number, same=True, changed=False).then(one) for number in (0, 3, 4)]
    assert [trust.believed(1e9) for trust in told] == [False, False, True]


def test_nothing_is_left_to_validators_that_change_with_each_answer() -> None:
    """A server may answer 304 to whatever is asked."""
    idle = visits(200, same=False, changed=False).then(visits(200, same=False, changed=True))
    assert not idle.believed(1e9)
    assert idle.right == 0


def test_what_was_right_before_a_lie_counts_no_more_and_who_lies_again_tells_nothing() -> None:
    right = visits(200, same=True, changed=False)
    trust = right.then(lie("/clock"))
    assert trust == lie("/clock")
    assert not trust.believed(1e9)
    trust = trust.then(TOLD)
    for visit in range(30):
        trust = trust.then(lie("/clock", 1e9 + visit))
    assert (trust.wrong, trust.believed(1e9)) == (False, True)


def test_a_domain_is_wrong_after_a_second_page_and_rests_after_each_other_lie() -> None:
    honest = visits(4, same=True, changed=False).then(visits(19, same=False, changed=True))
    wrong = honest.then(lie("/a")).then(honest).then(lie("/b"))
    assert (wrong.right, wrong.told, wrong.liar, wrong.wrong) == (0, 0, "/b", True)
    again = wrong.then(honest)
    assert [again.believed(1e9 + days * DAYS) for days in (0, 29, 30)] == [False, False, True]
    later = again.then(lie("/b", 1e9 + 10 * DAYS))
    assert later.believed(1e9 + 30 * DAYS)
    later = again.then(lie("/c", 1e9 + 20 * DAYS)).then(honest)
    assert [later.believed(1e9 + days * DAYS) for days in (49, 50)] == [False, True]


def test_few_lies_among_many_changes_that_are_told_are_no_reason() -> None:
    honest = visits(20, same=False, changed=True)
    assert not honest.then(lie("/a")).then(honest).then(lie("/b")).then(honest).wrong


def test_what_two_crawls_have_seen_adds_up_whichever_of_them_saw_the_lies() -> None:
    seen = visits(7, same=True, changed=False)
    assert seen.then(seen) == Trust(14)
    assert seen.then(lie("/a").then(seen)) == Trust(7, 0, "/a", 1e9)
    one, other = lie("/a").then(seen), seen.then(lie("/b")).then(seen)
    assert one.then(other) == Trust(7, 0, "/b", 1e9, wrong=True)
    both = lie("/a").then(lie("/b")).then(seen)
    assert both.wrong
    for before in (Trust(), seen, lie("/b"), lie("/c")):
        assert before.then(both).wrong


def test_trust_is_kept_as_json() -> None:
    trust = lie("/a").then(lie("/b", 3.0)).then(visits(5, same=False, changed=True)).then(TOLD)
    assert Trust.of_json(json.loads(json.dumps(trust))) == trust == Trust(4, 6, "/b", 3.0, True)
    for values in (None, {}, [1, 2], [1, "x", "", 0, 0], [1] * 6, "abcde", [1e999, 0, "", 0, 0]):
        assert Trust.of_json(values) == Trust()


def test_each_kind_of_notes_leaves_the_others_as_they_are() -> None:
    notes = with_note(with_note(b"", "redesign", {"at": 1}), "validators", {"a": 2})
    assert note_in(notes, "redesign") == {"at": 1}
    fewer = with_note(notes, "validators", {})
    assert (note_in(fewer, "redesign"), note_in(fewer, "validators")) == ({"at": 1}, {})
    assert with_note(with_note(b"", "a", {"b": 1}), "a", {}) == b""
    assert note_in(b"\xff no JSON", "a") == {}
    assert note_in(b"[1]", "a") == {}
    assert note_in(with_note(b"\xff no JSON", "a", {"b": 1}), "a") == {"b": 1}
