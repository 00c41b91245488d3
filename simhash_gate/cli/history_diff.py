"""`simhash-gate history diff`: what changed between two versions of a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from simhash_gate.cli.options import as_json, with_console
from simhash_gate.common.times import shown
from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import complaining, how_many, printable
from simhash_gate.fingerprints.hamming import hamming_distance, to_hex
from simhash_gate.history.texts import unpack
from simhash_gate.history.versions import History
from simhash_gate.stores.base import KEPT_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simhash_gate.cli.console import Console
    from simhash_gate.history.texts import KeptPage
    from simhash_gate.history.versions import History, Version
    from simhash_gate.offline.differences import Change
    from simhash_gate.stores import Store
    from simhash_gate.stores.histories import PageHistory


@click.command(
    "diff",
    short_help="Show what changed between two versions of a page.",
    epilog="Example: simhash-gate history diff sqlite:///pages.sqlite https://example.com/a 1 3",
)
@click.argument("store")
@click.argument("url")
@click.argument("versions", nargs=-1, type=click.IntRange(min=1), metavar="[VERSION VERSION]")
@as_json
@with_console
def diff(console: Console, store: str, url: str, versions: tuple[int, ...], as_json: bool) -> int:
    """Compare two versions of the page at URL: the last two, or those with these numbers.

    `history list` shows the numbers. The words and links that differ are shown if the crawl kept
    the text of both versions: see SIMHASH_GATE_KEEP_MARKDOWN.
    """
    from simhash_gate.offline.history import NOTHING, Wanted
    from simhash_gate.sources.open import open_kept

    with open_kept(store) as kept:
        pasts = Wanted(url=url).of(kept, console.complain)
        if not pasts:
            if not console.complaints:
                console.complain(without_credentials(url), NOTHING)
            return console.status()
        past = max(pasts, key=lambda past: past.page.seen)
        a, b = _two_of(past.history, versions)
        found = _Difference(
            past.page.url, a, b, *(_text(kept, past.page, each, console) for each in (a, b))
        )
    if as_json:
        console.write(found.as_json())
    else:
        console.show(found.as_text())
    return console.status()


def _two_of(history: History, numbers: Sequence[int]) -> tuple[Version, Version]:
    """Return the versions with these numbers. Raises click.UsageError if there are none."""
    known = len(history.versions)
    if known < 2:
        raise click.ClickException(f"the page has {how_many(known, 'version')}: nothing changed")
    chosen = (known - 1, known) if not numbers else tuple(numbers)
    if len(chosen) != 2 or not all(1 <= number <= known for number in chosen):
        raise click.UsageError(f"Name two versions of 1 to {known}, or none for the last two.")
    return history.versions[chosen[0] - 1], history.versions[chosen[1] - 1]


def _text(store: Store, page: PageHistory, version: Version, console: Console) -> KeptPage | None:
    data = store.get(KEPT_TEXT, page.scope, to_hex(version.digest))
    with complaining(console.complain, f"{page.url}: text of {shown(version.first_seen)}"):
        return unpack(data) if data else None
    return None


@dataclass(frozen=True)
class _Difference:
    """Two versions of a page, with their texts where these are kept."""

    url: str
    a: Version
    b: Version
    text_a: KeptPage | None
    text_b: KeptPage | None

    def as_json(self) -> dict[str, Any]:
        """Return an object of JSON; `changes` is null where a text is missing."""
        return {
            "url": self.url,
            "distance": self._distance,
            **{
                name: {
                    "first_seen": shown(version.first_seen),
                    "last_seen": shown(version.last_seen),
                    "words": version.words,
                    "fingerprint": to_hex(version.fingerprint),
                    "title": version.title,
                    "text": text is not None,
                }
                for name, version, text in self._sides
            },
            "changes": None if self._words is None else [c._asdict() for c in self._words],
            "links": None if self._links is None else [link._asdict() for link in self._links],
        }

    def as_text(self) -> Iterator[str]:
        """Yield lines of text: what went in red, what came in green."""
        yield click.style(printable(self.url), bold=True)
        for name, version, text in self._sides:
            seen = f"{shown(version.first_seen)} to {shown(version.last_seen)}"
            words, fingerprint = how_many(version.words, "word"), to_hex(version.fingerprint)
            yield f"{name}  {seen}, {words}, {fingerprint}"
            yield f"   {printable(version.title)}"
            if text is None:
                yield f"   {_NO_TEXT}"
        yield f"distance  {self._distance} of 64 bits"
        for title, nothing, found in (
            ("words that differ", "no word of the text differs", self._words),
            ("links that differ", "no link differs", self._links),
        ):
            if found is not None:
                yield ""
                yield click.style(title if found else nothing, bold=True)
                yield from (f"   {change.as_text()}" for change in found)

    @property
    def _sides(self) -> Iterator[tuple[str, Version, KeptPage | None]]:
        yield "a", self.a, self.text_a
        yield "b", self.b, self.text_b

    @property
    def _distance(self) -> int:
        return hamming_distance(self.a.fingerprint, self.b.fingerprint)

    @property
    def _words(self) -> list[Change] | None:
        from simhash_gate.offline.differences import changes

        if self.text_a is None or self.text_b is None:
            return None
        return list(changes(self.text_a.markdown.split(), self.text_b.markdown.split()))

    @property
    def _links(self) -> list[Change] | None:
        from simhash_gate.offline.differences import Change

        if self.text_a is None or self.text_b is None:
            return None
        a, b = ({link.url for link in text.links} for text in (self.text_a, self.text_b))
        gone, come = sorted(a - b), sorted(b - a)
        return [Change((), [url], (), ()) for url in gone] + [
            Change((), (), [url], ()) for url in come
        ]


_NO_TEXT = "no text is kept of it. A crawl keeps texts with SIMHASH_GATE_KEEP_MARKDOWN"
