"""DUSTER: K. Rodrigues, M. Cristo, E. S. de Moura, A. da Silva, "Removing DUST Using Multiple
Alignment of Sequences", IEEE TKDE 27 (8), 2015.
Written after its description.

The URLs of each content are aligned; alignments of one form become a rule, a regular expression
and what it is replaced by; rules are kept that prove right on the URLs of the site. The paper
chooses its thresholds on its own data; here they are those of the pattern tree. The paper validates
on pages that are set apart; here on all that were fetched, as a crawl has no others.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from benchmarks.urls.alignment import GAP, Column, aligned, class_of
from benchmarks.urls.method import BatchMethod, Fitted, clusters, merges, split
from benchmarks.urls.pattern_tree import MOST_OF_CLUSTER, SUPPORT, WRONG

_FORMS = {"digits": r"\d+", "letters": r"[a-zA-Z]+", "any": r"[^/?=&.:;,#+]+"}
_FEW = 3
"""So many tokens at one place are listed in a rule; if there are more, their class stands there."""

Form = tuple[str, ...]


class Rule(NamedTuple):
    """The context in which a rule holds, and what becomes of a URL there."""

    context: re.Pattern[str]
    template: str

    def apply(self, url: str) -> str:
        """Return the URL's canonical form, or the URL if the rule does not hold."""
        found = self.context.fullmatch(url)
        return found.expand(self.template) if found else url


def form_of(consensus: Sequence[Column]) -> Form:
    """Return what alignments have in common that become one rule (section 4).

    That is, for each place, the class of its token, or that it varies.
    """
    return tuple(_form_of_column(column) for column in consensus)


def _form_of_column(column: Column) -> str:
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


class Rules(Fitted):
    """The rules of one site. The first whose context a URL fits changes it."""

    def __init__(self, contents: Mapping[str, int]) -> None:
        found = [rule for rule in _candidates(contents) if holds(rule, contents)]
        self._rules = found

    def canonical(self, url: str) -> str:
        for rule in self._rules:
            canonical = rule.apply(url)
            if canonical != url:
                return canonical
        return url

    def __len__(self) -> int:
        return len(self._rules)


def _candidates(contents: Mapping[str, int]) -> Iterator[Rule]:
    """Yield a rule for each form that enough contents have; those of most contents first."""
    forms: dict[Form, list[list[Column]]] = defaultdict(list)
    for urls in clusters(contents):
        consensus = aligned(split(urls, MOST_OF_CLUSTER))
        forms[form_of(consensus)].append(consensus)
    for group in sorted(forms.values(), key=len, reverse=True):
        rule = generalised(group) if len(group) >= SUPPORT else None
        if rule is not None:
            yield rule


def holds(rule: Rule, contents: Mapping[str, int]) -> bool:
    """Tell if a rule brings enough URLs together, and few of different contents (section 4)."""
    changed = {url: rule.apply(url) for url in contents}
    pairs = [(made, contents[url]) for url, made in changed.items() if made != url]
    others = {url: content for url, content in contents.items() if changed[url] == url}
    right, wrong = merges(pairs, others)
    return right >= SUPPORT and wrong <= WRONG * (right + wrong)


class Duster(BatchMethod):
    """Learns rules for each site."""

    title = "DUSTER (Rodrigues et al. 2015)"
    origin = "after its description"

    def fit(self, contents: Mapping[str, int]) -> Rules:
        return Rules(contents)
