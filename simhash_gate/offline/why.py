"""Why the gate dropped a page, or let it pass: beside which page, what differs, what would help."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import click

from simhash_gate.common.times import shown
from simhash_gate.common.urls import host_of, without_credentials
from simhash_gate.common.wording import how_many, printable
from simhash_gate.fingerprints.contradictions import contradiction
from simhash_gate.fingerprints.hamming import hamming_distance, to_hex
from simhash_gate.fingerprints.sketch import Sketch, decode
from simhash_gate.gate.judge import is_duplicate_of
from simhash_gate.gate.policy import Policies, Policy, without_www
from simhash_gate.gate.verdict import Verdict, line_of, verdict_of
from simhash_gate.offline.differences import (
    FieldPair,
    TextChange,
    changed_lines,
    changes,
    section,
    side_by_side,
    sketch_as_json,
)
from simhash_gate.offline.replay import judge, open_gate
from simhash_gate.page import Page
from simhash_gate.pipeline import Line, Reading, read_closely
from simhash_gate.report.findings import advice_on
from simhash_gate.report.judged import REVISITS
from simhash_gate.settings import Settings, read_settings
from simhash_gate.sources import Entry
from simhash_gate.stores.base import Record
from simhash_gate.values import PREFIX

_MOST_CHANGES = 20
_SHOWN = 3  # copies that are named
_KEEP = f"{PREFIX}KEEP_MARKDOWN = 100 * 1024**2"
_IN_SOURCES = (
    "To see which words differ, name where both pages are: --in SOURCE, such as an\n"
    f"HttpCache or WARC files; or let the next crawl keep texts: {_KEEP}"
)
_EARLIER = (
    "The words that differ are not known: the store has no text of the earlier version.\n"
    f"The next crawl keeps texts with {_KEEP}"
)
_SAME = "the text is that of the earlier version, but for what changes by itself"
_IN_SHELL = "To see which words differ: page = response, fetch the kept page, why(page, response)"
_MARKS = re.compile(r"!?\[|\]\([^()\s]*\)|[*#>`|]+")
"""What Markdown has beside words: marks, and where links lead."""
_WOULD = {"dropped": "would be dropped", "held back": "would be held back", "passed": "would pass"}
_BITS = re.compile(r"distance \d+(, (threshold|near) \d+|:)(; )? ?")
_SENT_BY: dict[str, dict[str, Any]] = {
    "rule": {"urls": "observe"},
    "trap": {"traps": "observe"},
    "listing": {"listings": "follow"},
}
"""Which setting keeps requests from being sent, by what a verdict log calls that."""


class Side(NamedTuple):
    """What is known of one of two pages: None where it is not known.

    `lines` are those of its text, as they are compared; `reason` says why it has no fingerprint.
    """

    name: str
    title: str = ""
    words: int | None = None
    fingerprint: int | None = None
    sketch: Sketch | None = None
    lines: Sequence[Line] = ()
    markdown: str = ""
    reason: str = ""

    @classmethod
    def read(cls, name: str, page: Page, lines: Sequence[Line] = ()) -> Side:
        """Return a page that was read."""
        sketch = decode(page.sketch) if page.sketch else Sketch()  # without text, it says nothing
        known = (page.title, page.words, page.fingerprint, sketch, lines, page.markdown)
        return cls(name, *known, page.reason or "")

    @classmethod
    def kept(cls, record: Record, markdown: str = "") -> Side:
        """Return a page that a store remembers, with its text if that is kept."""
        try:
            sketch = decode(record.sketch) if record.sketch else None
        except ValueError:  # of another version
            sketch = None
        known = (record.title, record.words, record.fingerprint, sketch)
        return cls(record.url, *known, markdown=markdown)

    def as_json(self, *, fields: bool) -> dict[str, Any]:
        """Return what a line says of a page. `fields` adds what the user's selectors find."""
        digits = None if self.fingerprint is None else to_hex(self.fingerprint)
        values = {"fingerprint": digits, "title": self.title, "words": self.words}
        if self.reason and not digits:
            values["reason"] = self.reason
        return values | (sketch_as_json(self.sketch, fields=fields) if self.sketch else {})

    def as_text(self, *, markdown: bool) -> Iterator[str]:
        """Yield lines of text: what is known."""
        if self.title:
            yield f"title        {printable(self.title)}"
        if self.words is not None:
            yield f"words        {self.words}"
        if self.reason or self.fingerprint is not None:
            none = f"none: {printable(self.reason)}"
            digits = none if self.fingerprint is None else to_hex(self.fingerprint)
            yield f"fingerprint  {digits}"
        if markdown:
            yield from ("", *self.markdown.splitlines())


class Way(NamedTuple):
    """A setting that would change what became of a page, and what would become of it then."""

    setting: str
    then: str


