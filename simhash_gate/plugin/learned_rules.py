"""Rules about URLs that outlive a crawl: recalled from its store, and kept there at its end."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from simhash_gate.plugin.recall import Recall
from simhash_gate.stores.base import URL_RULES, Blob
from simhash_gate.urls.active_rules import EVERY
from simhash_gate.urls.saved import RulesError, entries_of, from_json, load, merged

if TYPE_CHECKING:
    from simhash_gate.gate.judge import Gate
    from simhash_gate.plugin.store_thread import StoreThread
    from simhash_gate.urls.learner import Learner

logger = logging.getLogger(__name__)


class LearnedRules:
    """What a learner knows from earlier crawls, and what later ones are to know."""

    def __init__(self, learner: Learner, store: StoreThread) -> None:
        self._learner = learner
        self._store = store
        self._recall = Recall(store, URL_RULES, self._take)

    def recall(self, scope: str) -> None:
        """Take over what is known of a scope, and of all, as soon as the store has said it."""
        for each in (EVERY, scope):
            self._recall.has(each)

    def _take(self, scope: str, known: bytes) -> None:
        try:
            if known:
                load(self._learner, from_json(known, f"rules of {scope} in the store"))
        except RulesError as error:
            logger.warning("What is known of the URLs of %s was not read: %s", scope, error)

    def keep(self) -> None:
        """Let the store keep what was learned."""
        for scope, entries in entries_of(self._learner).items():
            self._store.submit(partial(_keep, scope=scope, entries=entries))


def _keep(gate: Gate, *, scope: str, entries: list[dict[str, Any]]) -> None:
    """Add rules to those that the store has: other crawls may have written some meanwhile."""
    known = gate.store.get(URL_RULES, scope)
    try:
        rules = merged(known, entries, "the store")
    except RulesError as error:
        logger.warning("What was known of the URLs of %s is replaced: %s", scope, error)
        rules = merged(b"", entries, "the store")
    gate.store.put(Blob(URL_RULES, scope, "", rules))
