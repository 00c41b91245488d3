"""`python -m benchmarks.changes FOLDER`: does a gate see each change of what a page says?

Real pages whose main content people have marked are changed at one place each: in the main content,
which is to be seen, or outside, which is not. The folder has `pages.jsonl`, a line for each page:
`id`, `path`, `url`, `text` (its main content).
"""

from __future__ import annotations

import os
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from lxml import html
from lxml.html import HtmlElement

from benchmarks.quality.methods import BY_TEXT, METHODS
from benchmarks.quality.sets import Page as Labelled
from benchmarks.quality.sets import load_pages, words_of
from benchmarks.speed.measure import options_of, say, table, those_there
from simhash_gate import Gate, Page, Visit, open_store, read_page
from simhash_gate.identity.keys import key_of

QUICK = 10  # every tenth page
LARGEST = 1_500_000  # characters of a page
_NOT_SHOWN = {"head", "script", "style", "template", "noscript", "textarea", "option", "select"}
_NOT_SHOWN |= {"title", "iframe", "svg", "math", "object"}
_STAMP = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s*\d|\d:\d\d|"
    r"\d\s*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|\d[-/.]\d{1,2}[-/.]\d|"
    r"\b(?:viewed|views|posted|replies|comments?|votes?|likes?|ago|reads?|online|guests?|members?)\b",
    re.I,
)
_STAMP_WORDS = 14  # more is a sentence that happens to tell a date
_BLOCK_WORDS = 5  # fewer are no block
_WORD = re.compile(r"\w+")
_DATA = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->", re.I | re.S)  # no page shows it
_AROUND = 25  # characters of the text around a word, which are to stand once in the page
KINDS = ("word", "number", "block", "stamp")


class Change(NamedTuple):
    """One change of a page: `before` stands once in its source, `after` comes in its place.

    `where` is `inside` or `outside` of the main content, or in a `gap` between two of its texts,
    where people left out tables, code and captions. `kind` is `word` (another word), `number`
    (another digit), `block` (a text of five words or more is gone), or `stamp` (a number or block
    in a line with a date, a clock or a counter).
    """

    where: str
    kind: str
    before: str
    after: str


class Seen(NamedTuple):
    """Whether a method sees a change."""

    change: Change
    seen: bool


def places(source: str, content: str) -> Iterator[Change]:
    """Yield all changes of one place of a page, by what stands in its main content."""
    said = words_of(content)
    inside, known, counts = f" {' '.join(said)} ", set(said), Counter(words_of(source))
    shown = _DATA.sub(lambda data: "\0" * len(data[0]), source)
    root = html.document_fromstring(source.encode(), parser=html.HTMLParser(encoding="utf-8"))
    texts = [
        (text, holder)
        for element in root.iter("*")
        for text, holder in ((element.text, element), (element.tail, element.getparent()))
        if text and not text.isspace() and holder is not None
    ]
    marked = [
        n for n, (text, _) in enumerate(texts) if len(words_of(text)) > 3 and _in(text, inside)
    ]
    for number, (text, holder) in enumerate(texts):
        if not _is_shown(holder):
            continue
        between = bool(marked) and marked[0] <= number <= marked[-1]
        is_gap = between and not any(each.tag == "a" for each in (holder, *holder.iterancestors()))
        for change in (*_blocks(text, inside), *_words(text, inside, known, counts)):
            if source.count(change.before) == shown.count(change.before) == 1:
                yield (
                    change._replace(where="gap") if is_gap and change.where == "outside" else change
                )


def _is_shown(element: HtmlElement) -> bool:
    return not any(
        each.tag in _NOT_SHOWN
        or each.get("hidden") is not None
        or "display:none" in each.get("style", "").replace(" ", "")
        for each in (element, *element.iterancestors())
    )


def _is_stamp(text: str) -> bool:
    return len(words_of(text)) <= _STAMP_WORDS and _STAMP.search(text) is not None


def _in(text: str, inside: str) -> bool:
    return f" {' '.join(words_of(text))} " in inside


def _blocks(text: str, inside: str) -> Iterator[Change]:
    if len(words_of(text)) >= _BLOCK_WORDS and _in(text, inside):
        yield Change("inside", "stamp" if _is_stamp(text) else "block", text.strip(), "")


def _words(text: str, inside: str, known: set[str], counts: Counter[str]) -> Iterator[Change]:
    """Yield other words and digits: inside where the words around them are, outside where not."""
    found = [*_WORD.finditer(text)]
    for number, match in enumerate(found):
        word = match[0]
        is_number = word.isascii() and word.isdigit() and len(word) <= 4
        is_word = word.isascii() and word.isalpha() and len(word) >= 5
        around = [each[0].lower() for each in found[max(0, number - 2) : number + 3]]
        if not (is_number or (is_word and counts[word.lower()] == 1)) or len(around) < 3:
            continue  # too short a line to tell where it is
        where = "inside" if f" {' '.join(around)} " in inside else "outside"
        if where == "inside" or word.lower() not in known:
            start, end = max(0, match.start() - _AROUND), match.end() + _AROUND
            other = (
                f"{word[:-1]}{(int(word[-1]) + 3) % 10}" if is_number else f"qu{word[::-1].lower()}"
            )
            kind = "word" if is_word else "stamp" if _is_stamp(text) else "number"
            after = text[start : match.start()] + other + text[match.end() : end]
            yield Change(where, kind, text[start:end], after)


