"""Fingerprints that are near each other, and which pairs of them brute force finds."""

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

FINGERPRINTS = st.integers(0, 2**64 - 1)


@st.composite
def crowded(draw, scopes=("",)):
    """Fingerprints around a few centres, at all distances and with repeats, each with a scope."""
    centres = draw(st.lists(FINGERPRINTS, min_size=1, max_size=3))
    flips = st.sets(st.integers(0, 63), max_size=9).map(lambda bits: sum(1 << bit for bit in bits))
    near = st.tuples(st.sampled_from(centres), flips).map(lambda pair: pair[0] ^ pair[1])
    page = st.tuples(near | FINGERPRINTS, st.sampled_from(scopes))
    return draw(st.lists(page, max_size=60))


def brute_force(pages, radius, *, across=True):
    return [
        (i, j, (a ^ b).bit_count())
        for (i, (a, one)), (j, (b, other)) in combinations(enumerate(pages), 2)
        if (a ^ b).bit_count() <= radius and (across or one == other)
    ]


def compared_in_rows(values, radius):
    found = []
    for i in range(0, len(values), 500):
        near = np.bitwise_count(values[i : i + 500, None] ^ values[i:]) <= radius
        found += [(i + a, i + b) for a, b in np.argwhere(near).tolist() if a < b]
    return found
