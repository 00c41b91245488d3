"""Wrong settings end a crawl with one line in its log, where there would be a traceback.

The exception is what it was: it stops the crawl, and a script that awaits the crawl gets it. Only
what is logged of it changes, where nobody awaited it.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from twisted.logger import (
    FilteringLogObserver,
    PredicateResult,
    globalLogBeginner,
    globalLogPublisher,
)

from simhash_gate.values import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from twisted.logger import LogEvent

# What a command of Scrapy or a script does not await ends in one of these.
_LOGGERS = ("asyncio", "twisted")
_HEADING = "Unhandled error in Deferred:"


@contextmanager
def told_in_one_line() -> Iterator[None]:
    """Let a `SettingsError` through, and see to it that no traceback of it is logged."""
    try:
        yield
    except SettingsError:
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(_one_line[name])
        _let_twisted_print_none()
        raise


class _Headings:
    """Holds back the heading that Twisted writes above a traceback, until it is known whose."""

    def __init__(self, emit: Callable[[Any], object]) -> None:
        self._emit = emit
        self._held: Any = None

    def passes(self, entry: Any, text: str, error: object) -> bool:
        """Tell whether an entry of a log goes on: a heading not yet, and none of ours."""
        held, self._held = self._held, None
        if isinstance(error, SettingsError):
            return False
        if held is not None:
            self._emit(held)
        if text == _HEADING:
            self._held = entry
        return text != _HEADING


class _OneLine(logging.Filter):
    """Makes one line of the record of a `SettingsError`."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._headings = _Headings(logging.getLogger(name).callHandlers)

    def filter(self, record: logging.LogRecord) -> bool:
        """Let all pass, but for the heading of a traceback of ours."""
        error = record.exc_info[1] if record.exc_info else None
        passes = self._headings.passes(record, str(record.msg), error)
        if isinstance(error, SettingsError):
            record.name = "simhash_gate"
            record.msg, record.args = "The crawl does not start: %s", (str(error),)
            record.exc_info = record.exc_text = None
            return True
        return passes


def _let_twisted_print_none() -> None:
    """Keep Twisted from printing the traceback to stderr, beside the log.

    It prints what is critical until its own logging begins, which Scrapy never does.
    """
    printing: Any = getattr(globalLogBeginner, "_temporaryObserver", None)
    if printing is None or isinstance(printing, FilteringLogObserver):
        return
    headings = _Headings(printing)

    def print_it(event: LogEvent) -> Any:
        error = getattr(event.get("log_failure"), "value", None)
        passes = headings.passes(event, event.get("log_format") or "", error)
        return PredicateResult.maybe if passes else PredicateResult.no

    filtered: Any = FilteringLogObserver(printing, cast("Any", [print_it]))
    globalLogPublisher.removeObserver(printing)
    globalLogPublisher.addObserver(filtered)
    globalLogBeginner._temporaryObserver = filtered  # for it to be ended as the other would be


_one_line = {name: _OneLine(name) for name in _LOGGERS}
