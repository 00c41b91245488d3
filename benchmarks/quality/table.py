"""Tables in Markdown, and the forms that figures have in them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose first column is text, and whose others are numbers."""
    lines = [columns, ["---", *["--:"] * (len(columns) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def share(value: float) -> str:
    """Write a share with three digits."""
    return "–" if math.isnan(value) else f"{value:.3f}"


def percent(value: float, digits: int = 1) -> str:
    """Write a share in per cent."""
    return "–" if math.isnan(value) else f"{100 * value:.{digits}f} %"


def finite(value: Any) -> Any:
    """Return a figure as JSON has it: None for no figure."""
    return None if isinstance(value, float) and math.isnan(value) else value
