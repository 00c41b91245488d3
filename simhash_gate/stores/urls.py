"""What the URLs of stores on servers have in common: parameters of the store's own, passwords."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

LEASE = 60.0
TIMEOUT = 5.0
_DAY = 86_400


def without_password(url: str) -> str:
    """Return a store URL as it may be logged: rather too little of it, if it is misspelt."""
    shown = re.sub(r"^([^:/]*:)//(?!/).*@", r"\1//***@", url)
    return re.sub(r"(password=)[^&]*", r"\1***", shown)


def take_parameters(url: str, names: Collection[str]) -> tuple[str, dict[str, str]]:
    """Return a URL without the query parameters of these names, and their values."""
    base, _, query = url.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    others = [(name, value) for name, value in pairs if name not in names]
    if others:
        base += "?" + urlencode(others, quote_via=quote)
    return base, {name: value for name, value in pairs if name in names}


def lease_and_timeout(given: Mapping[str, str]) -> tuple[float, float]:
    """Return the seconds that the parameters `lease` and `timeout` give. Raises ValueError."""
    try:
        lease, timeout = float(given.get("lease", LEASE)), float(given.get("timeout", TIMEOUT))
    except ValueError:
        lease = timeout = 0.0
    if not (0.001 <= lease <= _DAY and 0.001 <= timeout <= _DAY):
        raise ValueError("timeout and lease are seconds, more than 0 and no more than a day")
    return lease, timeout
