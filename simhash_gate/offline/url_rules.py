"""Rules about URLs as the package duplicate-url-discarder has them, and their file.

A rule has a processor, which removes parameters or parts of the path, and a pattern of url-matcher
for the addresses that it is for. The library takes the pattern by the address that is requested,
and hands what one processor makes of it to the next.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any, NamedTuple
from urllib.parse import urlsplit

FOUND_LATER = (
    "A parameter may begin to matter later. To see that, send one request in a hundred with "
    'meta={"dud": False}, and run this again on the old and the new logs.'
)


class Url(NamedTuple):
    """An address as rules see it: `path` is ("/a", "/b"), `query` has "name=value"."""

    origin: str
    path: tuple[str, ...]
    query: frozenset[str]

    @classmethod
    def of(cls, url: str) -> Url:
        """Return the address of a URL. Raises ValueError if it can't be read."""
        parts = urlsplit(url)
        query = frozenset(q if "=" in q else f"{q}=" for q in parts.query.split("&") if q)
        return cls(f"{parts.scheme}://{parts.netloc.lower()}", split_path(parts.path), query)

    @property
    def host(self) -> str:
        """The host, with a port."""
        return self.origin.partition("://")[2]

    @property
    def plainness(self) -> tuple[int, str]:
        """A key for sorting: the shortest address of a page comes first."""
        return len(self.path) + len(self.query), str(self)

    def __str__(self) -> str:
        query = "&".join(sorted(self.query))
        return self.origin + "".join(self.path) + (f"?{query}" if query else "")


class Rule(NamedTuple):
    """What is removed from addresses: names of parameters, or places of the path, from 0 on.

    `path` is a pattern: `*` stands for anything, `|` for the end; "" is any path. `given` is the
    "name=value" that an address must have, "" for none.
    """

    processor: str
    args: tuple[str, ...] | tuple[int, ...]
    path: str = ""
    given: str = ""

    def apply(self, url: Url) -> Url:
        """Return an address as the processor changes it."""
        if self.processor == "queryRemoval":
            left = frozenset(q for q in url.query if name_of(q) not in self.args)
            return url._replace(query=left)
        last, semicolon, parameters = url.path[-1].partition(";")  # parameters of the path stay
        kept = [p for i, p in enumerate((*url.path[:-1], last)) if i not in self.args]
        return url._replace(path=split_path(("".join(kept) or "/") + semicolon + parameters))

    def matches(self, url: Url) -> bool:
        """Tell whether the rule is for an address of its host."""
        if self.given and self.given.lower() not in map(str.lower, url.query):
            return False
        return not self.path or _fits("".join(url.path).lower(), self.path.lower())

    def pattern(self, host: str) -> str:
        """Return the pattern of its addresses. A host without a path also means subdomains."""
        return host + (self.path or "/") + (f"?{self.given}" if self.given else "")


class Suggestion(NamedTuple):
    """A rule and its evidence: what it would have spared, and what contradicts it.

    `spared` and `lost` are pairs of a URL that is not fetched, and the one that is. The addresses
    of `lost` showed another page. `upper` is the share of them that is not exceeded, with a
    confidence of 95 %.
    """

    host: str
    rule: Rule
    spared: list[tuple[Url, Url]]
    lost: list[tuple[Url, Url]]
    upper: float

    @property
    def evidence(self) -> str:
        """The evidence in words."""
        wrong = f"with 95 % confidence, at most {self.upper:.1%} are wrong"
        return f"fetches spared: {len(self.spared)}, contradictions: {len(self.lost)}; {wrong}"

    def as_json(self, order: int) -> dict[str, Any]:
        """Return the rule as the library reads it. It passes over a comment.

        Of the rules of a site, that with the highest `priority` comes first.
        """
        pattern: dict[str, Any] = {"include": [self.rule.pattern(self.host)], "priority": -order}
        if self.lost:  # these addresses stay as they are, whatever other parameters they have
            parts = (str(url).partition("://")[2].partition("?") for url, _ in self.lost)
            pattern["exclude"] = [f"{address}|{mark}{query}" for address, mark, query in parts]
        rule = {"order": order, "urlPattern": pattern, "processor": self.rule.processor}
        return {**rule, "args": list(self.rule.args), "comment": self.evidence}


def as_json(suggestions: Iterable[Suggestion]) -> str:
    """Return the file that the setting DUD_LOAD_RULE_PATHS names, a rule on each line."""
    rules = [each.as_json(order) for order, each in enumerate(suggestions)]
    for first in rules[:1]:
        first["comment"] += f". {FOUND_LATER}"
    lines = ",\n".join(json.dumps(rule, ensure_ascii=False) for rule in rules)
    return f"[\n{lines}\n]\n"


def name_of(parameter: str) -> str:
    """Return the name in "name=value"."""
    return parameter.partition("=")[0]


def split_path(path: str) -> tuple[str, ...]:
    """Return the parts of a path, each with the slash before it."""
    return tuple(re.findall("/[^/]*", path)) or ("/",)


def _fits(path: str, pattern: str) -> bool:
    """Tell whether a path fits a pattern as url-matcher has it.

    `fnmatch` takes each part where it comes first. Other expressions would try all its places.
    """
    whole = pattern.removesuffix("|") if pattern.endswith("|") else f"{pattern}*"
    return fnmatchcase(path, re.sub(r"[?[]", r"[\g<0>]", whole))
