"""Multiple alignment of URLs of one content, as sequences of tokens (DUSTER, section 3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

GAP = ""
Column = frozenset[str]
"""The tokens that the URLs have at one place; a GAP if some of them have none."""

_TOKEN = re.compile(r"[^/?=&.:;,#+]+|[/?=&.:;,#+]")
_CLASSES = {"digits": re.compile(r"\d+"), "letters": re.compile(r"[a-zA-Z]+")}
_SAME, _SAME_CLASS = 1.0, 0.4


def tokens_of(url: str) -> list[str]:
    """Split a URL before and after each of its delimiters, which are tokens too."""
    return _TOKEN.findall(url)


def class_of(token: str) -> str:
    """Return what kind of token it is: a delimiter is of its own kind."""
    if _TOKEN.fullmatch(token) and len(token) == 1 and token in "/?=&.:;,#+":
        return token
    return next((name for name, form in _CLASSES.items() if form.fullmatch(token)), "any")


def aligned(urls: Sequence[str]) -> list[Column]:
    """Return the consensus of some URLs.

    The two sequences that are most alike are aligned, and their consensus takes their place, until
    one sequence is left.
    """
    sequences = [[frozenset((token,)) for token in tokens_of(url)] for url in urls]
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
