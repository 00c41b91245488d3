"""How numbers are put into sentences."""

from __future__ import annotations

import pytest

from simhash_gate.common.wording import how_many


@pytest.mark.parametrize(
    ("number", "form", "expected"),
    [(0, "", "0 words"), (1, "", "1 word"), (-1, "+", "-1 word"), (1_234, "+,", "+1,234 words")],
)
def test_only_one_is_singular(number: int, form: str, expected: str) -> None:
    assert how_many(number, "word", form) == expected
