"""Suggest rules about URLs, from what the verdict logs of crawls say of addresses.

A rule is tried on all addresses of a host. Those that it makes one are fetches that it would have
spared. An address that showed another page than the one that is fetched contradicts the rule.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import chain, combinations
from typing import Any

from simhash_gate.common.proportion import upper_bound
from simhash_gate.offline.url_rules import Rule, Suggestion, Url, name_of
from simhash_gate.report.judged import LoggedVerdict

BOUND = 0.1
"""With a confidence of 95 %, a smaller share of what a rule spares would show another page."""
FEWEST = 29
"""A rule that spares fewer fetches can't have that evidence."""
_MOST_COPIES = 12  # of one page that are compared with each other
_MOST_VALUES = 10  # of parameters that are tried on one kind of paths
_MOST_PATHS = 40  # rules about paths that are tried at a time
_MOST_STARS = 4  # in a pattern: url-matcher tries all places of each in the path of a stranger
_SIMPLE = re.compile(r"[\w.~-]+=[\w.~-]*")  # means the same in a pattern and in a URL

Shown = dict[int, set[str]]
"""The contents that an address showed, by the number of the crawl."""
Pair = tuple[Url, Url, Mapping[int, bool]]
"""An address that is not fetched, the one that is, and whether the crawls that met both saw two."""


class Crawls:
    """What the addresses of sites showed, crawl by crawl."""

    def __init__(self) -> None:
        self.pages = 0
        self._hosts: defaultdict[str, dict[Url, Shown]] = defaultdict(dict)
        self._crawl = 0
        self._same: dict[str, str] = {}  # another URL of the page; the first one has itself

    def begin(self) -> None:
        """Begin a crawl. Pages change, so only what one crawl saw is compared."""
        for url in self._same:
            address = Url.of(url)
            shown = self._hosts[address.host.removeprefix("www.")].setdefault(address, {})
            shown.setdefault(self._crawl, set()).add(self._first(url))
        self._crawl += 1
        self._same = {}

    def add_line(self, line: Mapping[str, Any]) -> None:
        """Take notice of a line of a log. Raises ValueError that names what is wrong in it."""
        if "crawl" in line:
            self.begin()
        if "outcome" not in line:
            return
        verdict = LoggedVerdict.of(line)
        if not (verdict.means.page and verdict.means.judged):
            return
        urls = [verdict.url]
        if verdict.kept and not verdict.means.kept:  # it says what that page says
            urls.append(verdict.kept.url)
        addresses = [str(Url.of(url)) for url in urls if url.startswith(("http://", "https://"))]
        for address in addresses:
            self._same[self._first(address)] = self._first(addresses[-1])
        self.pages += bool(addresses)

    def _first(self, url: str) -> str:
        while (other := self._same.setdefault(url, url)) != url:
            url = other
        return url

    def suggest(self) -> Iterator[Suggestion]:
        """Yield the rules of each host, in the order in which they are to be applied."""
        self.begin()
        for host, shown in sorted(self._hosts.items()):
            yield from Host(host, shown).suggest()


class Evidence:
    """Pairs of an address that is not fetched, and the one that is; `lost` are contradictions.

    A rule is refuted by one crawl alone, for that may be the first to see that a page has changed:
    `refuted_by` is the first crawl with too many contradictions. A page may have been edited
    between two fetches: one in 200, or one of more than 45.
    """

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self.spared: list[tuple[Url, Url]] = []
        self.lost: list[tuple[Url, Url]] = []
        met, differing = Counter[int](), Counter[int]()  # by crawl
        for other, kept, differ in pairs:
            (self.lost if any(differ.values()) else self.spared).append((other, kept))
            met.update(differ.keys())  # else the values would be added
            differing.update(differ)
        refuting = (c for c, n in differing.items() if n > max(met[c] * 0.005, met[c] > 45))
        self.refuted_by = min(refuting, default=None)

    @property
    def upper(self) -> float:
        """The share of contradictions that is not exceeded, with a confidence of 95 %."""
        return upper_bound(len(self.lost), len(self.lost) + len(self.spared))

    @property
    def is_enough(self) -> bool:
        """Whether the rule is written."""
        return self.refuted_by is None and self.upper < BOUND


