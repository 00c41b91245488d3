"""Times as people write them: points in time (Unix times, ISO 8601) and spans such as 7d."""

from __future__ import annotations

import re
from datetime import date, datetime, timezone

from simhash_gate.common.wording import how_many, require_time

_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(?:[.,](\d{1,9}))? ?(Z|[+-]\d\d:?\d\d)?)?",
    re.IGNORECASE | re.ASCII,
)
_SPAN = re.compile(r"(\d+(?:\.\d+)?) ?([smhd])")
_NOUNS = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
_SECONDS = {noun[0]: size for noun, size in _NOUNS.items()}


def seconds_of(span: str) -> float:
    """Return the seconds of a span of time such as 90s, 12h or 7d. Raises ValueError."""
    match = _SPAN.fullmatch(span.strip())
    if match is None:
        raise ValueError(f"{span!r}: expected a number and s, m, h or d, such as 7d")
    return float(match[1]) * _SECONDS[match[2]]


def span_of(seconds: float) -> str:
    """Return a span of time in words, in its largest unit: "3 days", "1 hour"."""
    noun = next((noun for noun, size in _NOUNS.items() if seconds >= size), "second")
    return how_many(int(seconds // _NOUNS[noun]), noun)


def unix_time(value: object) -> float | None:
    """Return the Unix time of a number, a date or a text of ISO 8601, None for anything else.

    A time without a zone is in UTC. The years 1 to 9999 have times.
    """
    if isinstance(value, str):
        value = _of_text(value.strip())
    elif isinstance(value, datetime):
        value = (value if value.tzinfo else value.replace(tzinfo=timezone.utc)).timestamp()
    elif isinstance(value, date):
        value = _of_text(value.isoformat())
    try:
        return require_time(value)
    except ValueError:
        return None


def shown(seconds: float) -> str:
    """Return a Unix time as text: 2024-06-01T12:00:00Z."""
    try:
        time_of_day = datetime.fromtimestamp(seconds, timezone.utc)
    except (ValueError, OverflowError, OSError):
        return str(seconds)
    return time_of_day.isoformat(timespec="seconds").replace("+00:00", "Z")


def _of_text(text: str) -> float | None:
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    day, minute, second, fraction, zone = match.groups()
    zone = "+00:00" if zone in (None, "Z", "z") else f"{zone[:3]}:{zone[-2:]}"
    try:
        moment = datetime.fromisoformat(f"{day}T{minute or '00:00'}{second or ':00'}{zone}")
    except ValueError:
        return None
    return moment.timestamp() + (float(f"0.{fraction}") if fraction else 0.0)