@dataclass(frozen=True)
class Explanation:
    """What became of a page, and why.

    `line` is its verdict as a verdict log has it. `kept` is the page that it was compared with,
    None for none. `is_copy` tells whether it would be a copy of that page under another policy,
    None where too little is known of both. `copies` are the URLs of pages that are copies of it.
    `hint` says how to see the words that differ, where a text is missing.
    """

    line: Mapping[str, Any]
    page: Side
    kept: Side | None
    policy: Policy
    is_copy: Callable[[Policy], bool] | None = None
    copies: Sequence[str] = ()
    hint: str = _IN_SOURCES

    @property
    def became(self) -> str:
        """What happened to the page: `not fetched`, `dropped`, `held back`, `kept` or `passed`."""
        if "not_sent" in self.line:
            return "not fetched"
        if self.line.get("dropped") or self.line.get("held"):
            return "dropped" if self.line.get("dropped") else "held back"
        return "kept" if self.line["outcome"] == "kept" else "passed"

    @property
    def field_pairs(self) -> list[FieldPair]:
        """What both pages claim, as far as it is known."""
        if self.kept is None or self.kept.sketch is None or self.page.sketch is None:
            return []
        return list(side_by_side(self.kept.sketch, self.page.sketch))

    @property
    def changes(self) -> list[TextChange] | None:
        """The words that only one of the pages has; None if the text of one is not known."""
        if self.kept is None:
            return None
        a, b = self.kept.lines, self.page.lines
        if a and b:
            return list(changed_lines(a, b))
        one, other = (_MARKS.sub(" ", side.markdown).split() for side in (self.kept, self.page))
        return list(changes(one, other)) if one and other else None

    @property
    def ways(self) -> list[Way]:
        """The settings that would change what became of the page."""
        outcome = self.line.get("outcome")
        if outcome in ("duplicate", "near"):
            return list(self._of_copy() if outcome == "duplicate" else self._of_near())
        if outcome == "unchanged" and self.policy.revisit != "pass":
            return [Way(self._set(revisit="pass"), "unchanged pages are delivered again")]
        if outcome == "blocked":
            other = "drop" if self.policy.blocked == "pass" else "pass"
            return [Way(self._set(blocked=other), f"block pages get the action {other!r}")]
        if values := _SENT_BY.get(self.line.get("not_sent", "")):
            return [Way(self._set(**values), "such requests are sent")]
        return []

    def _of_copy(self) -> Iterator[Way]:
        bits = self.line.get("distance") or 0
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
        bits = self.line.get("distance")
        looser: dict[str, Any] = {"verify": False} if self.policy.verify else {}
        if bits is not None and bits > self.policy.threshold:
            looser["threshold"] = bits
        if looser and self._is_copy_under(looser) is not False:
            yield Way(self._set(**looser), "it is a duplicate, as are all pages this near")

    def _is_copy_under(self, overrides: dict[str, Any]) -> bool | None:
        """Tell whether the page would be a copy under a policy; None if that can't be told."""
        return None if self.is_copy is None else self.is_copy(replace(self.policy, **overrides))

    def _set(self, **values: Any) -> str:
        """Return the line of a settings file that sets values: for the domain, if it has one."""
        host = without_www(host_of(self.page.name))
        if host:
            return f"{PREFIX}DOMAINS = {_python({host: values})}"
        return "; ".join(f"{PREFIX}{name.upper()} = {_python(v)}" for name, v in values.items())

    def as_json(self, *, markdown: bool) -> dict[str, Any]:
        """Return an object of JSON."""
        found, fields = self.changes, bool(self.policy.compare)
        sides = {"kept": self.kept, "page": self.page}

        def side_as_json(side: Side) -> dict[str, Any]:
            values = {"name": side.name} | side.as_json(fields=fields)
            return values | {"markdown": side.markdown} if markdown else values

        names = ("url", "time", "outcome", "reason", "distance", "differs", "threshold", "near")
        return {
            "became": self.became,
            **{name: self.line.get(name) for name in names},
            **{name: side and side_as_json(side) for name, side in sides.items()},
            "mismatches": [pair._asdict() for pair in self.field_pairs if pair.differs],
            "changes": None if found is None else [change._asdict() for change in found],
            "copies": list(self.copies),
            "settings": [way._asdict() for way in self.ways],
        }

    def as_text(self, *, markdown: bool) -> Iterator[str]:
        """Yield lines of text."""
        yield from self._verdict_as_text()
        if self.line.get("outcome", "skipped") != "skipped":
            before = "earlier version" if self._is_revisit else "kept page"
            for title, side in ((before, self.kept), ("this page", self.page)):
                if side is not None:
                    name = f"{title}  {printable(side.name)}"
                    yield from section(name, side.as_text(markdown=markdown))
        if self.kept is not None:
            yield from self._fields_as_text()
            yield from self._changes_as_text()
        if self.copies:
            others = how_many(len(self.copies), "copy" if len(self.copies) == 1 else "copie")
            lines = [printable(copy) for copy in self.copies[:_SHOWN]]
            if len(self.copies) > _SHOWN:
                lines.append(f"and {len(self.copies) - _SHOWN} more")
            yield from section(f"{others} of this page in the crawl", lines)
        if ways := self.ways:
            found = (line for way in ways for line in (way.setting, f"   {way.then}"))
            yield from section("what would change this", found)

    def _verdict_as_text(self) -> Iterator[str]:
        line, outcome = self.line, self.line.get("outcome")
        yield click.style(printable(str(line["url"])), bold=True)
        also = {
            "held back": "; its links were followed, its items not delivered",
            "passed": "; not judged" if outcome in ("skipped", "error") else "",
        }
        shown_outcome = f" ({outcome})" if outcome not in (None, "kept") else ""
        became = self.became if line.get("time") else _WOULD.get(self.became, self.became)
        yield f"{became}{shown_outcome}{also.get(self.became, '')}"
        bits, policy = line.get("distance"), self.policy
        if bits is not None:
            limits = f"threshold {policy.threshold}, near {policy.near}"
            yield f"   distance     {bits} of 64 bits ({limits})"
        reason = str(line.get("reason") or "")
        if because := _BITS.sub("", reason):
            yield f"   because      {printable(because)}"
        if outcome in ("skipped", "error") and (advice := advice_on(outcome, reason)):
            yield f"                {advice.replace('`', '')}"
        if "not_sent" in line and line.get("matched_url"):
            yield f"   instead      {printable(str(line['matched_url']))}"
        if line.get("time") is not None:
            yield f"   when         {shown(line['time'])}"

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
                yield from section(f"{title} {result}", (pair.as_text() for pair in pairs))

    @property
    def _is_revisit(self) -> bool:
        return self.line.get("outcome") in REVISITS

    def _changes_as_text(self) -> Iterator[str]:
        found = self.changes
        if found is None:
            same = self.line.get("outcome") == "unchanged"
            yield from ("", _SAME if same else _EARLIER if self._is_revisit else self.hint)
            return
        title = "words that differ" if found else "no word of the text differs"
        if found and all(change.ignored for change in found):
            title += ", none that counts"
        gone, come = ([word for it in found for word in it[at]] for at in (1, 2))
        if found and sorted(gone) == sorted(come):
            title = "the same words in another order"
        lines = [change.as_text() for change in found[:_MOST_CHANGES]]
        if len(found) > _MOST_CHANGES:
            lines.append(f"and {how_many(len(found) - _MOST_CHANGES, 'more place')}")
        yield from section(title, lines)