def changes(page: Labelled, each: int) -> Iterator[tuple[Change, str, str]]:
    """Yield up to `each` changes of every kind, with the sources before and after.

    They are drawn by chance, but for a page always the same.
    """
    source = page.path.read_bytes().decode("utf-8", "replace")
    if len(source) > LARGEST:
        return
    by_kind: dict[tuple[str, str], list[Change]] = defaultdict(list)
    for change in places(source, page.facts["text"]):
        by_kind[change.where, change.kind].append(change)
    dice = random.Random(str(page.id))
    for _, found in sorted(by_kind.items()):
        for change in dice.sample(found, min(len(found), each)):
            yield change, source, source.replace(change.before, change.after)


def _by_gate(page: Labelled, each: int) -> Iterator[Seen]:
    """Judge each changed page as a copy in the same crawl, and at a revisit in the next one."""
    for change, before, after in changes(page, each):
        one, other = (read_page(source.encode(), url=page.url) for source in (before, after))
        if one.fingerprint is None:
            continue
        # A copy with less is no loss: there the second page has the block more.
        pair = (one, other) if change.after else (other, one)
        seen = _outcome([(pair[0], page.url), (pair[1], f"{page.url}?copy=2")]) != "duplicate"
        yield Seen(change, seen)
        yield Seen(change, _outcome([(one, page.url)], [(other, page.url)]) != "unchanged")


def _outcome(*crawls: Sequence[tuple[Page, str]]) -> str:
    """Return the verdict on the last page of some crawls, each of pages with their addresses."""
    outcome = ""
    with closing(open_store("memory:")) as store:
        for number, visits in enumerate(crawls):
            run, at = str(number), 1e9 + 1e8 * number
            store.begin(run)
            gate = Gate(store, run=run, pipeline="benchmark")
            for page, url in visits:
                outcome = gate.judge(page, visit=Visit(url, "site", key_of(url), at)).outcome
            store.end(run)
    return outcome


def _by_text(name: str, page: Labelled, each: int) -> Iterator[Seen]:
    """Compare what a method reads of both."""
    method = METHODS[name]
    known: dict[str, Any] = {}
    for change, *sources in changes(page, each):
        one, other = (
            known.get(source) or method.read(source.encode(), page.url) for source in sources
        )
        known = {sources[0]: one}
        if one is not None:
            yield Seen(change, other is None or method.distance(one, other) > method.threshold)


GATE = "**simhash_gate**, verdict"
PEERS = {METHODS[name].title: partial(_by_text, name) for name in BY_TEXT}


def measure(
    method: Callable[[Labelled, int], Iterator[Seen]], pages: Sequence[Labelled], options: Any
) -> list[Seen]:
    """Return what a method sees, page by page. Raises ModuleNotFoundError if it is not there."""
    _of_page(method, options.each, pages[0])
    with ProcessPoolExecutor(options.workers) as pool:
        found = pool.map(partial(_of_page, method, options.each), pages, chunksize=4)
        return [seen for page in found for seen in page]


def _of_page(
    method: Callable[[Labelled, int], Iterator[Seen]], each: int, page: Labelled
) -> list[Seen]:
    try:
        return list(method(page, each))
    except ModuleNotFoundError:
        raise
    except Exception as error:  # a library may raise anything on an odd page
        say(f"{page.id}: {type(error).__name__}: {error}")
        return []


def rate(found: Sequence[Seen], where: str, kind: str = "") -> float | None:
    """Return which share of changes was seen; stamps are not among all."""
    chosen = [
        each.seen
        for each in found
        if each.change.where == where
        and (each.change.kind == kind if kind else each.change.kind != "stamp")
    ]
    return sum(chosen) / len(chosen) if chosen else None


def _shown(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table of methods; 2 for a folder without labels."""
    options = options_of(
        __doc__,
        arguments,
        {
            "folder": (Path, "of the pages"),
            "--each": (2, "changes of every kind, of each page"),
            "--no-peers": (False, "of the gate only"),
            "--quick": (False, f"every {QUICK}th page only"),
            "--workers": (os.cpu_count() or 1, "processes"),
        },
    )
    try:
        pages = [page for page in load_pages(options.folder, "", "text") if page.facts["text"]]
        if not pages:
            raise ValueError("no page has a text")
        pages = pages[:: QUICK if options.quick else 1]
    except (OSError, ValueError, KeyError) as error:
        say(f"{options.folder}: no pages with their main content: {error!r}")
        return 2
    methods = {GATE: _by_gate} | ({} if options.no_peers else PEERS)
    runs = {name: partial(measure, method, pages, options) for name, method in methods.items()}
    rows = []
    for name, seen in those_there(runs):
        places = {where: rate(seen, where) for where in ("inside", "outside", "gap")}
        kinds = {kind: rate(seen, "inside", kind) for kind in KINDS}
        rows.append({"method": name, **{k: _shown(v) for k, v in (places | kinds).items()}})
        say(f"{name}: {', '.join(map(_shown, places.values()))}")
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
