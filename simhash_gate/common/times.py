"""Moments as sources write them: Unix times, ISO 8601."""

from __future__ import annotations

import re
from datetime import date, datetime, timezone
from math import isfinite

_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(?:[.,](\d{1,9}))? ?(Z|[+-]\d\d:?\d\d)?)?",
    re.IGNORECASE | re.ASCII,
)


def unix_time(value: object) -> float | None:
    """Return the Unix time of a number, a date or a text of ISO 8601; None for anything else.

    A time without its zone is one of UTC.
    """
    if isinstance(value, str):
        return _of_text(value.strip())
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=timezone.utc)).timestamp()
    if isinstance(value, date):
        return _of_text(value.isoformat())
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return float(value)


def _of_text(text: str) -> float | None:
    found = _ISO.fullmatch(text)
    if found is None:
        return None
    day, minute, second, fraction, zone = found.groups()
    zone = "+00:00" if zone in (None, "Z", "z") else f"{zone[:3]}:{zone[-2:]}"
    try:
        moment = datetime.fromisoformat(f"{day}T{minute or '00:00'}{second or ':00'}{zone}")
    except ValueError:
        return None
    return moment.timestamp() + (float(f"0.{fraction}") if fraction else 0.0)
