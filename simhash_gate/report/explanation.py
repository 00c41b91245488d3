"""What became of a page, and why: beside which page, what differs, what would change it.

It is made once: a command prints it as text or as JSON, and the report shows it in HTML.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import click

from simhash_gate.common.times import shown
from simhash_gate.common.urls import host_of
from simhash_gate.common.wording import how_many, printable
from simhash_gate.compare.contradictions import contradiction
from simhash_gate.compare.offers import other_prices
from simhash_gate.compare.sketch import Sketch, decode
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.gate.policy import Policy, without_www
from simhash_gate.history.versions import Version
from simhash_gate.page import Page
from simhash_gate.report import differences as between
from simhash_gate.report.differences import FieldPair, Line, Part, TextChange
from simhash_gate.report.doubt import Doubt, difference, doubt
from simhash_gate.report.findings import advice_on
from simhash_gate.report.judged import LoggedMatch, LoggedVerdict
from simhash_gate.stores.base import Record
from simhash_gate.values import PREFIX

_MOST_CHANGES = 20
_SHOWN = 3  # copies that are named
IN_SOURCES = "Name where the pages are: --in SOURCE, such as an HttpCache or WARC files"
KEEP_TEXTS = f"The next crawl keeps texts with {PREFIX}KEEP_MARKDOWN = 100 * 1024**2"
KEEP_COPIES = f'The next crawl keeps the pages that it drops with {PREFIX}JOURNAL = "dropped"'
_SAME = "the text is that of the earlier version, but for what changes by itself"
_WOULD = {"dropped": "would be dropped", "held back": "would be held back", "passed": "would pass"}
_BITS = re.compile(r"distance \d+(, (threshold|near) \d+|:)(; )? ?")


class Side(NamedTuple):
    """What is known of one of two pages: None where it is not known.

    `lines` are those of its text, as they are compared; `reason` says why it has no fingerprint.
    `links` are where it leads.
    """

    name: str
    title: str = ""
    words: int | None = None
    fingerprint: int | None = None
    sketch: Sketch | None = None
    lines: Sequence[Line] = ()
    markdown: str = ""
    reason: str = ""
    links: frozenset[str] | None = None

    @classmethod
    def read(cls, name: str, page: Page, lines: Sequence[Line] = ()) -> Side:
        """Return a page that was read. Without text, it claims nothing."""
        side = cls.known(name, page, page.markdown)
        reason = page.reason or ""
        return side._replace(sketch=side.sketch or Sketch(), lines=lines, reason=reason)

    @classmethod
    def known(
        cls,
        name: str,
        page: Page | Record | Version | LoggedVerdict | LoggedMatch,
        markdown: str = "",
    ) -> Side:
        """Return a page that a store or a verdict log tells of, with what is kept of its text."""
        side = cls(name, page.title, page.words, page.fingerprint, markdown=markdown)
        with suppress(ValueError):  # a sketch of another version
            if data := getattr(page, "sketch", b""):
                return side._replace(sketch=decode(data))
        return side

    def as_json(self, *, fields: bool) -> dict[str, Any]:
        """Return what a line says of a page. `fields` adds what the user's selectors find."""
        digits = None if self.fingerprint is None else to_hex(self.fingerprint)
        values: dict[str, Any] = {"fingerprint": digits, "title": self.title, "words": self.words}
        if self.reason and not digits:
            values["reason"] = self.reason
        if self.sketch is not None:
            values["names"] = [*between.names_of(self.sketch).values()]
            values["offered"] = dict(self.sketch.offered)
            values |= {"fields": dict(self.sketch.compared)} if fields else {}
        return values

    def as_text(self, *, markdown: bool) -> Iterator[str]:
        """Yield lines of text: what is known."""
        if self.title:
            yield f"title        {printable(self.title)}"
        if self.words is not None:
            yield f"words        {self.words}"
        if self.fingerprint is not None:
            yield f"fingerprint  {to_hex(self.fingerprint)}"
        elif self.reason:
            yield f"fingerprint  none: {printable(self.reason)}"
        if markdown:
            yield from ("", *self.markdown.splitlines())


