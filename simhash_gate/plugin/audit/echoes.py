"""What items only repeat of their pages' verdicts: it differs on every page, copies too.

Where a text has what nobody but the gate says (a reason, the kept page's URL, a fingerprint), that
is taken out. Anything else could be the page's own as well: a shop's condition is "new", a rating
3. So a field, or a place in one, counts as an echo as long as it has said what one and the same
attribute of the verdict says, on every page that had it.
"""

from __future__ import annotations

import re
from dataclasses import fields
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.fingerprints.words import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simhash_gate.gate.verdict import Verdict

Path = tuple[str, ...]
"""Where a value stands: the name of a field, and the keys and numbers that lead into it."""

MOST_PLACES = 1_000
MOST_LEAVES = 200
"""Places in one field that are looked at."""
SHORT = 20
"""Words up to which a text may be made of nothing but what the verdict says."""

_LEAST_TELLING = 8  # characters
_LONGEST_FRAME = 500
_TELLING = {"reason", "url", "request", "fingerprint", "digest", "run"}
_NOTHING = {"", "-", "–", "—", "0", "0.0", "-1", "None"}
"""What stands for a value that a verdict does not have."""
_WHOLE = ("Verdict(outcome=", "Page(title=", "Match(record=", "Record(scope=")


class Said:
    """What the verdict on one page says; `as_text` is how a value of an item is made a text."""

    def __init__(self, verdict: Verdict, as_text: Callable[[Any], str]) -> None:
        self._verdict = verdict
        self._attributes: dict[str, set[Path]] = {}
        telling = {verdict.reason}
        for path, value in _attributes(verdict):
            shown = [as_text(value)]
            if path[-1] in ("fingerprint", "digest") and value is not None:
                shown.append(to_hex(value))
            for text in filter(None, shown):
                self._attributes.setdefault(text, set()).add(path)
                if path[-1] in _TELLING:
                    telling.add(text)
        self._present = {path for paths in self._attributes.values() for path in paths}
        self._telling = sorted(
            (text for text in telling if len(text) >= _LEAST_TELLING), key=len, reverse=True
        )

    @cached_property
    def _any(self) -> re.Pattern[str]:
        values = sorted({*self._attributes, "None"}, key=len, reverse=True)
        return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, values))})(?!\w)")

    def attributes(self, text: str) -> set[Path]:
        """Return the attributes that say exactly this."""
        return self._attributes.get(text, set())

    def lacks(self, attribute: Path, text: str) -> bool:
        """Tell whether an attribute has no value, or this one."""
        return attribute not in self._present or attribute in self.attributes(text)

    def taken_out(self, text: str) -> str:
        """Return a text without what only the gate can have said; "" if nothing is left of it."""
        left = text
        if any(beginning in left for beginning in _WHOLE):
            verdict = self._verdict
            for thing in (verdict, verdict.page, verdict.match, verdict.record):
                left = left.replace(str(thing), "") if thing is not None else left
        for telling in self._telling:
            left = left.replace(telling, "")
        if left == text or len(left) > _LONGEST_FRAME:
            return left
        if len(words(left)) <= SHORT:
            left = self._any.sub("", left)
        return left if words(left) else ""

    def frame(self, text: str) -> str | None:
        """Return what stands around the verdict's values in a short text with its outcome."""
        outcome = self._verdict.outcome
        if outcome not in text or len(text) > _LONGEST_FRAME or outcome not in words(text):
            return None
        return " ".join(self._any.sub("", text).split())


class Echoes:
    """The places in items that have only ever repeated the same attribute of a verdict."""

    def __init__(self) -> None:
        self._of: dict[Path, set[Path]] = {}

    def learn(self, name: str, value: Any, said: Said, as_text: Callable[[Any], str]) -> None:
        """Take in what the field of an item has."""
        for path, leaf in islice(_leaves((name,), value), MOST_LEAVES):
            text = as_text(leaf)
            nothing = text in _NOTHING
            known = self._of.get(path)
            if nothing and known:
                self._of[path] = {attribute for attribute in known if said.lacks(attribute, text)}
            elif nothing:
                continue
            elif known is not None:
                self._of[path] = known & said.attributes(text)
            elif len(self._of) < MOST_PLACES:
                self._of[path] = said.attributes(text)

    def has(self, path: Path) -> bool:
        """Tell whether a place has only repeated verdicts so far."""
        return bool(self._of.get(path))

    def without(self, path: Path, value: Any) -> Any:
        """Return a value without the places that only repeat; None if nothing else is in it."""
        if self.has(path) or value == "":
            return None
        if isinstance(value, dict):
            left = {key: self.without((*path, key), inner) for key, inner in value.items()}
            return {key: inner for key, inner in left.items() if inner is not None} or None
        if isinstance(value, list):
            inners = [self.without((*path, str(n)), inner) for n, inner in enumerate(value)]
            return [inner for inner in inners if inner is not None] or None
        return value


def _leaves(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    inner: Iterable[tuple[Any, Any]]
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, (list, tuple)):
        inner = enumerate(value)
    else:
        yield path, value
        return
    for key, part in inner:
        yield from _leaves((*path, str(key)), part)


def _attributes(verdict: Verdict) -> Iterator[tuple[Path, Any]]:
    """Yield all that a verdict says, but for what is the page's own content and address."""
    match = verdict.match
    kept = match.record if match is not None else None
    parts: tuple[tuple[Path, Any, tuple[str, ...]], ...] = (
        ((), verdict, ("policy", "page", "match", "record")),
        (("policy",), verdict.policy, ()),
        (("page",), verdict.page, ("title", "url")),
        (("match", "record"), kept, ()),
        (("record",), verdict.record, ("title", "url")),
    )
    for path, thing, content in parts:
        if thing is not None:
            kind: Any = type(thing)
            for name in _names(kind):
                if name not in content:
                    yield (*path, name), getattr(thing, name)
    yield ("rejected",), verdict.rejected
    if match is not None:
        yield ("match", "distance"), match.distance


@lru_cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
