"""What servers say of a page before it is fetched, and whether they can be believed.

A server names a page's version by an `ETag` or the time of its last change. Some say the same of
another content, some say something else each time. Such signals are noisy (Busa-Fekete et al.,
Crawling with noisy change signals, 2025): how often they are wrong is found from pages that are
fetched whatever they say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from simhash_gate.common.proportion import wilson

State = Literal["", "wrong", "useless"]

FEWEST_COMPARED = 5
"""So many visits of a domain are compared before anything is left to what it says,"""
FEWEST_UNCHANGED = 59
"""and so many if it told of no change in them. A server that always says the same is known only by
a page that changes. If none of so many has, less than a twentieth of them do (95 %)."""
FEWEST_WRONG = 2
"""So many pages must have changed under the same name before their domain is called wrong."""
MOST_MISSED = 0.05
"""A domain is wrong if it surely misses more of the changes than this."""
RECENT = 20
"""So many of the last changes are what a domain is judged by."""
USELESS = 0.8
"""Validators are useless if more of them than this surely change though the page does not."""
REST = 30 * 86_400.0
"""Seconds after which a domain is tried again; twice as long after each time."""

_GENERATED = 5.0  # seconds before the answer: a page that changed so lately was made for it
_LONGEST = 200
_MOST_COUNTED = 1_000
_MOST_RESTS = 8
# What the compression of an answer adds to its ETag, in its quotes.
_SUFFIX = re.compile(r'(?:[-;](?:gzip|br)|-(?:df|zstd))(?="?\Z)')


class Validators(NamedTuple):
    """How a server names the version of a page: `ETag` and `Last-Modified`, "" for none."""

    etag: str = ""
    modified: str = ""


NOTHING = Validators()


def validators_of(headers: Mapping[str, str]) -> Validators:
    """Return what a response can be asked for again with; names of headers in lower case.

    A page that was last modified when it was sent was made for the answer, and `Vary: *` says that
    no two answers are alike.
    """
    if "*" in headers.get("vary", ""):
        return NOTHING
    etag, modified = (_usable(headers.get(name, "")) for name in ("etag", "last-modified"))
    changed, sent = _moment(modified), _moment(headers.get("date", ""))
    if changed is None or (sent is not None and changed > sent - _GENERATED):
        modified = ""
    return Validators(etag, modified)


def conditions(known: Validators) -> dict[str, str]:
    """Return the headers by which a page is asked for only if it is another than the known one.

    A server that compresses may add to an ETag what it does not know of itself any more when it is
    asked (Apache's `-gzip`): it is asked for both.
    """
    found = {}
    if known.etag:
        plain = _without_suffix(known.etag)
        found["If-None-Match"] = known.etag if plain == known.etag else f"{known.etag}, {plain}"
    if known.modified:
        found["If-Modified-Since"] = known.modified
    return found


def same_version(before: Validators, now: Validators) -> bool | None:
    """Tell whether two answers name the same version; None if they name none, or in two ways."""
    if before.etag and now.etag:
        return _opaque(before.etag) == _opaque(now.etag)
    if before.modified and now.modified and not before.etag and not now.etag:
        return before.modified == now.modified
    return None


def is_strong(known: Validators) -> bool:
    """Tell whether equal validators promise the same bytes, and not only the same sense."""
    return bool(known.etag) and not known.etag.startswith(("W/", "w/"))


def contradict(versions: Iterable[Validators]) -> bool:
    """Tell whether two versions of a page, one after the other, had the same name."""
    return any(same_version(one, two) for one, two in pairwise(versions))


def _usable(value: str) -> str:
    value = value.strip()
    return value if len(value) <= _LONGEST and value.isascii() and value.isprintable() else ""


def _moment(value: str) -> float | None:
    try:
        return parsedate_to_datetime(value).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


def _without_suffix(etag: str) -> str:
    return _SUFFIX.sub("", etag)


def _opaque(etag: str) -> str:
    """Return what two ETags share if one of them is weak, or of a compressed answer."""
    return _without_suffix(etag.removeprefix("W/").removeprefix("w/"))


class Seen(NamedTuple):
    """What one visit tells of what was said before: whether it was fetched `plain`, without it.

    `same` is what was said: that the page is the same. `changed` is what was found.
    """

    url: str
    at: float
    same: bool
    changed: bool
    plain: bool = True


@dataclass
class Trust:
    """What visits have told of one domain's validators.

    `right` pages were the same as was said, `wrong` ones not; `moved` ones had changed as was said,
    `idle` ones had not. `spared` were not fetched, or had no body. `recent` has the last changes,
    True for those that were not said. `state` is what came of it at `since`; after a rest all
    begins anew. `times` counts the rests.
    """

    right: int = 0
    wrong: int = 0
    moved: int = 0
    idle: int = 0
    spared: int = 0
    recent: list[bool] = field(default_factory=list)
    examples: list[Seen] = field(default_factory=list)
    state: State = ""
    since: float = 0.0
    times: int = 0

    @property
    def compared(self) -> int:
        """How many visits were compared with what was said."""
        return self.right + self.wrong + self.moved + self.idle

    def is_tested(self, compared: int) -> bool:
        """Tell whether so many visits are enough to leave anything to what it says."""
        if self.moved:
            return compared >= FEWEST_COMPARED
        return not self.wrong and compared >= FEWEST_UNCHANGED

    @property
    def until(self) -> float:
        """When it is tried again."""
        return self.since + REST * float(1 << min(max(self.times, 1), _MOST_RESTS) - 1)

    def rested(self, at: float) -> Trust:
        """Return what counts at a time: a domain that has rested is as unknown as a new one."""
        if self.state and at >= self.until:
            return Trust(times=self.times)
        return self

    def learn(self, seen: Seen | None) -> State:
        """Take in what a visit tells; return the state that comes of it, "" for no other.

        None is a page that was the same as was said, and was not fetched for it.
        """
        if seen is None:
            self.spared += 1
            return ""
        if seen.same and not seen.changed:
            self.right += 1
        elif seen.same:
            self.wrong += 1
            # One page that changes by itself says little of all others.
            if seen.url not in [example.url for example in self.examples]:
                self.recent.append(True)
                self.examples = [*self.examples, seen][-FEWEST_WRONG:]
        elif seen.changed and seen.plain:  # of pages with a condition, others could not be seen
            self.moved += 1
            self.recent.append(False)
        elif not seen.changed:
            self.idle += 1
        del self.recent[:-RECENT]
        if self.compared + self.spared > _MOST_COUNTED:
            for name in ("right", "wrong", "moved", "idle", "spared"):
                setattr(self, name, getattr(self, name) // 2)
        state = self._found() if not self.state else ""
        if state:
            self.state, self.since, self.times = state, seen.at, self.times + 1
        return state

    def _found(self) -> State:
        missed = wilson(sum(self.recent), len(self.recent)).low
        if len(self.examples) >= FEWEST_WRONG and missed > MOST_MISSED:
            return "wrong"
        same = self.idle + self.right + self.spared
        return "useless" if wilson(self.idle, same).low > USELESS else ""

    @classmethod
    def of_json(cls, values: Any) -> Trust:
        """Return the trust with these values. Raises ValueError if they make no sense."""
        try:
            counts = {name: max(0, int(values[name])) for name in _COUNTS}
            if values["state"] not in ("", "wrong", "useless"):
                raise ValueError(f"its state is {values['state']!r}")
            return cls(
                **counts,
                recent=[bool(missed) for missed in values["recent"]][-RECENT:],
                examples=[Seen(str(url), float(at), *how) for url, at, *how in values["examples"]],
                state=values["state"],
                since=float(values["since"]),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"no evidence on validators: {error}") from error


_COUNTS = ("right", "wrong", "moved", "idle", "spared", "times")