class Host:
    """The addresses of a host, with or without `www.`, and the rules that were found for it."""

    def __init__(self, host: str, shown: Mapping[Url, Shown]) -> None:
        # The pattern of a host also matches it with `www.`, but not the other way round.
        self._host = host if any(url.host == host for url in shown) else f"www.{host}"
        self._shown = shown
        self._found: list[Suggestion] = []
        self._now = {url: url for url in shown}  # what the rules so far make of an address
        self._parts = Counter(part for url in shown for part in url.path)
        # The first crawl in which a parameter mattered somewhere. Those before it saw another site.
        self._matters_since: dict[str, int] = {}
        self._index()

    def suggest(self) -> list[Suggestion]:
        """Return the rules. The widest are found first: the others see what they have left."""
        found = -1
        while len(self._found) > found and len(self._shown) > FEWEST:
            found = len(self._found)
            for _ in self._tries(self._copies()):
                if len(self._found) > found:
                    break
        return self._found

    def _tries(self, pairs: Sequence[tuple[Url, Url]]) -> Iterator[None]:
        """Try rules of one kind after the other, and yield after each. `pairs` showed one page."""
        of_kinds: defaultdict[str, list[tuple[Url, Url]]] = defaultdict(list)
        for a, b in pairs:
            if a.path == b.path:  # a kind is the pattern of paths that are like this one
                kind = "".join(map(self._star, a.path[:3])) + ("|" if len(a.path) <= 3 else "/")
                of_kinds[kind].append((a, b))
        everywhere = self._remove(_names(chain.from_iterable(of_kinds.values())))
        yield
        kinds = {kind: alike for kind, alike in of_kinds.items() if len(alike) >= FEWEST}
        matter = {kind: self._remove(everywhere & _names(of), kind) for kind, of in kinds.items()}
        yield
        for kind, alike in kinds.items():  # what matters there, if it has a value, such as start=0
            differ = (q for a, b in alike for q in sorted(a.query ^ b.query))
            given = Counter(q for q in differ if name_of(q) in matter[kind])
            for value, _ in given.most_common(_MOST_VALUES):
                if _SIMPLE.fullmatch(value):
                    having = ((a, b) for a, b in alike if value in a.query | b.query)
                    self._remove(_names(having), kind, value)
        yield
        paths = (sorted((a.path, b.path), key=len) for a, b in pairs if a.query == b.query)
        rules = Counter(rule for pair in paths for rule in self._of_paths(*pair))
        for rule, _ in rules.most_common(_MOST_PATHS):
            self._take(rule)

    def _index(self) -> None:
        self._urls: defaultdict[Url, list[Url]] = defaultdict(list)
        self._contents: defaultdict[Url, Shown] = defaultdict(dict)
        self._having: defaultdict[str, dict[Url, None]] = defaultdict(dict)  # by a parameter
        for url, now in self._now.items():
            self._urls[now].append(url)
            for crawl, contents in self._shown[url].items():
                self._contents[now].setdefault(crawl, set()).update(contents)
            for parameter in now.query:
                self._having[name_of(parameter)][now] = None

    def _copies(self) -> list[tuple[Url, Url]]:
        """Return pairs of addresses that showed one page, and are two by the rules so far."""
        pages: defaultdict[tuple[int, str, str], list[Url]] = defaultdict(list)
        for url, shown in self._contents.items():
            for crawl, contents in shown.items():
                pages[crawl, min(contents), url.origin].append(url)
        few = (
            sorted(same, key=lambda url: url.plainness)[:_MOST_COPIES] for same in pages.values()
        )
        return list(dict.fromkeys(pair for same in few for pair in combinations(same, 2)))

    def _remove(self, names: Set[str], path: str = "", given: str = "") -> Set[str]:
        """Take the rule for those parameters that make no difference. Return those that do.

        They are removed together, for some come only together. Each needs its own evidence.
        """
        rule = partial(Rule, "queryRemoval", path=path, given=given)
        refuted = {name: Evidence(self._merged(rule((name,)))).refuted_by for name in names}
        left = {name for name, crawl in refuted.items() if crawl is None}
        while left:
            together = rule(tuple(sorted(left)))
            of_name: defaultdict[str, list[Pair]] = defaultdict(list)
            for pair in self._merged(together):
                for name in _names([pair[:2]]):
                    of_name[name].append(pair)
            found = {name: Evidence(of_name[name]) for name in left}
            refuted |= {name: evidence.refuted_by for name, evidence in found.items()}
            out = {name for name in left if refuted[name] is not None}
            out = out or {name for name in left if not found[name].is_enough}
            if not out:
                self._take(together)
                break
            left -= out
        since = {name: crawl for name, crawl in refuted.items() if crawl is not None}
        self._matters_since = since | self._matters_since
        return since.keys()

    def _take(self, rule: Rule) -> None:
        evidence = Evidence(self._merged(rule))
        if not evidence.is_enough:
            return
        of = self._urls
        spared = [(of[other][0], of[kept][0]) for other, kept in evidence.spared]
        lost = [(url, of[kept][0]) for other, kept in evidence.lost for url in of[other]]
        self._found.append(Suggestion(self._host, rule, spared, lost, evidence.upper))
        excluded = {url for url, _ in lost}
        for url, now in self._now.items():
            if rule.matches(url) and url not in excluded:
                self._now[url] = rule.apply(now)
        self._index()

    def _merged(self, rule: Rule) -> Iterator[Pair]:
        """Yield each address that a rule spares, with the one that is fetched in place of it."""
        merged: defaultdict[Url, set[Url]] = defaultdict(set)
        of_query = rule.processor == "queryRemoval"
        having = chain.from_iterable(self._having[str(name)] for name in rule.args)
        for now in dict.fromkeys(having) if of_query else self._urls:
            # If one of the addresses matches, all count: that finds more contradictions, not fewer.
            if any(map(rule.matches, self._urls[now])) and (new := rule.apply(now)) != now:
                merged[new].add(now)
        since = max((self._matters_since.get(str(name), 0) for name in rule.args), default=0)
        for new, urls in merged.items():
            known = urls | ({new} & self._urls.keys())
            kept, *others = sorted(known, key=lambda url: url.plainness)
            before = self._contents[kept]
            for other in others:
                contents = self._contents[other]
                both = [crawl for crawl in before.keys() & contents if crawl >= since]
                if differ := {crawl: before[crawl].isdisjoint(contents[crawl]) for crawl in both}:
                    yield other, kept, differ

    def _star(self, part: str) -> str:
        return "/*" if re.search(r"\d", part) or self._parts[part] < 5 else part

    def _of_paths(self, short: tuple[str, ...], long: tuple[str, ...]) -> Iterator[Rule]:
        """Yield the rule that makes two paths one: for parts that one has more, or that differ."""
        more = len(long) - len(short)
        for start in range(len(long)):
            end = start + max(more, 1)
            left = short if more else short[:start] + short[end:]
            if long[:start] + long[end:] == left:
                cut = [self._star(part) if more else "/*" for part in long[start:end]]
                parts = [*map(self._star, long[:start]), *cut, "|" if end == len(long) else "/"]
                if (pattern := "".join(parts)).count("*") <= _MOST_STARS:
                    yield Rule("subpathRemoval", tuple(range(start, end)), pattern)
                return


def _names(pairs: Iterable[tuple[Url, Url]]) -> set[str]:
    """Return the names of the parameters in which addresses differ."""
    return {name_of(parameter) for a, b in pairs for parameter in a.query ^ b.query}
