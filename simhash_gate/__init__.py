"""A cache gate for Scrapy: a page that says what a recent page said is dropped, with a reason.

The names below are imported when they are first used: a process that only reads pages must not pay
for Scrapy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simhash_gate.collection.pairs import near_duplicate_pairs as near_duplicate_pairs
    from simhash_gate.fingerprints.hamming import hamming_distance as hamming_distance
    from simhash_gate.fingerprints.hamming import similarity as similarity
    from simhash_gate.fingerprints.index import HammingIndex as HammingIndex
    from simhash_gate.fingerprints.simhash import simhash as simhash
    from simhash_gate.gate.judge import Gate as Gate
    from simhash_gate.gate.policy import Policy as Policy
    from simhash_gate.gate.verdict import Verdict as Verdict
    from simhash_gate.gate.verdict import verdict_of as verdict_of
    from simhash_gate.gate.visit import Visit as Visit
    from simhash_gate.offline.why import why as why
    from simhash_gate.options import Options as Options
    from simhash_gate.options import pipeline_version as pipeline_version
    from simhash_gate.page import Page as Page
    from simhash_gate.pipeline import read_page as read_page
    from simhash_gate.plugin.addon import Addon as Addon
    from simhash_gate.plugin.followed import FollowedPage as FollowedPage
    from simhash_gate.plugin.followed import Stage as Stage
    from simhash_gate.plugin.listeners import Crawl as Crawl
    from simhash_gate.plugin.listeners import Judged as Judged
    from simhash_gate.plugin.listeners import Listener as Listener
    from simhash_gate.plugin.middleware import NearDuplicate as NearDuplicate
    from simhash_gate.plugin.middleware import SimhashGateMiddleware as SimhashGateMiddleware
    from simhash_gate.plugin.site_crawl import SiteSpider as SiteSpider
    from simhash_gate.plugin.spider_middleware import ConditionalRequests as ConditionalRequests
    from simhash_gate.plugin.spider_middleware import (
        SimhashGateInnerSpiderMiddleware as SimhashGateInnerSpiderMiddleware,
    )
    from simhash_gate.plugin.spider_middleware import (
        SimhashGateSpiderMiddleware as SimhashGateSpiderMiddleware,
    )
    from simhash_gate.stores import Store as Store
    from simhash_gate.stores import StoreError as StoreError
    from simhash_gate.stores import open_store as open_store

_NAMES = {
    "collection.pairs": "near_duplicate_pairs",
    "fingerprints.hamming": "hamming_distance similarity",
    "fingerprints.index": "HammingIndex",
    "fingerprints.simhash": "simhash",
    "gate.judge": "Gate",
    "gate.policy": "Policy",
    "gate.verdict": "Verdict verdict_of",
    "gate.visit": "Visit",
    "offline.why": "why",
    "options": "Options pipeline_version",
    "page": "Page",
    "pipeline": "read_page",
    "plugin.addon": "Addon",
    "plugin.followed": "FollowedPage Stage",
    "plugin.listeners": "Crawl Judged Listener",
    "plugin.middleware": "NearDuplicate SimhashGateMiddleware",
    "plugin.site_crawl": "SiteSpider",
    "plugin.spider_middleware": """
        ConditionalRequests SimhashGateInnerSpiderMiddleware SimhashGateSpiderMiddleware
    """,
    "stores": "StoreError open_store",
    "stores.store": "Store",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"simhash_gate.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
