"""Answers in place of pages: block pages, walls, and "not found" with the status of a page.

One text at several addresses is a copy of the first, unless something tells that none of them has
it for its own: what it calls itself, a redirect that takes the address along, or that each address
had another page at an earlier visit. What is in doubt stays a copy.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import mmh3

from simhash_gate.common.urls import end_of
from simhash_gate.compare.sketch import NO_SKETCH, decode
from simhash_gate.fingerprints.hamming import hamming_distance
from simhash_gate.fingerprints.words import UNSEGMENTED, words
from simhash_gate.gate.verdict import Answered
from simhash_gate.gate.visit import Visit
from simhash_gate.history.notes import note_in, with_note
from simhash_gate.history.versions import Version
from simhash_gate.identity.keys import key_of
from simhash_gate.page import Page
from simhash_gate.stores.base import SITE_NOTES, Blob, Record
from simhash_gate.stores.store import Store

MOST_WORDS = 200
"""Whoever has more words to say is a page."""
LEAST_NAMED, LEAST = 2, 3
"""So many addresses with one text: where it calls itself no page, and where other signs tell."""
NOTE = "answers"
"""The key of these notes on a scope: outcomes by the hash of a text."""
_MOST = 10_000  # texts that may be answers
_ANOTHER = 16  # bits: a page that says so much else is another one
_LONG_WORD = 4  # characters: shorter ones are in addresses by chance

_SERVICES = (
    ("Cloudflare", "cf-mitigated", ("challenge",), ()),
    ("AWS WAF", "x-amzn-waf-action", ("challenge", "captcha"), ()),
    ("Vercel", "x-vercel-mitigated", ("challenge", "deny"), ()),
    ("DataDome", "x-datadome", ("",), (403,)),
    ("Imperva", "x-iinfo", ("",), (403, 503)),
    ("Akamai", "server", ("akamaighost",), (403, 503)),
)
"""Who says by a header that a request was blocked, with these statuses, or with any."""
_TOO_MANY_REQUESTS = 429
_NAMES: dict[Answered, tuple[str, ...]] = {
    "soft_404": (
        *("page not found", "page cannot be found", "this page could not be found"),
        *("page does not exist", "seite nicht gefunden", "page introuvable", "page non trouvée"),
        *("página no encontrada", "página não encontrada", "pagina non trovata"),
        *("pagina niet gevonden", "страница не найдена", "nie znaleziono strony"),
        *("sayfa bulunamadı", "sidan hittades inte", "siden ble ikke funnet"),
    ),
    "blocked": (
        *("just a moment", "one moment please", "attention required", "access denied"),
        *("access to this page has been denied", "checking your browser", "ddos guard"),
        *("are you a robot", "are you human", "robot check", "verify you are human"),
        *("please verify you are a human", "human verification", "bot verification"),
        *("security check", "security verification", "vercel security checkpoint"),
        *("pardon our interruption", "client challenge", "too many requests"),
        *("making sure you re not a bot", "before you continue", "request rejected"),
    ),
}
"""What answers call themselves, in small letters and without signs. Few pages have such a name."""
_LEFT_OUT = frozenset(("404", "error", "http", "status", "code", "oops", "sorry"))
_UNSEGMENTED = re.compile(f"[{UNSEGMENTED}]")
_LINKS = re.compile(r"\[[^][]*\]\([^()]*\)")
_PARTS = re.compile(r"\s[|\-–—·»]\s|\|")


@dataclass
class AnswerText:
    """A text that may be an answer: addresses by sign, and records of pages that were kept for it.

    `kind` is None until enough addresses have it; `why` says in words what tells.
    """

    kind: Answered | None = None
    why: str = ""
    kept: list[Record] = field(default_factory=list)
    addresses: defaultdict[object, set[str]] = field(default_factory=lambda: defaultdict(set))


class Answers:
    """What one run takes for answers in place of pages, those that were met last.

    A store keeps the texts that name themselves so, for other runs: these know them at once.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._answer = lru_cache(_MOST)(lambda *_: AnswerText())  # by scope and text

    def meet(self, visit: Visit, page: Page, before: Version | None = None) -> AnswerText | None:
        """Return what is known of the text of a page; None if nothing tells that it is no page.

        `before` is what this very page said at an earlier visit. Raises `StoreError`.
        """
        if page.words > MOST_WORDS or (sketch := decode(page.sketch or NO_SKETCH)).offered:
            return None
        named = _kind_of((page.title, *sketch.all_names))
        if not (signs := list(_signs(visit, page, named, before))):
            return None
        # What suggests other pages than the one that is not there does so by links.
        said = _LINKS.sub(" ", page.markdown_without("images")) if named else page.said
        scope = visit.scope
        text = _text_of(f"{page.title} {said}", visit.walled_from or visit.url)
        if not (text or named):
            return None
        answer = self._answer(scope, text)
        new = named and not answer.addresses
        if new and str(text) in note_in(self._store.get(SITE_NOTES, scope), NOTE):
            answer.kind, answer.why = named, f"{page.title!r}, as other crawls found"
        for sign, where, least, kind, why in signs:
            answer.addresses[sign].add(where)
            if answer.kind is None and len(answer.addresses[sign]) >= least:
                answer.kind, answer.why = kind, why
                if named:
                    notes = self._store.get(SITE_NOTES, scope)
                    notes = with_note(notes, NOTE, note_in(notes, NOTE) | {str(text): kind})
                    self._store.put(Blob(SITE_NOTES, scope, "", notes))
        return answer


