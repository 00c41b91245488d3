"""What a page was asked for: by which callback and visitor, and what its request handed on.

Two pages may say the same and still bring different items. A callback takes what another one
leaves. A request hands half an item on to the page that completes it. A visitor from another
country is led to other prices. So a kept page stands only for requests that are for the same.
"""

from __future__ import annotations

from typing import NamedTuple

from simhash_gate.stores.base import Record


class Asked(NamedTuple):
    """What a page was asked for, as lines of text; "" where nobody knows, or it is nothing.

    The first line of `by` is the name of the callback. All other lines are a name and a digest: in
    `by` of what tells visitors apart, in `carries` of what the request hands on. `gives` tells
    whether the page counts as one of which an item came before any has come.
    """

    by: str = ""
    carries: str = ""
    gives: bool = True


def names_apart(kept: Record, record: Record) -> list[str]:
    """Return the names of what the request of a page has, and the one of a kept page had not.

    "callback" comes first, what tells visitors apart next, and last what is handed on.
    """
    asker, its_asker = record.asker, kept.asker
    if not (asker and its_asker):  # nobody knows one of them
        asker = its_asker = ""
    callback, *visitor = asker.split("\n")
    its_callback, *its_visitor = its_asker.split("\n")
    handed_on = set(record.carries.split("\n")).difference(kept.carries.split("\n"), [""])
    lines = [*sorted({*visitor} ^ {*its_visitor}), *sorted(handed_on)]
    names = dict.fromkeys(line.rpartition(" ")[0] for line in lines)
    return [*["callback"] * (callback != its_callback), *names]


def what_else(kept: Record, record: Record) -> str:
    """Return in words what the request of a page has, and the one of a kept page had not."""
    names = names_apart(kept, record)
    if "callback" in names:
        names[names.index("callback")] = f"callback than {kept.callback}"
    return f"its request has another {', another '.join(names)}" if names else ""
