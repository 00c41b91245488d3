"""Selectors of the user's own that match nothing: said once, for each domain and selector."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING

from simhash_gate.common.wording import how_many
from simhash_gate.fingerprints.claims import decode_claims
from simhash_gate.settings import PREFIX

if TYPE_CHECKING:
    from simhash_gate.gate.verdict import Verdict

logger = logging.getLogger(__name__)

PAGES = 20
"""A selector that has matched nothing on so many pages of a domain is reported."""
_MOST = 10_000  # domains and selectors that are counted


class SelectorWatch:
    """Counts on how many pages in a row a selector of `compare` has matched nothing."""

    def __init__(self) -> None:
        self._missed: Counter[tuple[str, str]] = Counter()
        self._matched: set[tuple[str, str]] = set()

    def judged(self, domain: str, verdict: Verdict) -> None:
        """Take note of what the selectors found on a page."""
        page = verdict.page
        if not verdict.policy.compare or page is None or not page.claims:
            return
        for selector, said in decode_claims(page.claims).compared:
            key = domain, selector
            if key in self._matched or len(self._missed) + len(self._matched) > _MOST:
                continue
            if said:
                self._matched.add(key)
                self._missed.pop(key, None)
                continue
            self._missed[key] += 1
            if self._missed[key] == PAGES:
                logger.warning(
                    "%sCOMPARE: %r has matched nothing on %s of %s: it tells no pages apart",
                    PREFIX, selector, how_many(PAGES, "page"), domain,
                )  # fmt: skip
