"""Contradictions between the claims of two pages: their names, and their offers.

They tell apart two pages that only look alike because of their template.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from simhash_gate.compare.names import is_set_off, own_words, words_apart
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
    a template has set it off. Offers contradict if a common field differs.
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
    if all(map(own_words, headlines)):
        reason = _contradict(kept, headlines[:1], new, headlines[1:])
        reason = reason or _contradict(kept, [kept.heading], new, [new.heading])
        if reason or (_has_own_headline(kept) and _has_own_headline(new)):
            return reason
    elif (reason := _contradict(kept, kept.all_names, new, new.all_names)) or any(headlines):
        return reason
    return _contradict(kept, kept.names, new, new.names)


def _contradict(kept: Sketch, before: Sequence[str], new: Sketch, now: Sequence[str]) -> str:
    gone, come = words_apart(before, now)
    if not (gone or come):
        return ""
    if gone and come:
        apart = _lacks(new, gone, article=True) and _lacks(kept, come, article=True)
        return f"another name: {_shown(before)} → {_shown(now)}" if apart else ""
    page, other = (new, kept) if come else (kept, new)
    name, longer = (before, now) if come else (now, before)
    more = [word for word in gone or come if _lacks(other, [word])]
    if not more or is_set_off(name, longer, [*filter(page.words.have, more)]):
        return ""
    return f"a longer name: {_shown(before)} → {_shown(now)}"


def _has_own_headline(page: Sketch) -> bool:
    """Tell whether the headline is the name of the page, and not that of a part ("Description").

    Then one of its titles has all its words, or has none that it lacks.
    """
    own, titles = own_words(page.headline), filter(None, map(own_words, page.names))
    return not page.names or any(own <= title or title <= own for title in titles)


def _lacks(page: Sketch, words: Iterable[str], *, article: bool = False) -> bool:
    named = {word for name in page.all_names for word in own_words(name)}
    return any(word not in named and not page.words.have(word, own=article) for word in words)


def _shown(names: Sequence[str]) -> str:
    return " / ".join(repr(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…") for name in names)
