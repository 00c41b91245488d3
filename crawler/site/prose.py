"""Sentences from a grammar: word lists with slots, expanded by a seeded random generator."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from random import Random

WORDS = Path(__file__).parent / "words"
SLOT = re.compile(r"\{(\w+|\d+\.\.\d+)\}")
A_BEFORE_VOWEL = re.compile(r"\b([Aa]) (?=[aeiouAEIO])")
SENTENCE_START = re.compile(r"(^|[“‘„«]|[.?!] )([a-zäöü])")

# Who and where an article is about: drawn once, the same in every sentence of it.
CAST = {
    "hero": "person",
    "rival": "person",
    "witness": "person",
    "town": "place",
    "city": "place",
    "region": "place",
    "body": "body",
    "firm": "firm",
}

Template = tuple[str, ...]
"""Literal text and slot names in turn, a literal first and last."""


class Grammar:
    """The word lists of one language; `topic.name` goes before `name` where it exists."""

    def __init__(self, language: str) -> None:
        text = (WORDS / f"{language}.txt").read_text(encoding="utf-8")
        _, *parts = re.split(r"^== (\S+) ==\n", text, flags=re.MULTILINE)
        self.lists: dict[str, list[Template]] = {
            name: [tuple(SLOT.split(entry.strip())) for entry in body.strip().split(" | ")]
            for name, body in zip(parts[::2], parts[1::2], strict=True)
        }

    def topics(self) -> list[str]:
        """Return the names of the topics that have words of their own."""
        return sorted({name.partition(".")[0] for name in self.lists if "." in name})


@lru_cache
def grammar(language: str) -> Grammar:
    """Return the grammar of a language: "en", "de", "ar" or "zh"."""
    return Grammar(language)


class Writer:
    """Writes about one topic with one cast. What it writes depends on `rng` alone."""

    def __init__(
        self, language: str, topic: str, rng: Random, cast: dict[str, str] | None = None
    ) -> None:
        self.lists = grammar(language).lists
        self.topic = topic
        self.rng = rng
        self.cast = cast or {}
        if not cast:
            self._draw_cast()

    def write(self, name: str) -> str:
        """Return one expansion of the list `name`, spelled as a sentence begins."""
        text = A_BEFORE_VOWEL.sub(r"\1n ", self._expand(name))
        return SENTENCE_START.sub(lambda m: m[1] + m[2].upper(), text)

    def several(self, name: str, count: int) -> list[str]:
        """Return `count` expansions."""
        return [self.write(name) for _ in range(count)]

    def _draw_cast(self) -> None:
        for role, kind in CAST.items():
            self.cast[role] = self._expand(kind)
        for role in ("hero", "rival", "witness"):
            self.cast[f"{role}_last"] = self.cast[role].split(" ")[-1]

    def _expand(self, name: str) -> str:
        options = self.lists.get(f"{self.topic}.{name}") or self.lists[name]
        parts = list(options[int(self.rng.random() * len(options))])
        for i in range(1, len(parts), 2):
            slot = parts[i]
            if ".." in slot:
                low, high = slot.split("..")
                parts[i] = str(self.rng.randint(int(low), int(high)))
            else:
                parts[i] = self.cast.get(slot) or self._expand(slot)
        return "".join(parts)
