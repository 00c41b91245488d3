"""Moments in all the ways in which sources write them."""

from datetime import date, datetime, timedelta, timezone

import pytest

from simhash_gate.common.times import seconds_of, unix_time

NOON = 1717243200.0  # of 1 June 2024, UTC


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (NOON, NOON),
        ("2024-06-01T12:00:00Z", NOON),
        ("2024-06-01T12:00:00.123456789Z", NOON + 0.123456789),
        ("2024-06-01 14:00:00+02:00", NOON),
        ("2024-06-01T07:00:00-0500", NOON),
        (" 2024-06-01T12:00 ", NOON),
        ("2024-06-01", NOON - 43_200),
        (datetime(2024, 6, 1, 12), NOON),
        (datetime(2024, 6, 1, 14, tzinfo=timezone(timedelta(hours=2))), NOON),
        (date(2024, 6, 1), NOON - 43_200),
        ("1969-12-31", -86_400),
        (-86_400, -86_400),
    ],
)
def test_a_moment_is_a_unix_time(value, seconds: float) -> None:
    assert unix_time(value) == pytest.approx(seconds, abs=1e-6)


def test_a_span_is_a_number_and_a_unit() -> None:
    assert [seconds_of(span) for span in ("90s", "1.5m", "12h", " 7 d ")] == [
        *(90, 90, 43_200, 604_800)
    ]
    for wrong in ("", "7", "d", "7w", "-1d", "1d2h"):
        with pytest.raises(ValueError, match="such as 7d"):
            seconds_of(wrong)


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, "", "yesterday", "2024-13-01", "2024-06-01T25:00Z", float("nan"), [2024]),
        *(10**400, 1e308, -1e308, "0001-01-01T00:00:00+10:00"),
        *(b"2024-06-01", "20240601120000", "٢٠٢٤-06-01"),
    ],
)
def test_what_is_no_moment_is_none(value) -> None:
    assert unix_time(value) is None
