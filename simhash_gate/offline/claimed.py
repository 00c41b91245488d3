"""What pages claim to be, for a person: names, what they offer, the user's own fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from simhash_gate.fingerprints.claims import Claims, decode_claims
from simhash_gate.fingerprints.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_gate.fingerprints.claims import Offered
    from simhash_gate.page.page import Page


class Claimed(NamedTuple):
    """One thing that two pages claim: what A says and what B says, None for nothing.

    `kind` is `names`, `offered` or `fields`; `name` that of the field, "" for a name.
    """

    kind: str
    name: str
    a: str | None
    b: str | None

    @property
    def differs(self) -> bool:
        """Whether the two pages say something else, or one of them says nothing."""
        if self.a is None or self.b is None or self.kind != "names":
            return self.a != self.b
        return _told(self.a) != _told(self.b)

    def as_text(self) -> str:
        """Return it as a person reads it: what only A has in red, what only B has in green."""
        said = marked(self.a, self.b) if self.differs else printable(self.b or "")
        return f"{self.name or 'name':11}  {said}"


def marked(a: str | None, b: str | None) -> str:
    """Return what only A has in red, and what only B has in green."""
    parts = [
        "" if a is None else click.style(f"[-{printable(a)}-]", fg="red"),
        "" if b is None else click.style(f"{{+{printable(b)}+}}", fg="green"),
    ]
    return " ".join(filter(None, parts))


def printable(text: str) -> str:
    """Return what a page said of itself without what a terminal would obey."""
    return "".join(char if char.isprintable() else " " for char in click.unstyle(text))


def claims_of(page: Page) -> Claims:
    """Return what a page claims; one without text claims nothing."""
    return decode_claims(page.claims) if page.claims else Claims()


def names_of(claims: Claims) -> list[str]:
    """Return the names of a page, the headline first, each once."""
    found: dict[tuple[str, ...], str] = {}
    for name in filter(None, (claims.headline, *claims.names)):
        found.setdefault(_told(name), name)
    return list(found.values())


def describe_claims(claims: Claims, *, fields: bool) -> dict[str, Any]:
    """Return the claims as JSON can say them; `fields` asks for those of the user."""
    said: dict[str, Any] = {"names": names_of(claims), "offered": dict(claims.offered)}
    return said | {"fields": dict(claims.compared)} if fields else said


def side_by_side(a: Claims, b: Claims) -> Iterator[Claimed]:
    """Yield all that two pages claim."""
    names = {_told(name): name for name in names_of(a)}
    others = {_told(name): name for name in names_of(b)}
    both = [name for name in others if name in names]
    yield from (Claimed("names", "", names[name], others[name]) for name in both)
    yield from (Claimed("names", "", names[name], None) for name in names if name not in others)
    yield from (Claimed("names", "", None, others[name]) for name in others if name not in names)
    yield from _by_name("offered", a.offered, b.offered)
    yield from _by_name("fields", a.compared, b.compared)


def _by_name(kind: str, a: Offered, b: Offered) -> Iterator[Claimed]:
    one, other = dict(a), dict(b)
    for name in one | other:
        yield Claimed(kind, name, one.get(name), other.get(name))


def _told(name: str) -> tuple[str, ...]:
    """Return the words that tell a name from others; of one without words its characters."""
    return tuple(words(name)) or (name,)
