"""What servers say of a page before it is fetched, and whether they can be believed.

A server names a page's version by an `ETag` or the time of its last change. Some say the same of
another content. Pages that are fetched whatever their server says show which ones do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from itertools import pairwise
from typing import Any, NamedTuple

FEWEST_RIGHT = 4
"""So many pages must be the same, as a domain says, before anything is left to what it says,"""
FEWEST_UNCHANGED = 59
"""and so many if it told of no change. A server that always says the same is known only by a page
that changes. If none of so many has, less than a twentieth of them do (95 %)."""
RECENT = 20
"""A domain is wrong if two pages change under the same validators before it tells so many changes.
One page alone may change by itself."""
REST = 30 * 86_400.0
"""Seconds for which a wrong domain is not believed after each lie; its pages are compared."""

_GENERATED = 5.0  # seconds before the answer: a page that changed so lately was made for it
_LONGEST = 200
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


class Trust(NamedTuple):
    """What visits have told of one domain's validators since a page last changed under the same.

    That was the page of the URL `liar`, at `lied`, a Unix time. Since then so many pages were the
    same as was said, `right`, and so many had changed as was `told`. The domain is `wrong` if two
    pages lied with few changes told between them. Validators that change though the page does not
    tell nothing: a domain where all do is never believed.
    """

    right: int = 0
    told: int = 0
    liar: str = ""
    lied: float = 0.0
    wrong: bool = False

    @property
    def until(self) -> float:
        """Until when it is not believed, if no other page changes under the same validator."""
        return self.lied + REST if self.wrong else 0.0

    def believed(self, at: float) -> bool:
        """Tell whether a page is left unfetched at a time if it says that it is the same."""
        enough = FEWEST_RIGHT if self.told else FEWEST_UNCHANGED
        return self.right >= enough and at >= self.until

    def then(self, later: Trust) -> Trust:
        """Return what these visits and later ones tell together."""
        if later.liar and later.liar != self.liar:
            wrong = self.wrong or (self.liar != "" and self.told < RECENT)
            return later._replace(wrong=later.wrong or wrong)
        right, told = self.right + later.right, self.told + later.told
        return self._replace(right=right, told=told, wrong=self.wrong or later.wrong)

    @classmethod
    def of_visit(cls, url: str, at: float, *, same: bool, changed: bool) -> Trust:
        """Return what one visit tells: the page was said to be the `same`, and has `changed`."""
        if same and changed:
            return cls(liar=url, lied=at)
        return cls(int(same), int(changed))

    @classmethod
    def of_json(cls, values: Any) -> Trust:
        """Return the trust with these values; of values that make no sense, an unknown domain."""
        try:
            right, told, liar, lied, wrong = values
            return cls(int(right), int(told), str(liar), float(lied), bool(wrong))
        except (TypeError, ValueError, OverflowError):
            return cls()
