"""A pattern tree: T. Lei, R. Cai, J.-M. Yang, Y. Ke, X. Fan, L. Zhang, "A Pattern Tree-based
Approach to Learning URL Normalization Rules", WWW 2010.
Written after its description.

The paper chooses its thresholds on its own data; here they are the same for all that is learned in
batches.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from math import log
from typing import NamedTuple
from urllib.parse import urlsplit

from benchmarks.urls.methods import SUPPORT, WRONG, BatchMethod, clusters, holds

ANY = "*"
Parts = dict[str, str]


def parts_of(url: str) -> Parts:
    """Return a URL as keys and values: scheme, host, each level of the path, each parameter.

    Section 3.1 of the paper.
    """
    split_url = urlsplit(url)
    parts = {"scheme": split_url.scheme, "host": split_url.netloc}
    for level, segment in enumerate(split_url.path.split("/")[1:]):
        parts[f"path {level}"] = segment
    for pair in filter(None, split_url.query.split("&")):
        name, _, value = pair.partition("=")
        parts[f"query {name}"] = value
    return parts


class Row(NamedTuple):
    """A URL of the site, taken apart, and the number of its content."""

    parts: Parts
    content: int


@dataclass(eq=False)
class Node:
    """URLs with the same values for some keys: a literal value, any value, or None for no such key.

    An inner node asks for one more key; `children` are by its literal values, `ANY`, and None.
    """

    pattern: dict[str, str | None]
    key: str = ""
    children: dict[str | None, Node] = field(default_factory=dict)
    rows: Sequence[Row] = ()

    def leaf_of(self, parts: Parts) -> Node | None:
        """Return the leaf that a URL belongs to, if any."""
        node = self
        while node.key:
            value = parts.get(node.key)
            child = node.children.get(value)
            if child is None and value is not None:
                child = node.children.get(ANY)
            if child is None:
                return None
            node = child
        return node if parts.keys() <= node.pattern.keys() else None


def build(rows: Sequence[Row], pattern: dict[str, str | None], keys: Sequence[str]) -> Node:
    """Build the tree of some URLs, from the top. Algorithm 1 of the paper.

    The key whose values are least scattered comes first. Salient values get a branch each, trivial
    ones share one.
    """
    node = Node(pattern)
    keys = [key for key in keys if any(key in row.parts for row in rows)]
    if not keys:
        node.rows = rows
        return node
    values = {key: Counter(row.parts.get(key) for row in rows) for key in keys}
    node.key = min(keys, key=lambda key: _entropy(values[key]))
    salient = _salient(node.key, rows)
    groups: dict[str | None, list[Row]] = defaultdict(list)
    for row in rows:
        value = row.parts.get(node.key)
        groups[value if value is None or value in salient else ANY].append(row)
    rest = [key for key in keys if key != node.key]
    for value, group in groups.items():
        node.children[value] = build(group, {**pattern, node.key: value}, rest)
    return node


def _entropy(values: Counter[str | None]) -> float:
    total = values.total()
    return -sum(number / total * log(number / total) for number in values.values())


def _salient(key: str, rows: Sequence[Row]) -> set[str]:
    """Return the values before the steepest fall of the logarithm of how often they occur.

    Section 3.2. A value of so few contents that no rule can rest on it is trivial.
    """
    contents: dict[str, set[int]] = defaultdict(set)
    for row in rows:
        if key in row.parts:
            contents[row.parts[key]].add(row.content)
    if len(contents) == 1:
        return {*contents}
    ranked = sorted(((len(found), value) for value, found in contents.items()), reverse=True)
    frequent = [(number, value) for number, value in ranked if number >= SUPPORT]
    following = [number for number, _ in ranked[1:]] + [1]
    falls = [log(one[0]) - log(other) for one, other in zip(frequent, following, strict=False)]
    return {value for _, value in frequent[: falls.index(max(falls)) + 1]} if falls else set()


@dataclass(eq=False)
class Rule:
    """Rewrites the URLs of one leaf.

    `made` are the keys of the result: each has a value (`replace`), or the name of the key of the
    source that it takes its value from (`keep`). Other keys of the source are ignored.
    """

    source: Node
    target: Node
    kept: dict[str, str]
    set_to: dict[str, str]
    support: int = 0

    def apply(self, parts: Parts) -> Parts:
        """Return the URL of the target."""
        made = {key: parts[source] for key, source in self.kept.items()}
        return made | self.set_to


def rule_of(source: Node, target: Node, pairs: Sequence[tuple[Parts, Parts]]) -> Rule | None:
    """Return the rule from one leaf to another that holds for pairs of the same content, if any.

    Section 4: a literal of the target is set; any other value must be that of a key of the source,
    in nearly all pairs. Within one leaf, a key with several values for one content is ignored.
    """
    rule = Rule(source, target, {}, {})
    for key, value in target.pattern.items():
        if value is None:
            continue
        if value != ANY:
            rule.set_to[key] = value
            continue
        candidates = [key, *(other for other in source.pattern if other != key)]
        kept = next((one for one in candidates if _agree(one, key, pairs)), None)
        if kept is not None:
            rule.kept[key] = kept
        elif source is target:
            rule.set_to[key] = ANY
        else:
            return None
    ignored = [key for key, value in rule.set_to.items() if value == ANY]
    return None if source is target and not ignored else rule


def _agree(key: str, other: str, pairs: Sequence[tuple[Parts, Parts]]) -> bool:
    alike = sum(a.get(key) == b[other] for a, b in pairs)
    return alike >= (1 - WRONG) * len(pairs)


def candidates(root: Node, contents: Mapping[str, int]) -> Iterator[Rule]:
    """Yield a rule for each two leaves that share contents. Section 4."""
    pairs: dict[tuple[Node, Node], list[tuple[Parts, Parts]]] = defaultdict(list)
    shared: Counter[tuple[Node, Node]] = Counter()
    for urls in clusters(contents):
        found = [(root.leaf_of(parts), parts) for parts in map(parts_of, urls)]
        both = set()
        for (a, parts_a), (b, parts_b) in permutations(found, 2):
            if a is not None and b is not None:
                pairs[a, b].append((parts_a, parts_b))
                both.add((a, b))
        shared.update(both)
    for (a, b), examples in pairs.items():
        if shared[a, b] >= SUPPORT:
            rule = rule_of(a, b, examples)
            if rule is not None:
                rule.support = shared[a, b]
                yield rule


def _holds(rule: Rule) -> bool:
    made = [(_text(rule.apply(row.parts)), row.content) for row in rule.source.rows]
    others: dict[str, int] = {}
    if rule.target is not rule.source:
        others = {_text(row.parts): row.content for row in rule.target.rows}
    return holds(made, others)


def deployable(rules: Sequence[Rule]) -> dict[Node, Rule]:
    """Choose one rule for a leaf at most, so that no URL is rewritten in a circle. Section 5.

    Leaves that stand for most contents are targets before others; then those with fewer keys.
    """
    worth: Counter[Node] = Counter()
    for rule in rules:
        worth[rule.target] += rule.support
    chosen: dict[Node, Rule] = {}

    def rank(rule: Rule) -> tuple[bool, int, int, int]:
        keys = sum(value is not None for value in rule.target.pattern.values())
        return (rule.source is rule.target, keys, -worth[rule.target], -rule.support)

    for rule in sorted(rules, key=rank):
        if rule.source not in chosen and not _leads_to(rule.target, rule.source, chosen):
            chosen[rule.source] = rule
    return chosen


def _leads_to(node: Node, wanted: Node, chosen: Mapping[Node, Rule]) -> bool:
    """Tell if rules lead from a node to another one; a rule of one leaf leads nowhere."""
    while node in chosen and chosen[node].target is not node:
        node = chosen[node].target
        if node is wanted:
            return True
    return False


class Tree:
    """A tree, and the rules of its leaves. Section 5."""

    def __init__(self, contents: Mapping[str, int]) -> None:
        rows = [Row(parts_of(url), content) for url, content in contents.items()]
        keys = [*dict.fromkeys(key for row in rows for key in row.parts)]
        self._root = build(rows, {}, keys)
        self._rules = deployable([r for r in candidates(self._root, contents) if _holds(r)])

    def canonical(self, url: str) -> str:
        parts = parts_of(url)
        node = self._root.leaf_of(parts)
        done: set[Node] = set()
        while node in self._rules and node not in done:
            done.add(node)
            parts = self._rules[node].apply(parts)
            node = self._rules[node].target
        return _text(parts) if done else url


def _text(parts: Parts) -> str:
    """Put a URL together again; parameters in the order of their names."""
    levels = sorted(int(key[5:]) for key in parts if key.startswith("path "))
    path = [parts[f"path {level}"] for level in levels]
    query = sorted((key[6:], parts[key]) for key in parts if key.startswith("query "))
    pairs = "&".join(f"{name}={value}" if value else name for name, value in query)
    return f"{parts['scheme']}://{parts['host']}/{'/'.join(path)}{'?' * bool(pairs)}{pairs}"


class PatternTree(BatchMethod):
    """Learns a tree for each site."""

    title = "pattern tree (Lei et al. 2010)"
    rules_of = Tree
