"""How much two sets of weighted features share: what the Hamming distance estimates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def cosine(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """Return the cosine of two weight vectors, 0.0 to 1.0; 0.0 if one of them has no length."""
    dot = math.fsum(weight * b[name] for name, weight in a.items() if name in b)
    length = math.hypot(*a.values()) * math.hypot(*b.values())
    return min(1.0, dot / length) if length else 0.0


def jaccard(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """Return the share of the features of both that each has, 0.0 to 1.0; weights don't count."""
    union = len(a.keys() | b.keys())
    return len(a.keys() & b.keys()) / union if union else 0.0
