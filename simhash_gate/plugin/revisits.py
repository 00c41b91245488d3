"""Visits to pages that are known: when they were, what the server sent, and pages that are gone."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from simhash_gate.common.times import unix_time
from simhash_gate.gate.judge import Gate
from simhash_gate.plugin.requests import TIME_KEY
from simhash_gate.values import SettingsError

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.utils.request import RequestFingerprinterProtocol

    from simhash_gate.gate.policy import Policy, Site
    from simhash_gate.plugin.store_thread import StoreThread

GONE = (404, 410)
"""What a server answers when a page is no longer there."""
_FOR_GOOD = frozenset({301, 308})


def time_of_visit(request: Request) -> float:
    """Return the Unix time at which the page of a request was seen. Raises `SettingsError`."""
    given = request.meta.get(TIME_KEY)
    if given is None:
        return time.time()
    at = unix_time(given)
    if at is None:
        raise SettingsError(f"meta[{TIME_KEY!r}] = {given!r}: expected a Unix time or ISO 8601")
    return at


def moved_from(request: Request, fingerprinter: RequestFingerprinterProtocol) -> str:
    """Return the fingerprint, in hex, of the request that was redirected to this one for good."""
    urls, reasons = request.meta.get("redirect_urls"), request.meta.get("redirect_reasons")
    if not urls or not reasons or not _FOR_GOOD.issuperset(reasons):
        return ""
    return fingerprinter.fingerprint(request.replace(url=urls[0])).hex()


def without_links(policy: Policy, *, holds_items: bool) -> Policy:
    """Return the policy as it can be kept: without the spider middleware no item is held back."""
    if holds_items or policy.revisit != "links":
        return policy
    return replace(policy, revisit="pass")


def note_gone(
    store: StoreThread, request: Request, site: Site, fingerprinter: RequestFingerprinterProtocol
) -> None:
    """Tell the store that a page is gone: the next copy of it is new. If that fails, it is not."""
    with suppress(Exception):
        name, at = fingerprinter.fingerprint(request).hex(), time_of_visit(request)
        ask = partial(Gate.found_gone, scope=site.scope, url=request.url, request=name, at=at)
        store.submit(ask)  # it logs whether that can be
