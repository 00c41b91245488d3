"""What the URLs of stores have in common: passwords, refusals, a store's own parameters."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from simhash_gate.stores.base import StoreError

_DAY = 86_400


class Server(NamedTuple):
    """A store URL taken apart: what the driver is given, and the values of the store's own.

    `name` is that of the store in messages; `lease` and `timeout` are in seconds.
    """

    url: str
    name: str
    lease: float
    timeout: float
    own: dict[str, str]


def without_password(url: str) -> str:
    """Return a store URL as it may be logged: rather too little of it, if it is misspelt."""
    shown = re.sub(r"^([^:/]*:)//(?!/).*@", r"\1//***@", url)
    return re.sub(r"(password=)[^&]*", r"\1***", shown)


def refusal(url: str, why: str) -> StoreError:
    """Return what is to be raised for a URL that no store can be opened by."""
    return StoreError(f"store URL {without_password(url)!r}: {why}")


def read_server(kind: str, url: str, **defaults: str) -> Server:
    """Take the query parameters of these names out of a URL, and `lease` and `timeout`.

    Raises ValueError if one of these two is no number of seconds.
    """
    base, _, query = url.partition("?")
    given = parse_qsl(query, keep_blank_values=True)
    own = {"lease": "60", "timeout": "5"} | defaults
    others = [(name, value) for name, value in given if name not in own]
    own |= {name: value for name, value in given if name in own}
    if others:
        base += "?" + urlencode(others, quote_via=quote)
    try:
        lease, timeout = float(own["lease"]), float(own["timeout"])
    except ValueError:
        lease = timeout = 0.0
    if not (0.001 <= lease <= _DAY and 0.001 <= timeout <= _DAY):
        raise ValueError("timeout and lease are seconds, more than 0 and no more than a day")
    return Server(base, f"{kind} store {without_password(url)}", lease, timeout, own)
