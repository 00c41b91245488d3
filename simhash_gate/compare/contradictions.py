"""Contradictions between the claims of two pages: their names, and their offers.

They tell apart two pages that only look alike because of their template.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from simhash_gate.compare.names import are_one, own_words, words_apart
from simhash_gate.compare.offers import contradicting_fields, contradicting_offers
from simhash_gate.compare.sketch import Sketch

_SHOWN = 60

Differs = Literal["names", "offers", "fields", "texts", "repeats", "carried"]
CONTRADICTIONS: frozenset[Differs] = frozenset({"names", "offers", "fields"})


class Difference(NamedTuple):
    """In what two pages differ, and a description."""

    differs: Differs
    reason: str


def contradiction(kept: Sketch, new: Sketch, *, offers: bool = True) -> Difference | None:
    """Return the contradiction between two pages, None if there is none.

    Names contradict if each has a word that the article and the names of the other page lack. They
    also contradict if one name has an additional word that is nowhere on the other page, unless
    `are_one` finds that templates made the difference. Offers contradict if a common field differs.
    """
    if reason := contradicting_fields(kept.compared, new.compared):
        return Difference("fields", reason)
    if reason := _of_names(kept, new):
        return Difference("names", reason)
    if offers and (reason := contradicting_offers(kept, new)):
        return Difference("offers", reason)
    return None


def same_name(kept: Sketch, new: Sketch) -> bool:
    """Tell whether both pages have the same name."""
    return bool(new.all_names) and kept.name_key == new.name_key


def _of_names(kept: Sketch, new: Sketch) -> str:
    headlines = kept.headline, new.headline
    if not all(map(own_words, headlines)):
        return _contradict(kept, kept.all_names, new, new.all_names)
    reason = _contradict(kept, headlines[:1], new, headlines[1:])
    reason = reason or _contradict(kept, [kept.heading], new, [new.heading])
    if reason or _has_own_headline(kept) or _has_own_headline(new):
        return reason
    return _contradict(kept, kept.all_names, new, new.all_names)


def _contradict(kept: Sketch, before: Sequence[str], new: Sketch, now: Sequence[str]) -> str:
    gone, come = words_apart(before, now)
    if not (gone or come):
        return ""
    if gone and come:
        other = _lacks(new, gone, article=True) and _lacks(kept, come, article=True)
        return f"another name: {_shown(before)} → {_shown(now)}" if other else ""
    if not (_lacks(new, gone) or _lacks(kept, come)):
        return ""
    one = are_one(before, new.all_names) or are_one(kept.all_names, now)
    return "" if one else f"a longer name: {_shown(before)} → {_shown(now)}"


def _has_own_headline(page: Sketch) -> bool:
    """Tell whether the headline is the name of the page, and not that of a part ("Description").

    The title shares a word with the name of its page.
    """
    headline_words = own_words(page.headline)
    others = list(map(own_words, page.names))
    return not others or any(not headline_words.isdisjoint(name) for name in others)


def _lacks(page: Sketch, words: Iterable[str], *, article: bool = False) -> bool:
    """Tell whether a page, or its article, lacks one of these words."""
    named = {word for name in page.all_names for word in own_words(name)}
    return any(word not in named and not page.words.have(word, own=article) for word in words)


def _shown(names: Sequence[str]) -> str:
    return " / ".join(repr(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…") for name in names)
