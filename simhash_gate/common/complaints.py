"""How it is told what can't be used: an input, a file, an extra that is not installed."""

from __future__ import annotations

from collections.abc import Callable

Complain = Callable[[str, str], None]
"""Called with the place of an input that can't be used (`file`, `file:line`), and why."""


class MissingExtraError(Exception):
    """An optional dependency is not installed; the message says how to install it."""


def why(error: OSError) -> str:
    """Return what went wrong, without the path that the place names already."""
    return error.strerror or str(error)
