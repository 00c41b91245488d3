"""`simhash-gate tune --label`: asks a person, pair by pair, and keeps each answer at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from simhash_gate.common.wording import how_many
from simhash_gate.tuning.labels import Label, append_label
from simhash_gate.tuning.questions import names_of, read_texts, sample
from simhash_gate.tuning.sampling import next_pair, strata

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simhash_gate.collection.neighbours import Neighbour, Scope
    from simhash_gate.settings import Settings
    from simhash_gate.tuning.questions import Texts

_AHEAD = 8
"""Pairs of each stratum whose texts are read in one go through the source."""
_KEYS = {"y": True, "n": False}


def ask(
    path: str,
    scopes: Sequence[Scope],
    settings: Settings,
    labels: Sequence[Label],
    file: str,
    questions: int,
) -> list[Label]:
    """Ask about at most that many pairs; return the labels there were, and the answers.

    Each answer is on disk before the next question is asked. Raises OSError where it can't be, and
    KeyboardInterrupt and EOFError as the terminal gives them.
    """
    answers = list(labels)
    asked = {label.names for label in labels}
    line = settings.policies.default.threshold
    texts: Texts = {}
    _say(f"Would you want only one of the two pages? Answers go to {file}.")
    for number in range(1, questions + 1):
        known = {label.names: label.duplicate for label in answers if label.sampled}
        ordered = strata(scopes, known)
        pair = next_pair(ordered, asked, line)
        if pair is None:
            _say("No pair is left to ask about.")
            break
        if not names_of([pair]) <= texts.keys():
            ahead = [
                pair
                for stratum in ordered
                for pair in [p for p in stratum.pairs if p.names not in asked][:_AHEAD]
            ]
            texts = read_texts(path, names_of(ahead), settings)
        _show(pair, texts, number, questions)
        try:
            key = _key()
        except (KeyboardInterrupt, EOFError):
            given = how_many(len(answers) - len(labels), "answer")
            _say(f"interrupted; {file} has the {given} given")
            raise
        if key == "q":
            break
        asked.add(pair.names)
        if key in _KEYS:
            label = Label(pair.earlier.name, pair.page.name, _KEYS[key], sampled=True)
            append_label(file, label)
            answers.append(label)
    return answers


def _show(pair: Neighbour, texts: Texts, number: int, questions: int) -> None:
    _say("")
    _say(click.style(f"{number} of {questions}", bold=True))
    for line in sample(pair, texts).as_text():
        _say(line)
    click.echo("duplicates? [y]es [n]o [s]kip [q]uit ", err=True, nl=False)


def _key() -> str:
    while True:
        key = click.getchar().lower()
        if key in ("y", "n", "s", "q"):
            _say(key)
            return key


def _say(line: str) -> None:
    click.echo(line, err=True)