class Way(NamedTuple):
    """A setting that would change what became of a page, and what would become of it then."""

    setting: str
    then: str


@dataclass(frozen=True)
class Explanation:
    """What became of a page, and why.

    `kept` is the page that it was compared with, None for none. Without an outcome, the verdict
    says only that the two were compared. `is_copy` tells whether the page would be a copy of the
    kept one under another policy, None where too little is known of both. `copies` are the URLs of
    pages that are copies of it. `hints` say how to see the words that differ, where a text is
    missing.
    """

    verdict: LoggedVerdict
    page: Side
    kept: Side | None
    policy: Policy = Policy()
    is_copy: Callable[[Policy], bool] | None = None
    copies: Sequence[str] = ()
    hints: Sequence[str] = ()

    @property
    def became(self) -> str:
        """What happened: `dropped`, `held back`, `kept` or `passed`; "" without a verdict."""
        verdict = self.verdict
        if verdict.dropped or verdict.held:
            return "dropped" if verdict.dropped else "held back"
        return "passed" if verdict.outcome not in ("kept", "") else verdict.outcome

    @property
    def field_pairs(self) -> list[FieldPair]:
        """What both pages claim, as far as it is known."""
        if self.kept is None or self.kept.sketch is None or self.page.sketch is None:
            return []
        return list(between.side_by_side(self.kept.sketch, self.page.sketch))

    @cached_property
    def parts(self) -> list[Part] | None:
        """Both texts, as parts that agree and parts that differ; None if one is not known."""
        if self.kept is None:
            return None
        if self.kept.lines and self.page.lines:
            return between.parts_of(self.kept.lines, self.page.lines)
        texts = self.kept.markdown, self.page.markdown
        return between.parts_of(*map(between.lines_of, texts)) if all(texts) else None

    @cached_property
    def changes(self) -> Sequence[TextChange] | None:
        """What only one of the texts says; None if one is not known."""
        return self.verdict.changes if self.parts is None else between.changes_in(self.parts)

    @property
    def links(self) -> tuple[list[str], list[str]] | None:
        """The links that only the kept page has, and only this one; None if some are not known."""
        if self.kept is None or self.kept.links is None or self.page.links is None:
            return None
        old, new = self.kept.links, self.page.links
        return sorted(old - new), sorted(new - old)

    @property
    def is_reordered(self) -> bool:
        """Whether the texts differ, but only in the order of their words."""
        found = self.changes or ()
        gone, come = (" ".join(it[at] for it in found).split() for at in (1, 2))
        return bool(found) and sorted(gone) == sorted(come)

    @cached_property
    def doubt(self) -> Doubt:
        """How much differs, as far as it is known."""
        found = doubt(self.verdict)
        if self.kept is None or self.parts is None:
            return found
        changed = sum(len(part.a) + len(part.b) for part in self.parts if not part.same)
        every = sum(len(part.a) + len(part.b) for part in self.parts)
        offer = found.offer or other_prices(self.kept.markdown, self.page.markdown)
        share = changed / every if every else 0.0
        return found._replace(offer=offer, growth=share, words=bool(self.changes))

    @property
    def differences(self) -> str:
        """What differs, in a few words each."""
        found = "; ".join(difference(self.verdict, self.doubt))
        return found or "the same words in another order" * self.is_reordered

    @property
    def ways(self) -> list[Way]:
        """The settings that would change what became of the page."""
        outcome = self.verdict.outcome
        if outcome == "duplicate":
            return list(self._of_copy())
        if self.verdict.means.kept:
            return list(self._of_near())
        if outcome == "unchanged" and self.policy.revisit != "pass":
            return [Way(self._set(revisit="pass"), "unchanged pages are delivered again")]
        if outcome == "blocked":
            other = "drop" if self.policy.blocked == "pass" else "pass"
            return [Way(self._set(blocked=other), f"block pages get the action {other!r}")]
        return []

    def _of_copy(self) -> Iterator[Way]:
        bits = self.verdict.distance or 0
        lower = {it: bits - 1 for it in ("threshold", "near") if getattr(self.policy, it) >= bits}
        if bits and self._is_copy_under(lower) is not True:
            yield Way(self._set(**lower), "copies at this distance pass")
        such = (
            "such as h1 or .price: pages pass on which one of these CSS selectors finds other text"
        )
        yield Way(self._set(compare=["h1"]), such)
        if self.policy.action != "tag":
            yield Way(self._set(action="tag"), "duplicates pass, with their verdict")
        hosts = {without_www(host_of(side.name)) for side in (self.page, self.kept) if side}
        if len(hosts) > 1:
            yield Way(f'{PREFIX}SCOPE = "host"', "pages of different hosts are not compared")

    def _of_near(self) -> Iterator[Way]:
        bits = self.verdict.distance
        if bits is not None and bits > self.policy.near and self._is_copy_under({"near": bits}):
            yield Way(self._set(near=bits), "it is a duplicate: pages this near are looked at")
        looser: dict[str, Any] = {"verify": False} if self.policy.verify else {}
        if bits is not None and bits > self.policy.threshold:
            looser["threshold"] = bits
        if self.verdict.outcome == "near" and looser and self._is_copy_under(looser) is not False:
            yield Way(self._set(**looser), "it is a duplicate, as are all pages this near")

    def _is_copy_under(self, overrides: Mapping[str, Any]) -> bool | None:
        """Tell whether the page would be a copy under a policy; None if that can't be told."""
        return None if self.is_copy is None else self.is_copy(replace(self.policy, **overrides))

    def _set(self, **values: Any) -> str:
        """Return the line of a settings file that sets values: for the domain, if it has one."""
        host = without_www(host_of(self.page.name))
        if host:
            return f"{PREFIX}DOMAINS = {_python({host: values})}"
        return "; ".join(f"{PREFIX}{name.upper()} = {_python(v)}" for name, v in values.items())

    def as_json(self, *, markdown: bool = False) -> dict[str, Any]:
        """Return an object of JSON."""
        verdict, found, fields = self.verdict, self.changes, bool(self.policy.compare)

        def side_as_json(side: Side) -> dict[str, Any]:
            values = {"name": side.name} | side.as_json(fields=fields)
            return values | {"markdown": side.markdown} if markdown else values

        return {
            "became": self.became or None,
            "url": verdict.url,
            "time": verdict.at,
            **{name: getattr(verdict, name) or None for name in ("outcome", "reason", "differs")},
            **{name: getattr(verdict, name) for name in ("distance", "threshold", "near")},
            "kept": self.kept and side_as_json(self.kept),
            "page": side_as_json(self.page),
            "mismatches": [pair._asdict() for pair in self.field_pairs if pair.differs],
            "changes": None if found is None else [change._asdict() for change in found],
            "links": self.links and dict(zip(("removed", "added"), self.links, strict=True)),
            "copies": list(self.copies),
            "settings": [way._asdict() for way in self.ways],
        }

    def as_text(self, *, markdown: bool = False) -> Iterator[str]:
        """Yield lines of text: in red what only the kept page has, in green what only the other."""
        yield from self._verdict_as_text()
        if self.verdict.outcome != "skipped":
            for title, side in ((self._before, self.kept), ("this page", self.page)):
                if side is not None:
                    name = f"{title}  {printable(side.name)}"
                    yield from _section(name, side.as_text(markdown=markdown))
        if self.kept is not None:
            yield from self._fields_as_text()
            yield from self._changes_as_text()
        if self.copies:
            others = how_many(len(self.copies), "copy" if len(self.copies) == 1 else "copie")
            lines = [printable(copy) for copy in self.copies[:_SHOWN]]
            if len(self.copies) > _SHOWN:
                lines.append(f"and {len(self.copies) - _SHOWN} more")
            yield from _section(f"{others} of this page in the crawl", lines)
        if ways := self.ways:
            found = (line for way in ways for line in (way.setting, f"   {way.then}"))
            yield from _section("what would change this", found)

    def _verdict_as_text(self) -> Iterator[str]:
        verdict, outcome = self.verdict, self.verdict.outcome
        yield click.style(printable(verdict.url), bold=True)
        also = {
            "held back": "; its links were followed, its items not delivered",
            "passed": "" if verdict.means.judged else "; not judged",
        }
        became = self.became if verdict.at else _WOULD.get(self.became, self.became)
        if became:
            shown_outcome = f" ({outcome})" if outcome not in ("", "kept") else ""
            yield f"{became}{shown_outcome}{also.get(self.became, '')}"
        if verdict.distance is not None:
            limits = f" (threshold {self.policy.threshold}, near {self.policy.near})"
            yield f"   distance     {verdict.distance} of 64 bits{limits if became else ''}"
        if because := _BITS.sub("", verdict.reason).removeprefix("but "):
            yield f"   because      {printable(because)}"
        if not verdict.means.judged and (advice := advice_on(outcome, verdict.reason)):
            yield f"                {advice.replace('`', '')}"
        if verdict.at is not None:
            yield f"   when         {shown(verdict.at)}"

    def _fields_as_text(self) -> Iterator[str]:
        found = self.field_pairs
        a, b = self.kept and self.kept.sketch, self.page.sketch
        apart = contradiction(a, b) if a and b else None
        for kind, title in (("names", "names"), ("offered", "offers"), ("fields", "fields")):
            pairs = [pair for pair in found if pair.kind == kind]
            if pairs:
                result = "differ" if any(pair.differs for pair in pairs) else "agree"
                if result == "differ" and kind != "fields" and apart is None:
                    result = "differ, but do not contradict each other"
                lines = (
                    f"{pair.name or 'name':11}  "
                    + (_marked(pair.a, pair.b) if pair.differs else printable(pair.b or ""))
                    for pair in pairs
                )
                yield from _section(f"{title} {result}", lines)

    @property
    def _before(self) -> str:
        is_revisit = not self.verdict.outcome or self.verdict.means.revisit
        return "earlier version" if is_revisit else "kept page"

    def _changes_as_text(self) -> Iterator[str]:
        found, links = self.changes, self.links
        if found is None:
            sides = (f"the {self._before}", self.kept), ("this page", self.page)
            missing = [name for name, it in sides if it and not (it.lines or it.markdown)]
            what = f"Which words differ is not known: no text of {' or of '.join(missing)} is here."
            yield ""
            yield from [_SAME] if self.verdict.outcome == "unchanged" else [what, *self.hints]
            return
        title = "words that differ" if found else "no word of the text differs"
        if found and all(change.ignored for change in found):
            title += ", none that counts"
        if self.is_reordered:
            title = "the same words in another order"
        lines = [_change_as_text(change) for change in found[:_MOST_CHANGES]]
        if len(found) > _MOST_CHANGES:
            lines.append(f"and {how_many(len(found) - _MOST_CHANGES, 'more place')}")
        yield from _section(title, lines)
        if links is not None:
            lines = [_marked(link, None) for link in links[0]]
            lines += [_marked(None, link) for link in links[1]]
            yield from _section("links that differ" if lines else "no link differs", lines)


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield from ("", click.style(title, bold=True))
    yield from (f"   {line}".rstrip() for line in lines)


def _change_as_text(change: TextChange) -> str:
    before, removed, added, after, ignored = change.shown()
    note = ignored and click.style(f"(ignored: {ignored})", dim=True)
    marked = _marked(removed or None, added or None)
    return " ".join(filter(None, (printable(before), marked, printable(after), note)))


def _marked(a: str | None, b: str | None) -> str:
    """Return what only A has in red, and what only B has in green."""
    parts = [
        "" if a is None else click.style(f"[-{printable(a)}-]", fg="red"),
        "" if b is None else click.style(f"{{+{printable(b)}+}}", fg="green"),
    ]
    return " ".join(filter(None, parts))


def _python(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("true", "True").replace("false", "False")
