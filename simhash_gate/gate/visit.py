"""A visit to a page: where, for whom, when, and what the server said.

Two pages may say the same and still bring different items. A callback takes what another one
leaves. A request hands half an item on to the page that completes it. A visitor from another
country is led to other prices. So a kept page stands only for visits that are for the same.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import require, require_time
from simhash_gate.compare.sketch import NO_SKETCH
from simhash_gate.history.validators import NOTHING, Validators
from simhash_gate.history.versions import Version
from simhash_gate.page import Page
from simhash_gate.stores.base import UNKNOWN_GAVE, Record


@dataclass(frozen=True, slots=True)
class Visit:
    """A request for a page, and what its answer says beside the page. `at` is a Unix time.

    `url` never has a user name or a password. `asker`, `carries` and `gave` are those of the record
    if the page is kept. A `retry` was sent again by this run on purpose.

    The server sent `validators` with this `variant`. The page `moved_from` another key for good, ""
    if it did not. Of a `rendition`, a canonical link alone says which page it is: it may be a
    version for print, or AMP. The address `walled_from` was redirected to one that has it in its
    query, as walls do; "" if none was.
    """

    url: str
    scope: str
    key: str
    at: float = field(default_factory=time.time)
    asker: str = ""
    carries: str = ""
    gave: int = UNKNOWN_GAVE
    retry: bool = False
    validators: Validators = NOTHING
    variant: str = ""
    moved_from: str = ""
    rendition: bool = False
    walled_from: str = ""

    def __post_init__(self) -> None:
        for name in ("url", "scope", "key"):
            require(getattr(self, name), str, f"the {name} of a visit as a string")
        require_time(self.at)
        if "@" in self.url:
            object.__setattr__(self, "url", without_credentials(self.url))

    def under(self, key: str) -> Visit:
        """Return this visit under another key, with the past of that key alone."""
        return replace(self, key=key, moved_from="")

    def record(self, page: Page, run: str, pipeline: str, *, verify: bool = True) -> Record:
        """Return what is remembered of the page that was found. To `verify`, it has a sketch."""
        return Record(
            scope=self.scope,
            url=self.url,
            key=self.key,
            fingerprint=page.fingerprint or 0,
            digest=page.digest,
            words=page.words,
            title=page.title,
            pipeline=pipeline,
            run=run,
            first_seen=self.at,
            last_seen=self.at,
            sketch=(page.sketch or NO_SKETCH) if verify else b"",
            asker=self.asker,
            carries=self.carries,
            gave=self.gave,
        )


Asked: TypeAlias = "Visit | Version | Record"
"""What tells for whom a page was asked for."""


def names_apart(kept: Asked, other: Asked) -> list[str]:
    """Return the names of what the request of a page has, and the one of a kept page had not.

    "callback" comes first, what tells visitors apart next, and last what is handed on.
    """
    asker, its_asker = other.asker, kept.asker
    if not (asker and its_asker):  # nobody knows one of them
        asker = its_asker = ""
    callback, *visitor = asker.split("\n")
    its_callback, *its_visitor = its_asker.split("\n")
    handed_on = set(other.carries.split("\n")).difference(kept.carries.split("\n"), [""])
    lines = [*sorted({*visitor} ^ {*its_visitor}), *sorted(handed_on)]
    names = dict.fromkeys(line.rpartition(" ")[0] for line in lines)
    return [*["callback"] * (callback != its_callback), *names]


def what_else(kept: Asked, other: Asked) -> str:
    """Return in words what the request of a page has, and the one of a kept page had not."""
    names = names_apart(kept, other)
    if "callback" in names:
        callback = kept.asker.partition("\n")[0]
        names[names.index("callback")] = f"callback than {callback}"
    return f"its request has another {', another '.join(names)}" if names else ""
