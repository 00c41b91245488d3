"""The columns of the report's tables. On a phone each row is a card, which repeats their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Column(NamedTuple):
    """The name of a column, and whether it has numbers."""

    name: str
    number: bool = False


Columns = tuple[Column, ...]


FLEET = (
    *("Crawler", "Responses #", "Skipped #", "Judged #", "Delivered #", "Dropped #"),
    *("Held back #", "Like its own #", "Like another's #", "Like an earlier #", "Errors #", "Log"),
)
"""The crawler, the fields of `fleet.Row`, and where its verdicts were read."""


def tables(shown: Sequence[str], *, by_time: bool) -> dict[str, Columns]:
    """Return the columns of each table; `shown` are the outcomes that it counts."""
    outcomes = tuple(Column(outcome.capitalize(), True) for outcome in shown)
    begin = Column("From (UTC)") if by_time else Column("From page", True)
    return {
        "settings": _columns("Pages of", "Settings that are not the default"),
        "distances": _columns("Bits apart #", "Outcome", "Pages #", "Another name #"),
        "timeline": (begin, *outcomes),
        "domains": (
            *_columns("Domain", "Judged #"),
            *outcomes,
            *_columns("Skipped #", "Dropped #", "% dropped #", "Saved #", "Another name #"),
        ),
        "fleet": _columns(*FLEET),
        "audit": _columns(
            *("Domain", "Wrong drops", "Audited #", "Compared #", "Wrong #", "At least % #"),
            *("At most % #", "Fields that differed"),
        ),
        "near": _columns(
            *("Page", "Nearest kept page", "Bits #", "Words #", "Words of the kept page #"),
            "Why it passed",
        ),
        "copies": _columns("Copy", "Bits #", "Words #", "What differs"),
        "unsent": _columns("Domain", "What", "Why", "Requests #", "Examples"),
        "unjudged": _columns("Outcome", "Why", "Pages #"),
    }


def labels(of: Mapping[str, Columns]) -> str:
    """Return the style by which a cell says the name of its column, where rows are cards."""
    rules = (
        f'.t-{table} td:nth-child({place})::before {{ content: "{column.name}"; }}'
        for table, columns in of.items()
        for place, column in enumerate(columns, 1)
    )
    return "@media (max-width: 40rem) {\n" + "\n".join(rules) + "\n}\n"


def _columns(*names: str) -> Columns:
    """Return columns; one with numbers has a # behind its name."""
    return tuple(Column(name.removesuffix(" #"), name.endswith(" #")) for name in names)
