"""`simhash-gate why`: what became of a page, and why; or two pages side by side.

Verdict logs, stores, journals and files of pages are searched by any address of the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simhash_gate.cli.console import Console, as_json, setting, settings_of
from simhash_gate.common.times import shown as shown_time
from simhash_gate.common.urls import host_of, without_credentials
from simhash_gate.common.wording import Complain, MissingExtraError, complaining
from simhash_gate.fingerprints.hamming import from_hex, to_hex
from simhash_gate.history.texts import unpack
from simhash_gate.history.versions import History, Version
from simhash_gate.identity.keys import key_of
from simhash_gate.journal.contents import drops, journal_files
from simhash_gate.journal.contents import line as line_of_drop
from simhash_gate.offline.chosen import Chosen
from simhash_gate.offline.logs import WITH_LOG, entry_of, is_log, left_by, logs_in, logs_of_project
from simhash_gate.offline.why import Explanation, Side, compared, trial_of
from simhash_gate.pipeline import Reading, read_closely
from simhash_gate.report.judged import REVISITS, LoggedVerdict
from simhash_gate.settings import Settings
from simhash_gate.sources import Entry, read_body
from simhash_gate.sources.find import is_folder
from simhash_gate.sources.jsonl import json_objects
from simhash_gate.sources.open import names_store, open_kept, open_pages, shown
from simhash_gate.stores import StoreError
from simhash_gate.stores.base import KEPT_TEXT, Record

if TYPE_CHECKING:
    from simhash_gate.stores import Store

_EXAMPLE = "those of a verdict log"


@click.command(
    epilog="Examples: simhash-gate why https://example.com/a?print=1; simhash-gate why a.html "
    "b.html"
)
@click.argument("page", metavar="PAGE")
@click.argument("other", required=False, metavar="[OTHER]")
@click.option(
    "--in",
    "sources",
    multiple=True,
    metavar="SOURCE",
    help="Where to look first: a verdict log, a store, a journal, or anything with pages that "
    "`replay` reads. Repeat the option for more. Then `why` looks at what the project has.",
)
@click.option("--url", default="", help="The URL of files. Its domain decides the policy.")
@click.option("--markdown", is_flag=True, help="Also show the Markdown of each page.")
@as_json
@setting
def why(
    page: str,
    other: str | None,
    sources: tuple[str, ...],
    url: str,
    markdown: bool,
    as_json: bool,
    assignments: Sequence[str],
) -> int:
    """Tell what became of PAGE, a URL, in a crawl: dropped or not, beside which page, and why.

    Any address of the page will do. With OTHER, compare two pages: URLs, or HTML files. The verdict
    is the one that the gate reaches on OTHER after PAGE.
    """
    console = Console()
    if "-" in sources:
        raise click.UsageError("stdin can't be read twice. Name a file")
    if other is not None:
        answer = _compared((page, other), sources, settings_of(assignments), url, console)
    elif _is_web(page):
        answer = _became(page, sources, assignments, console)
    else:
        raise click.UsageError(
            f"{page}: expected a URL, http://… or https://…; or two pages to compare"
        )
    if answer is not None and as_json:
        console.write(answer.as_json(markdown=markdown))
    elif answer is not None:
        console.show(answer.as_text(markdown=markdown))
    return console.status()


def _is_web(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def _compared(
    names: Sequence[str], sources: Sequence[str], settings: Settings, url: str, console: Console
) -> Explanation | None:
    sides = []
    for name in names:
        read = _read(name, sources, settings, url, console)
        if read is not None:
            sides.append((without_credentials(name), read))
    if len(sides) < 2:
        return None
    return compared(sides[0], sides[1], settings, names[1] if _is_web(names[1]) else url)


def _read(
    name: str, sources: Sequence[str], settings: Settings, url: str, console: Console
) -> Reading | None:
    """Read a page: a file, or one of the sources. What is not there is complained of."""
    if _is_web(name):
        found = PageTraces(name)
        found.look(sources, settings, console)
        read = found.read(settings)
        if read is None:
            console.complain(found.url, "no such page. Name where it is: --in SOURCE")
        return read
    if is_log(name):
        raise click.UsageError(f"{name} is a verdict log. To look in it: --in {name}")
    with complaining(console.complain, name):
        body = read_body(name, settings.max_bytes)
        if body is None:
            raise ValueError(f"larger than {settings.max_bytes} bytes")
        return read_closely(body, url=url, options=settings.options)
    return None


def _became(
    url: str, sources: Sequence[str], assignments: Sequence[str], console: Console
) -> Explanation | None:
    found = PageTraces(url)
    found.look(sources, settings_of(assignments), console)
    settings, kept = settings_of(assignments, found.crawl), None
    if found.line and found.line.get("matched_url") and found.line.get("outcome") not in REVISITS:
        kept = PageTraces(found.line["matched_url"])
        places = [place for place in found.asked if not is_log(place)]
        kept.look_in(places, settings, lambda *_: None, lambda _: None)  # told already
    answer = found.answer(kept, settings)
    if answer is None:
        missing = "no verdict on it, and no page of it. It was not fetched, or under another URL"
        if found.entry is not None:
            missing = f"it was fetched, and there is no verdict on it. To get verdicts, {WITH_LOG}"
        console.complain(f"{found.url} in {shown(*found.asked)}", missing)
    else:
        console.say(f"looked in {shown(*found.asked)}")
    return answer


@dataclass
class PageTraces:
    """What is known of the page of a URL.

    `line` is its verdict, `crawl` what the crawl says of itself that reached it, `copies` the URLs
    of pages that are copies of it, `entry` the page itself, `record` what a store remembers of it,
    `markdown` its text if it is kept, `versions` what it said at its visits, each with the text
    that is kept of it. `asked` are the places that were looked in.
    """

    url: str
    line: dict[str, Any] | None = None
    crawl: dict[str, Any] = field(default_factory=dict)
    copies: list[str] = field(default_factory=list)
    entry: Entry | None = None
    record: Record | None = None
    markdown: str = ""
    matched_markdown: str = ""
    versions: list[tuple[Version, str]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    _rank: int = 0

    def __post_init__(self) -> None:
        self.url = without_credentials(self.url)
        self._key, self._host = key_of(self.url), host_of(self.url).removeprefix("www.")

    def look(self, sources: Sequence[str], settings: Settings, console: Console) -> None:
        """Look in sources; then in what the project has, the newest verdict log first.

        Raises `StoreError`, `MissingExtraError`, and FileNotFoundError if there is nothing.
        """
        self.look_in(sources, settings, console.complain, console.say)
        logs = logs_of_project()
        while logs and self.line is None and self.record is None:
            self.look_in([logs.pop()], settings, console.complain, console.say)
        for place in left_by(self.crawl):
            if place not in self.asked and self.entry is None:
                with suppress(StoreError, MissingExtraError):
                    self.look_in([place], settings, lambda *_: None, lambda _: None)
        if not self.asked:
            raise FileNotFoundError(f"nothing of it here. Name a SOURCE, or {WITH_LOG}")

    def look_in(
        self, sources: Iterable[str], settings: Settings, complain: Complain, say: Any
    ) -> None:
        """Look in sources of any kind. Raises `StoreError` and `MissingExtraError`."""
        pages = []
        for source in sources:
            self.asked.append(source)
            if names_store(source):
                self._look_in_store(source, complain)
            elif _is_journal(source):
                self._look_in_journal(source, complain)
            elif logs := logs_in(source, say) if is_folder(source) else [source] * is_log(source):
                for log in logs:
                    self._look_in_log(log, complain)
            else:
                pages.append(source)
        if pages:
            for entry in open_pages(pages, complain, settings.max_bytes, say).entries:
                if not entry.skipped and self._is_page(entry.url or entry.name):
                    self.entry = entry

    def read(self, settings: Settings) -> Reading | None:
        """Return the page, read; None if it is not there."""
        entry = self.entry
        if entry is None:
            return None
        return read_closely(
            entry.body, url=entry.url, encoding=entry.encoding, options=settings.options
        )

    def _read_as_judged(self, settings: Settings) -> Reading | None:
        """Return the page, read; None if it is not there, or says something else by now."""
        read, line, record = self.read(settings), self.line or {}, self.record
        if read is None or line.get("words") not in (None, read.page.words):
            return None
        other = record is not None and record.url == self.url and record.digest != read.page.digest
        return None if other else read

    def answer(self, kept: PageTraces | None, settings: Settings) -> Explanation | None:
        """Return what became of the page; None if nothing is known of it.

        `kept` is what is known of the page that it was compared with.
        """
        line = self.line
        if line is None and self.record is not None:
            seen = (self.record.first_seen, self.record.last_seen)
            line = {"url": self.record.url, "outcome": "kept", "time": seen[0]}
            line["reason"] = f"remembered; last seen {shown_time(seen[1])}"
        if line is None:
            return None
        policy = settings.policies.site_of(self.url).policy
        used = {it: line[it] for it in ("threshold", "near") if isinstance(line.get(it), int)}
        policy = replace(policy, **used)
        page = self._read_as_judged(settings)
        other = kept._read_as_judged(settings) if kept else None
        if page is not None and other is not None and kept is not None:
            both = compared((kept.url, other), (line["url"], page), settings, url=line["url"])
            return replace(both, line=line, policy=policy, copies=self.copies)
        found = Explanation(line, self._side(page, line, ""), None, policy, copies=self.copies)
        if line.get("outcome") in REVISITS:
            return replace(found, kept=self._earlier(line))
        if kept is None:
            return found
        kept.markdown = kept.markdown or self.matched_markdown
        trial = trial_of(kept.record, page.page if page else None)
        return replace(found, kept=kept._side(other, line, "matched_"), is_copy=trial)

    def _earlier(self, line: Mapping[str, Any]) -> Side:
        """Return what the page said at the visit before the one of a line."""
        url, words = str(line.get("matched_url")), line.get("matched_words")
        for version, text in self.versions:
            if version.last_seen == line.get("previous_time"):
                return Side(url, version.title, words, version.fingerprint, markdown=text)
        if line["outcome"] == "unchanged":
            return self._side(None, line, "matched_")
        return Side(url, line.get("matched_title") or "", words)

    def _side(self, read: Reading | None, line: Mapping[str, Any], prefix: str) -> Side:
        if read is not None:
            return Side.read(line[f"{prefix}url"], read.page, read.lines)
        if self.record is not None and (prefix or self.record.url == line["url"]):
            return Side.kept(self.record, self.markdown)
        digits = line.get("fingerprint") if not prefix else None
        bits = None
        with suppress(ValueError):
            bits = from_hex(digits) if digits else None
        title, words = (line.get(prefix + name) for name in ("title", "words"))
        return Side(line[f"{prefix}url"], title or "", words, bits, markdown=self.markdown)

    def _is_page(self, url: str | None) -> bool:
        return bool(url) and self._host in str(url) and key_of(str(url)) == self._key

    def _look_in_log(self, path: str, complain: Complain) -> None:
        crawl: dict[str, Any] = {}
        for place, line in json_objects(path, complain, _EXAMPLE):
            if isinstance(line.get("crawl"), dict):
                crawl = line["crawl"]
            if "outcome" not in line and "not_sent" not in line:
                continue
            if line.get("outcome") == "duplicate" and self._is_page(line.get("matched_url")):
                self.copies.append(str(line.get("url")))
            with complaining(complain, place):
                self._take(line, crawl)

    def _take(self, line: dict[str, Any], crawl: dict[str, Any]) -> None:
        """Take a verdict, if none is known that is more surely on this page; later ones count.

        Raises ValueError for values that no verdict has.
        """
        url = line.get("url")
        if url == self.url:
            rank = 5
        elif self._is_page(url):
            rank = 3
        else:
            rank = 1 if self._is_page(line.get("canonical_url")) else 0
        if rank and not self._is_page(line.get("matched_url")):
            rank += 1  # it was not seen again only: it became something
        if rank and rank >= self._rank:
            _ = LoggedVerdict.of(line) if "outcome" in line else None  # a log may say anything
            self.line, self.crawl, self._rank = line, crawl, rank

    def _look_in_journal(self, path: str, complain: Complain) -> None:
        for found in drops(path, complain):
            drop = found.drop
            if not self._is_page(drop.url):
                continue
            if self.line is None:
                line = line_of_drop(found) | {"dropped": True, "time": drop.time}
                self._take(line, {"name": drop.spider})
            self.matched_markdown = drop.matched_markdown
            with complaining(complain, str(found.place)):
                self.entry = entry_of(found)

    def _look_in_store(self, url: str, complain: Complain) -> None:
        with open_kept(url) as store:
            chosen = Chosen(page=self.url)
            for record in chosen.of(store):
                if self.record is None or self.record.url != self.url:
                    self.record = record
            if self.record is None:
                return
            with complaining(complain, self.record.url):
                self.markdown = _text(store, self.record)
                for past in chosen.histories(store):
                    found = History.decode(past.history).versions
                    self.versions += [
                        (it, _text(store, replace(self.record, digest=it.digest))) for it in found
                    ]


def _text(store: Store, record: Record) -> str:
    """Return the Markdown that a store keeps of a page, "" for none. Raises ValueError."""
    data = store.get(KEPT_TEXT, record.scope, to_hex(record.digest))
    return unpack(data).markdown if data else ""


def _is_journal(path: str) -> bool:
    with suppress(OSError):
        return Path(path).is_dir() and bool(journal_files(path))
    return False
