"""Answers in place of pages: block pages, walls, and "not found" with the status of a page.

One text at several addresses is a copy of the first, unless something tells that none of them has
it for its own: what it calls itself, a redirect that takes the address along, or that each address
had another page at an earlier visit. What is in doubt stays a copy.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import mmh3

from simhash_gate.common.urls import end_of
from simhash_gate.fingerprints.hamming import hamming_distance
from simhash_gate.fingerprints.sketch import decode
from simhash_gate.fingerprints.words import words
from simhash_gate.identity.keys import key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simhash_gate.gate.verdict import Answered
    from simhash_gate.history.versions import Version
    from simhash_gate.page import Page
    from simhash_gate.stores.base import Record

MOST_WORDS = 200
"""Whoever has more words to say is a page."""
LEAST_NAMED, LEAST = 2, 3
"""So many addresses with one text: where it calls itself no page, and where other signs tell."""
_MOST = 10_000  # texts that may be answers
_ANOTHER = 16  # bits: a page that says so much else is another one
_FOREGO = frozenset(["404", "error", "http", "status", "code", "oops", "sorry"])
_LONG_WORD = 4  # characters: shorter ones are in addresses by chance
_PART = re.compile(r"\s[|\-–—·»]\s|\||:\s")


class _Service(NamedTuple):
    """A service that says by a header that it has blocked a request, with any status or these."""

    name: str
    header: str
    values: tuple[str, ...] = ("",)
    statuses: tuple[int, ...] = ()


_SERVICES = (
    _Service("Cloudflare", "cf-mitigated", ("challenge",)),
    _Service("AWS WAF", "x-amzn-waf-action", ("challenge", "captcha")),
    _Service("Vercel", "x-vercel-mitigated", ("challenge", "deny")),
    _Service("Sucuri", "x-sucuri-block", statuses=(403,)),
    _Service("DataDome", "x-datadome", statuses=(403, 429)),
    _Service("Imperva", "x-iinfo", statuses=(403, 503)),
    _Service("Akamai", "server", ("akamaighost",), (403, 503)),
)
_TOO_MANY_REQUESTS = 429
_NAMES: dict[str, Answered] = {
    **dict.fromkeys(
        (
            *("page not found", "page cannot be found", "page does not exist"),
            *("the page you requested could not be found", "this page could not be found"),
            *("seite nicht gefunden", "page introuvable", "page non trouvée"),
            *("página no encontrada", "página não encontrada", "pagina non trovata"),
            *("pagina niet gevonden", "страница не найдена", "nie znaleziono strony"),
            *("sayfa bulunamadı", "sidan hittades inte", "siden ble ikke funnet"),
        ),
        "soft_404",
    ),
    **dict.fromkeys(
        (
            *("just a moment", "one moment please", "attention required", "access denied"),
            *("access to this page has been denied", "checking your browser", "ddos guard"),
            *("are you a robot", "are you human", "robot check", "verify you are human"),
            *("please verify you are a human", "human verification", "bot verification"),
            *("security check", "security verification", "vercel security checkpoint"),
            *("pardon our interruption", "client challenge", "too many requests"),
            *("making sure you re not a bot", "before you continue", "request rejected"),
        ),
        "blocked",
    ),
}
"""What answers call themselves, in small letters and without signs. Few pages have such a name."""


@dataclass
class Answer:
    """A text that may be an answer: its signs, and the records of pages that were kept for it.

    `kind` is None until enough addresses have it; `why` says in words what tells.
    """

    kind: Answered | None = None
    why: str = ""
    kept: list[Record] = field(default_factory=list)
    addresses: dict[object, set[str]] = field(default_factory=dict)

    def add(self, sign: object, address: str, least: int, kind: Answered, why: str) -> None:
        """Note that an address has the text, with a sign that it is no page."""
        found = self.addresses.setdefault(sign, set())
        found.add(address)
        if self.kind is None and len(found) >= least:
            self.kind, self.why = kind, why


class Answers:
    """What one run takes for answers in place of pages, those that were met last."""

    def __init__(self) -> None:
        self._answers: OrderedDict[tuple[str, int], Answer] = OrderedDict()

    def meet(
        self, record: Record, page: Page, asked: str, before: Version | None = None
    ) -> Answer | None:
        """Return what is known of the text of a page; None if nothing tells that it is no page.

        `asked` is the address that was redirected to this one, which has it in its query, "" for
        none. `before` is what this very page said at an earlier visit.
        """
        if page.words > MOST_WORDS or (page.sketch and decode(page.sketch).offered):
            return None
        named = _kind_of(page)
        was_another = (
            before is not None
            and hamming_distance(before.fingerprint, record.fingerprint) > _ANOTHER
        )
        if not (named or asked or was_another):
            return None
        place = record.scope, _text_of(page, asked or record.url)
        answer = self._answers.setdefault(place, Answer())
        self._answers.move_to_end(place)
        if len(self._answers) > _MOST:
            self._answers.popitem(last=False)
        address = key_of(asked or record.url)
        if named:
            why = f"{page.title!r} at different addresses"
            answer.add("name", end_of(address), LEAST_NAMED, named, why)
        if asked:
            why = "what was asked for is redirected to it, and stands in its address"
            answer.add("redirect", address, LEAST, "blocked", why)
        if was_another:  # the very same text: of a page that changes each day, only numbers may
            why = "the same text at addresses that had other pages before"
            answer.add(page.digest, address, LEAST, named or "blocked", why)
        return answer


def blocking_service(status: int, header: Callable[[str], str]) -> str:
    """Return who says by status and headers that a request was blocked; "" for nobody."""
    for service in _SERVICES:
        said = header(service.header).lower() if status in (service.statuses or [status]) else ""
        if said and any(value in said for value in service.values):
            return service.name
    return "the server (too many requests)" if status == _TOO_MANY_REQUESTS else ""


def _kind_of(page: Page) -> Answered | None:
    """Return as what a page names itself that is none."""
    for name in _names_of(page):
        for part in (name, *_PART.split(name)):
            tokens = re.findall(r"\w+", part.casefold())
            kind = _NAMES.get(" ".join(word for word in tokens if word not in _FOREGO))
            if kind is None and "404" in tokens and set(tokens) <= {*_FOREGO, "not", "found"}:
                kind = "soft_404"
            if kind is not None:
                return kind
    return None


def _names_of(page: Page) -> Iterator[str]:
    yield page.title
    if page.sketch:
        yield from decode(page.sketch).names


def _text_of(page: Page, url: str) -> int:
    """Return a hash of the words of a text, without numbers and what it repeats of its address."""
    told = f"{page.title} {page.lines.decode()}".casefold().split()
    long = {word for word in told if word.isalpha() and len(word) >= _LONG_WORD}
    own = long.difference(words(url))
    return mmh3.hash(" ".join(sorted(own)), signed=False)
