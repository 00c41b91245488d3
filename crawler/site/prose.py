"""Sentences from a grammar: word lists with slots, expanded by a seeded random generator."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from random import Random

WORDS = Path(__file__).parent / "words"
SLOT = re.compile(r"\{(?:(\w+)|(\d+)\.\.(\d+))\}")
A_BEFORE_VOWEL = re.compile(r"\b([Aa]) (?=[aeiouAEIO])")
SENTENCE_START = re.compile(r"(^|[“‘„«]|[.?!] )([a-zäöü])")

# Who and where an article is about: drawn once, the same in every sentence of it.
PERSONS = ("hero", "rival", "witness")
CAST = {
    **dict.fromkeys(PERSONS, "person"),
    **{"town": "place", "city": "place", "region": "place", "body": "body", "firm": "firm"},
}


@lru_cache
def word_lists(language: str) -> dict[str, list[str]]:
    """Return the word lists of a language: "en", "de", "ar" or "zh"."""
    text = (WORDS / f"{language}.txt").read_text(encoding="utf-8")
    _, *parts = re.split(r"^== (\S+) ==\n", text, flags=re.MULTILINE)
    bodies = [[entry.strip() for entry in body.strip().split(" | ")] for body in parts[1::2]]
    return dict(zip(parts[::2], bodies, strict=True))


@lru_cache
def labels(language: str) -> dict[str, str]:
    """Return the texts of the interface in a language by name."""
    return dict(entry.split(": ", 1) for entry in word_lists(language)["label"])


TOPICS = sorted({name.partition(".")[0] for name in word_lists("en") if "." in name})
"""The topics that have words of their own: `topic.name` goes before `name`."""


class Writer:
    """Writes about one topic with one cast. What it writes depends on `rng` alone."""

    def __init__(
        self, language: str, topic: str, rng: Random, cast: dict[str, str] | None = None
    ) -> None:
        self.lists, self.topic, self.rng = word_lists(language), topic, rng
        self.cast = cast or {}
        if not cast:
            for role, kind in CAST.items():  # a body is that of the town drawn before
                self.cast[role] = self._expand(kind)
            self.cast |= {f"{role}_last": self.cast[role].split(" ")[-1] for role in PERSONS}

    @classmethod
    def of_any_topic(cls, rng: Random) -> Writer:
        """Return a writer in English about a topic that is drawn first."""
        return cls("en", rng.choice(TOPICS), rng)

    def write(self, name: str) -> str:
        """Return one expansion of the list `name`, spelled as a sentence begins."""
        text = A_BEFORE_VOWEL.sub(r"\1n ", self._expand(name))
        return SENTENCE_START.sub(lambda m: m[1] + m[2].upper(), text)

    def several(self, name: str, count: int) -> list[str]:
        """Return `count` expansions."""
        return [self.write(name) for _ in range(count)]

    def _expand(self, name: str) -> str:
        options = self.lists.get(f"{self.topic}.{name}") or self.lists[name]
        return SLOT.sub(self._fill, options[int(self.rng.random() * len(options))])

    def _fill(self, slot: re.Match[str]) -> str:
        name, low, high = slot.groups()
        if low:
            return str(self.rng.randint(int(low), int(high)))
        return self.cast.get(name) or self._expand(name)
