"""How numbers are put into sentences."""

from __future__ import annotations


def how_many(number: int, noun: str, form: str = "") -> str:
    """Return a number with what is counted: "1 page", "2 pages"; `form` is how to format it."""
    return f"{number:{form}} {noun}{'s' * (abs(number) != 1)}"
