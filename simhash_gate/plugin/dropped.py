"""A dropped request as it is remembered until nothing can go wrong with what it was dropped for."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from simhash_gate.plugin.names import VERDICT_KEY

if TYPE_CHECKING:
    from scrapy import Request

    from simhash_gate.gate.policy import Policy
    from simhash_gate.gate.verdict import Verdict
    from simhash_gate.page.page import Page

MOST_BYTES = 32 << 20
"""What all dropped requests of a crawl that are remembered take, roughly."""

_OBJECTS = 2048  # bytes of a request and of what is known of its page, without their contents
_DEEPEST = 4


class Dropped(NamedTuple):
    """A request as it can be sent again, and what its page said; `size` is in bytes."""

    request: Request
    fingerprint: str
    page: Page
    policy: Policy
    scope: str
    size: int


def remembered(request: Request, fingerprint: str, verdict: Verdict) -> Dropped:
    """Return what is remembered of a request whose page was dropped."""
    assert verdict.page is not None
    assert verdict.match is not None
    page = replace(verdict.page, article=b"")  # its Markdown is not needed to compare it
    again = request.replace(
        meta={key: value for key, value in request.meta.items() if key != VERDICT_KEY},
        dont_filter=True,
    )
    contents = (again.url, again.body, dict(again.headers), again.meta, again.cb_kwargs)
    size = _OBJECTS + page.weight + sum(map(weight, contents))
    return Dropped(again, fingerprint, page, verdict.policy, verdict.match.record.scope, size)


def weight(value: Any, depth: int = 0) -> int:
    """Return the bytes that a value takes, as far as it is made of what JSON has, and bytes."""
    size = sys.getsizeof(value, 0)
    if depth < _DEEPEST:
        if isinstance(value, dict):
            size += sum(weight(part, depth + 1) for pair in value.items() for part in pair)
        elif isinstance(value, (list, tuple, set)):
            size += sum(weight(part, depth + 1) for part in value)
    return size
