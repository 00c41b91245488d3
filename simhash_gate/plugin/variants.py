"""What a server sent with a page: its validators, and which variant of the page it is."""

from __future__ import annotations

import re
from collections import OrderedDict
from hashlib import blake2b

from scrapy import Request
from scrapy.http import Response

from simhash_gate.history.validators import Validators, validators_of

MOST_COOKIES = 50_000
"""Cookies of servers that are remembered. Those unused for the longest time are forgotten, and then
count as the crawl's own."""
_ALWAYS = ("accept-language", "authorization", "cookie")
"""Headers that tell variants apart, even if `Vary` does not name them."""
_LONGEST = 200  # characters of a `Vary`
_WORD = re.compile(rb"\D{0,20}")


def validators_in(response: Response) -> Validators:
    """Return the usable validators of a response."""
    names = ("ETag", "Last-Modified", "Date")
    values = {name.lower(): (response.headers.get(name) or b"").decode("latin-1") for name in names}
    vary = b",".join(response.headers.getlist("Vary"))
    return validators_of({**values, "vary": vary.decode("latin-1")})


class Variants:
    """Names the variants that requests ask for (RFC 9111, section 4.1), as digests.

    A cookie from a server, such as a session id, makes no variant, unless it is a word, such as a
    language. The crawl's own cookies make variants: those that the spider sets, and those that
    exist after a request with a body, such as a login.
    """

    def __init__(self) -> None:
        self._given: OrderedDict[int, None] = OrderedDict()

    def learn(self, request: Request, response: Response) -> None:
        """Note the cookies that a server sets with an answer."""
        if request.body or request.method not in {"GET", "HEAD"}:
            self._given.clear()
            return
        sent = _sent(request)
        own_names = {c.partition(b"=")[0] for c in sent if hash(c) not in self._given}
        lines = response.headers.getlist("Set-Cookie")
        for cookie in (*sent, *(line.partition(b";")[0].strip() for line in lines)):
            if cookie.partition(b"=")[0] not in own_names:
                self._given.pop(hash(cookie), None)
                self._given[hash(cookie)] = None
        while len(self._given) > MOST_COOKIES:
            self._given.popitem(last=False)

    def of(self, request: Request, response: Response) -> str:
        """Return the name of the variant that a request got: the names in `Vary`, and a digest.

        With `Vary: *`, no two variants are the same.
        """
        vary = b",".join(response.headers.getlist("Vary")).decode("latin-1").lower()
        names = {"".join(name.split()) for name in vary.split(",")} - {""}
        return self._named(request, ",".join(sorted(names)) if len(vary) <= _LONGEST else "*")

    def same(self, request: Request, variant: str) -> bool:
        """Tell whether a request asks for the variant of this name."""
        names = variant.rpartition(" ")[0]
        return "*" not in names and variant == self._named(request, names)

    def _named(self, request: Request, names: str) -> str:
        sent = {name: request.headers.getlist(name) for name in (*names.split(","), *_ALWAYS)}
        sent["cookie"] = [
            cookie
            for cookie in _sent(request)
            if hash(cookie) not in self._given or _WORD.fullmatch(cookie.partition(b"=")[2])
        ]
        digest = blake2b(repr(sorted(sent.items())).encode(), digest_size=4)
        return f"{names} {digest.hexdigest()}"


def _sent(request: Request) -> list[bytes]:
    """Return the cookies of a request as `name=value`, sorted."""
    lines = b";".join(request.headers.getlist("Cookie"))
    return sorted({cookie.strip() for cookie in lines.split(b";")} - {b""})
