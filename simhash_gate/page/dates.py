"""Dates as people write them -> ISO 8601, by dateparser, which is loaded for these alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from typing import Any

_ISO = re.compile(
    r"\d{4}-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\s?(?:Z|[+-]\d\d(?::?\d\d)?)?)?)?"
)
_LONGEST = 200
_STRICT: Any = {"STRICT_PARSING": True, "PARSERS": ["absolute-time"]}


def first_date(texts: Iterable[str], language: str | None) -> str | None:
    """Return the first date that some texts say, in ISO 8601, but none of a day to come."""
    tomorrow = (datetime.now(timezone.utc) + timedelta(days=1)).date().isoformat()
    dates = (text if _ISO.fullmatch(text) else _read(text[:_LONGEST], language) for text in texts)
    return next((date for date in dates if date and date[:10] <= tomorrow), None)


def _read(text: str, language: str | None) -> str | None:
    """Return the first whole date in a text, in the language of the page or in English."""
    from dateparser.search import search_dates

    own = (language or "en").partition("-")[0].lower()
    for code in dict.fromkeys((own, "en")):
        with suppress(ValueError):  # of a language that it does not know
            for written, moment in search_dates(text, [code], _STRICT) or ():
                if str(moment.year) in written:  # "1 of 81" is none
                    # It takes 03/04 for the 4th of March in any language, which `parse` does not.
                    days = (_parsed(written, locale) for locale in (language, code))
                    return next(filter(None, days), moment).date().isoformat()
    return None


def _parsed(written: str, locale: str | None) -> datetime | None:
    from dateparser import parse

    found: datetime | None = None
    with suppress(ValueError):
        found = parse(written, locales=[locale or "en"], settings=_STRICT)
    return found
