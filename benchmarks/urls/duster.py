"""DUSTER: K. Rodrigues, M. Cristo, E. S. de Moura, A. da Silva, "Removing DUST Using Multiple
Alignment of Sequences", IEEE TKDE 27 (8), 2015.
Written after its description.

The URLs of each content are aligned; alignments of one form become a rule, a regular expression
and what it is replaced by; rules are kept that prove right on the URLs of the site. The paper
chooses its thresholds on its own data; here they are those of all batches. The paper validates
on pages that are set apart; here on all that were fetched, as a crawl has no others.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from benchmarks.urls.methods import SUPPORT, BatchMethod, clusters, holds

GAP = ""
Column = frozenset[str]
"""The tokens that the URLs have at one place; a GAP if some of them have none."""

_TOKEN = re.compile(r"[^/?=&.:;,#+]+|[/?=&.:;,#+]")
_FORMS = {"digits": r"\d+", "letters": r"[a-zA-Z]+", "any": r"[^/?=&.:;,#+]+"}
_SAME, _SAME_CLASS = 1.0, 0.4
_FEW = 3
"""So many tokens at one place are listed in a rule; if there are more, their class stands there."""


def class_of(token: str) -> str:
    """Return what kind of token it is: a delimiter is of its own kind."""
    if token in "/?=&.:;,#+":
        return token
    return next(name for name, form in _FORMS.items() if re.fullmatch(form, token))


def aligned(urls: Sequence[str]) -> list[Column]:
    """Return the consensus of some URLs.

    The two sequences that are most alike are aligned, and their consensus takes their place, until
    one sequence is left.
    """
    sequences = [[frozenset((token,)) for token in _TOKEN.findall(url)] for url in urls]
    while len(sequences) > 1:
        a, b = max(
            combinations(range(len(sequences)), 2),
            key=lambda pair: _likeness(sequences[pair[0]], sequences[pair[1]]),
        )
        both = _align(sequences[a], sequences[b])
        sequences = [s for number, s in enumerate(sequences) if number not in (a, b)] + [both]
    return sequences[0]


def _score(a: Column, b: Column) -> float:
    """Return what it is worth to have two columns in one place; below 0, they must not be."""
    if not (a & b) - {GAP}:
        kinds_a, kinds_b = ({class_of(token) for token in column if token} for column in (a, b))
        one_is_delimiter = any(len(kind) == 1 for kind in kinds_a | kinds_b)
        if one_is_delimiter:
            return -1.0
        return _SAME_CLASS if kinds_a & kinds_b else _SAME_CLASS / 2
    return _SAME


def _table(a: Sequence[Column], b: Sequence[Column]) -> list[list[float]]:
    """Return the best score of each two beginnings (Needleman and Wunsch; gaps cost nothing)."""
    table = [[0.0] * (len(b) + 1)]
    for own in a:
        above = table[-1]
        row = [0.0]
        for place, other in enumerate(b, 1):
            row.append(max(above[place], row[-1], above[place - 1] + _score(own, other)))
        table.append(row)
    return table


def _likeness(a: Sequence[Column], b: Sequence[Column]) -> float:
    return _table(a, b)[-1][-1] / max(len(a), len(b))


def _align(a: Sequence[Column], b: Sequence[Column]) -> list[Column]:
    """Return the consensus of two sequences."""
    table = _table(a, b)
    i, j = len(a), len(b)
    found: list[Column] = []
    gap = frozenset((GAP,))
    while i or j:
        score = _score(a[i - 1], b[j - 1]) if i and j else -1.0
        if score >= 0 and table[i][j] == table[i - 1][j - 1] + score:
            i, j = i - 1, j - 1
            found.append(a[i] | b[j])
        elif i and (not j or table[i][j] == table[i - 1][j]):
            i -= 1
            found.append(a[i] | gap)
        else:
            j -= 1
            found.append(b[j] | gap)
    return found[::-1]


class Rule(NamedTuple):
    """The context in which a rule holds, and what becomes of a URL there."""

    context: re.Pattern[str]
    template: str

    def apply(self, url: str) -> str:
        """Return the URL's canonical form, or the URL if the rule does not hold."""
        found = self.context.fullmatch(url)
        return found.expand(self.template) if found else url


def _form_of(column: Column) -> str:
    """Return the class of the token at one place of an alignment, or that it varies (section 4)."""
    tokens = column - {GAP}
    if len(column) == 1:
        return class_of(*tokens)
    kinds = {class_of(token) for token in tokens}
    kind = kinds.pop() if len(kinds) == 1 else "any"
    return f"{'optional' if GAP in column else 'varying'} {kind}"


def generalised(group: Sequence[Sequence[Column]]) -> Rule | None:
    """Return the rule of some alignments of one form (section 4).

    A token that is the same in all of them is literal. One that is the same within a content, and
    another in other contents, is kept as it is. Where tokens vary within a content they do not
    matter: one that may be missing is left out, others become one token.
    """
    context, template, kept, matters = "", "", 0, False
    for columns in zip(*group, strict=True):
        tokens = set().union(*columns) - {GAP}
        if all(len(column) == 1 for column in columns):
            if len(tokens) == 1:
                token = tokens.pop()
                context += re.escape(token)
                template += token.replace("\\", r"\\")
            else:
                kept += 1
                context += f"({_pattern(tokens, few=0)})"
                template += rf"\g<{kept}>"
            continue
        matters = True
        if any(GAP in column for column in columns):
            context += f"(?:{_pattern(tokens)})?"
        else:
            context += f"(?:{_pattern(tokens)})"
            template += min(tokens).replace("\\", r"\\") if len(tokens) <= _FEW else "*"
    return Rule(re.compile(context), template) if matters else None


def _pattern(tokens: set[str], few: int = _FEW) -> str:
    if len(tokens) <= few:
        return "|".join(sorted(map(re.escape, tokens), key=len, reverse=True))
    kinds = {class_of(token) for token in tokens}
    return _FORMS.get(kinds.pop(), _FORMS["any"]) if len(kinds) == 1 else _FORMS["any"]


class Rules:
    """The rules of one site. The first whose context a URL fits changes it."""

    def __init__(self, contents: Mapping[str, int]) -> None:
        self._rules = [rule for rule in _candidates(contents) if _holds(rule, contents)]

    def canonical(self, url: str) -> str:
        for rule in self._rules:
            canonical = rule.apply(url)
            if canonical != url:
                return canonical
        return url


def _candidates(contents: Mapping[str, int]) -> Iterator[Rule]:
    """Yield a rule for each form that enough contents have; those of most contents first."""
    forms: dict[tuple[str, ...], list[list[Column]]] = defaultdict(list)
    for urls in clusters(contents):
        consensus = aligned(urls)
        forms[tuple(map(_form_of, consensus))].append(consensus)
    for group in sorted(forms.values(), key=len, reverse=True):
        rule = generalised(group) if len(group) >= SUPPORT else None
        if rule is not None:
            yield rule


def _holds(rule: Rule, contents: Mapping[str, int]) -> bool:
    changed = {url: rule.apply(url) for url in contents}
    pairs = [(made, contents[url]) for url, made in changed.items() if made != url]
    others = {url: content for url, content in contents.items() if changed[url] == url}
    return holds(pairs, others)


class Duster(BatchMethod):
    """Learns rules for each site."""

    title = "DUSTER (Rodrigues et al. 2015)"
    rules_of = Rules
