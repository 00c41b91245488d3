"""Outages of the store: told once, and ended by trying again after longer and longer waits."""

from __future__ import annotations

import logging
import time

from simhash_gate.stores import StoreUnavailable

logger = logging.getLogger(__name__)

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0


class Outage:
    """The time from the first failure of a store until it has worked again.

    Until `retry_at` (`time.monotonic`) nothing is asked of it.
    """

    def __init__(self, error: Exception) -> None:
        self._began = time.monotonic()
        self._wait = FIRST_WAIT
        self._told = str(error)
        self.retry_at = self._began + self._wait
        logger.error("Pages pass unjudged until the store is back: %s", error)

    def goes_on(self, error: Exception) -> None:
        """Take note that the store still fails, and wait twice as long."""
        self._wait = min(2 * self._wait, LONGEST_WAIT)
        self.retry_at = time.monotonic() + self._wait
        if not isinstance(error, StoreUnavailable) and str(error) != self._told:
            self._told = str(error)
            logger.error("The store is there again, but can't be used: %s", error)

    def end(self) -> None:
        """Say that the store works again."""
        logger.info("The store is back after %.0f s", time.monotonic() - self._began)
