"""Validators, by which servers name the version of a page, and whether they can be believed.

A server names a page's version by an `ETag` or the time of its last change. Some servers keep the
name when the content changes. Some pages are fetched in any case: they show which servers do so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from itertools import pairwise
from typing import Any, NamedTuple

FEWEST_RIGHT = 4
"""A domain is believed after this many pages were unchanged as it said, if it also told changes."""
FEWEST_UNCHANGED = 59
"""A domain that told no change is believed after this many unchanged pages. It may always say the
same, which only a changed page can show. If none of 59 has changed, less than 5 % do (at 95 %)."""
RECENT = 20
"""A domain is wrong if two pages change under the same validators, and it tells fewer changes than
this between them. One page alone may change by itself."""
REST = 30 * 86_400.0
"""Seconds for which a wrong domain is not believed after each lie. Its pages are fetched then."""

_GENERATED = 5.0  # seconds: a page that changed so shortly before the answer was made for it
_LONGEST = 200
# Servers that compress an answer add this to its ETag, within the quotes.
_SUFFIX = re.compile(r'(?:[-;](?:gzip|br)|-(?:df|zstd))(?="?\Z)')


class Validators(NamedTuple):
    """The names of a page's version: `ETag` and `Last-Modified`, "" for none."""

    etag: str = ""
    modified: str = ""


NOTHING = Validators()


def validators_of(headers: Mapping[str, str]) -> Validators:
    """Return the usable validators of a response. Names of headers are in lower case.

    `Last-Modified` is ignored if it is the time of the answer: then the page was made for it. With
    `Vary: *`, both are ignored: no two answers are alike.
    """
    if "*" in headers.get("vary", ""):
        return NOTHING
    values = (headers.get(name, "").strip() for name in ("etag", "last-modified"))
    etag, modified = (
        it if len(it) <= _LONGEST and it.isascii() and it.isprintable() else "" for it in values
    )
    changed, sent = _moment(modified), _moment(headers.get("date", ""))
    if changed is None or (sent is not None and changed > sent - _GENERATED):
        modified = ""
    return Validators(etag, modified)


def conditions(validators: Validators) -> dict[str, str]:
    """Return the headers of a request for a page unless it is the known version.

    Some servers do not recognise the suffix that they add to ETags of compressed answers (Apache's
    `-gzip`). So the request names the ETag with and without it.
    """
    headers = {}
    if validators.etag:
        names = dict.fromkeys((validators.etag, _SUFFIX.sub("", validators.etag)))
        headers["If-None-Match"] = ", ".join(names)
    if validators.modified:
        headers["If-Modified-Since"] = validators.modified
    return headers


def same_version(before: Validators, now: Validators) -> bool | None:
    """Tell whether two answers name the same version. None if that can't be told."""
    if before.etag and now.etag:
        return _opaque(before.etag) == _opaque(now.etag)
    if before.modified and now.modified and not before.etag and not now.etag:
        return before.modified == now.modified
    return None


def is_strong(validators: Validators) -> bool:
    """Tell whether equal validators promise the same bytes, and not only the same meaning."""
    return bool(validators.etag) and not validators.etag.startswith(("W/", "w/"))


def contradict(versions: Iterable[Validators]) -> bool:
    """Tell whether two successive versions of a page had the same validators."""
    return any(same_version(one, two) for one, two in pairwise(versions))


def _moment(value: str) -> float | None:
    try:
        return parsedate_to_datetime(value).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


def _opaque(etag: str) -> str:
    """Return an ETag without the signs of a weak one and of a compressed answer."""
    return _SUFFIX.sub("", etag.removeprefix("W/").removeprefix("w/"))


class Trust(NamedTuple):
    """The record of one domain's validators since its last lie: a page that changed under the same.

    The page of the URL `liar` lied at the Unix time `lied`. Since then, `right` pages were
    unchanged as the domain said, and `told` pages had changed as it said. The domain is `wrong` if
    two pages lied, with few changes told between them. Validators that change without the page do
    not count: a domain where all do so is never believed.
    """

    right: int = 0
    told: int = 0
    liar: str = ""
    lied: float = 0.0
    wrong: bool = False

    @property
    def until(self) -> float:
        """The Unix time until which a wrong domain is not believed, 0 for others."""
        return self.lied + REST if self.wrong else 0.0

    def believed(self, at: float) -> bool:
        """Tell whether the domain is believed at a Unix time if it says that a page is the same."""
        enough = FEWEST_RIGHT if self.told else FEWEST_UNCHANGED
        return self.right >= enough and at >= self.until

    def then(self, later: Trust) -> Trust:
        """Return the record of these visits and `later` ones together."""
        if later.liar and later.liar != self.liar:
            wrong = self.wrong or (self.liar != "" and self.told < RECENT)
            return later._replace(wrong=later.wrong or wrong)
        right, told = self.right + later.right, self.told + later.told
        return self._replace(right=right, told=told, wrong=self.wrong or later.wrong)

    @classmethod
    def of_visit(cls, url: str, at: float, *, same: bool, changed: bool) -> Trust:
        """Return the record of one visit: the server said `same`, and the page has `changed`."""
        if same and changed:
            return cls(liar=url, lied=at)
        return cls(int(same), int(changed))

    @classmethod
    def of_json(cls, values: Any) -> Trust:
        """Read a record from JSON values. Values that make no sense give an empty record."""
        try:
            right, told, liar, lied, wrong = values
            return cls(int(right), int(told), str(liar), float(lied), bool(wrong))
        except (TypeError, ValueError, OverflowError):
            return cls()