def _python(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("true", "True").replace("false", "False")


def compared(
    a: tuple[str, Reading], b: tuple[str, Reading], settings: Settings, url: str = ""
) -> Explanation:
    """Compare two pages that were read, each with its name: the verdict is that on B after A.

    `url` is that of B: its domain decides the policy.
    """
    policy = settings.policies.site_of(url).policy
    with open_gate(replace(settings, store="memory:")) as gate:
        # One scope: the pages are compared, wherever they came from.
        entries = [Entry(name, path=name, url=url, scope="", request=name) for name, _ in (a, b)]
        first = judge(gate, settings, entries[0], a[1].page)
        verdict = judge(gate, settings, entries[1], b[1].page)
    line = _line(verdict, b[0])
    if None not in (bits := (a[1].page.fingerprint, b[1].page.fingerprint)):
        line["distance"] = hamming_distance(*bits)  # type: ignore[arg-type]
    kept, page = (Side.read(name, read.page, read.lines) for name, read in (a, b))
    return Explanation(line, page, kept, policy, trial_of(first.record, b[1].page))


def _line(verdict: Verdict, url: str) -> dict[str, Any]:
    action = verdict.action if verdict.rejected else "tag"
    return line_of(verdict, url=url, dropped=action == "drop", size=0) | {"held": action == "links"}


def trial_of(kept: Record | None, page: Page | None) -> Callable[[Policy], bool] | None:
    """Return what tells if a page would be a copy under a policy; None if too little is known."""
    if kept is None or page is None:
        return None
    return lambda policy: is_duplicate_of(kept, page, policy, kept.scope)


def why(response: Any, other: Any = None) -> None:
    """Print why the gate dropped a Scrapy response, or let it pass; for `scrapy shell`.

    With `other`, compare this response with it, whatever is remembered. Raises ValueError for a
    response that was not judged.
    """
    verdict = verdict_of(response)
    if other is None:
        if verdict is None:
            raise ValueError(f"the gate has not judged this response: is {PREFIX}ENABLED False?")
        judged = _line(verdict, response.url)
        url, record = judged["url"], verdict.match.record if verdict.match else None
        page = Side.read(url, verdict.page) if verdict.page else Side(url)
        text = verdict.kept.markdown if verdict.kept else ""
        kept = Side.kept(record, text) if record else None
        trial = trial_of(record, verdict.page)
        found = Explanation(judged, page, kept, verdict.policy, trial, hint=_IN_SHELL)
    else:
        settings = read_settings({})
        if verdict is not None:
            settings = replace(settings, policies=Policies(verdict.policy))
        a, b = (
            (without_credentials(each.url), read_closely(each.body, url=each.url))
            for each in (other, response)
        )
        found = compared(a, b, settings, url=response.url)
    for line in found.as_text(markdown=False):
        click.echo(line)
