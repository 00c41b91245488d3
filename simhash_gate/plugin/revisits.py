"""Visits to pages that are known: when they were, what the server sent, and pages that are gone."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from simhash_gate.common.times import unix_time
from simhash_gate.common.urls import without_credentials
from simhash_gate.gate.judge import Gate
from simhash_gate.plugin.requests import TIME_KEY
from simhash_gate.values import SettingsError

if TYPE_CHECKING:
    from scrapy import Request

    from simhash_gate.gate.policy import Policy, Site
    from simhash_gate.plugin.page_keys import PageKeys
    from simhash_gate.plugin.store_thread import StoreThread

GONE = (404, 410)
"""What a server answers when a page is no longer there."""


def time_of_visit(request: Request) -> float:
    """Return the Unix time at which the page of a request was seen. Raises `SettingsError`."""
    given = request.meta.get(TIME_KEY)
    if given is None:
        return time.time()
    at = unix_time(given)
    if at is None:
        raise SettingsError(f"meta[{TIME_KEY!r}] = {given!r}: expected a Unix time or ISO 8601")
    return at


def without_links(policy: Policy, *, holds_items: bool) -> Policy:
    """Return the policy as it can be kept: without the spider middleware no item is held back."""
    if holds_items or policy.revisit != "links":
        return policy
    return replace(policy, revisit="pass")


def note_gone(store: StoreThread, keys: PageKeys, request: Request, site: Site) -> None:
    """Tell the store that a page is gone: the next copy of it is new. If that fails, it is not."""
    with suppress(Exception):
        name, at = keys.of_request(request, site.scope).key, time_of_visit(request)
        url = without_credentials(request.url)
        ask = partial(Gate.found_gone, scope=site.scope, url=url, request=name, at=at)
        store.submit(ask)  # it logs whether that can be