def _signs(
    visit: Visit, page: Page, named: Answered | None, before: Version | None
) -> Iterator[tuple[object, str, int, Answered, str]]:
    """Yield signs that a page is none: each with an address, how many need it, as what, and why."""
    address = key_of(visit.walled_from or visit.url)
    if named:
        why = f"{page.title!r} at different addresses"
        yield "name", end_of(address), LEAST_NAMED, named, why
    if visit.walled_from:
        why = "what was asked for is redirected to it, and stands in its address"
        yield "redirect", address, LEAST, "blocked", why
    here = before is not None and before.url == visit.url  # a name left out may choose a page
    if before and here and hamming_distance(before.fingerprint, page.fingerprint or 0) > _ANOTHER:
        why = "the same text at addresses that had other pages before"
        # To the letter: of a page that changes each day, it may be the numbers that do.
        yield page.digest, address, LEAST, named or "blocked", why


def blocking_service(status: int, header: Callable[[str], bytes | None]) -> str:
    """Return who says by status and headers that a request was blocked; "" for nobody."""
    for service, name, values, statuses in _SERVICES:
        if status in (statuses or (status,)) and (said := header(name)):
            text = said.decode("latin-1").lower()
            if text and any(value in text for value in values):
                return service
    return "the server (too many requests)" if status == _TOO_MANY_REQUESTS else ""


def _kind_of(names: tuple[str, ...]) -> Answered | None:
    """Return as what a page names itself that is none."""
    for part in (part for name in names for part in (name, *_PARTS.split(name))):
        tokens = re.findall(r"\w+", part.casefold())
        if "404" in tokens and _LEFT_OUT.union(("not", "found")).issuperset(tokens):
            return "soft_404"
        text = " ".join(token for token in tokens if token not in _LEFT_OUT)
        for kind, known in _NAMES.items():
            if text in known:
                return kind
    return None


def _text_of(said: str, url: str) -> int:
    """Return a hash of a text's words, without numbers and its address's; 0 if none is left."""
    tokens = filter(str.isalpha, words(said))
    kept = {word for word in tokens if len(word) >= _LONG_WORD or _UNSEGMENTED.match(word)}
    return mmh3.hash64(" ".join(sorted(kept.difference(words(url)))), signed=False)[0]
