"""What speaks for a rule, and against it: counted in pairs of URLs, the older ones for less."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Literal

from simhash_gate.common.proportion import wilson
from simhash_gate.urls.parts import whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simhash_gate.urls.parts import Numbers
    from simhash_gate.urls.rules import Rule

State = Literal["learning", "active", "suspended", "dropped"]
Word = Literal["", "pinned", "forbidden", "guess"]
"""What a person said of a rule: it acts, it never acts, or it seldom fails."""

WINDOW = 100
"""A rule rests for so many cases after a contradiction."""
FADES = 1 - 1 / 1_000
"""What a case counts for after each later one."""
ENOUGH_CONTENTS = 5
"""A rule that has cases of fewer contents must be surer: all its URLs may have led to a page such
as "not found" for a while."""
LEAST_OF_FEW = 0.98
ENOUGH_VALUES = 3
"""A parameter needs so many values before all of them count as no matter."""
MOST_BESIDE = 40
"""Parameters beside that of a rule that are counted."""
ENOUGH_BELOW = 19
"""A rule that fails first for a number above those of so many cases that it held for fails for that
reason: if the numbers were no matter, the chance of it would be 1 in 20."""
SURE, SURE_OF_MANY, MANY = 0.75, 0.9, 5
"""A rule rests where more than a quarter of its cases can't be told, or, of so many that can't be
told, more than a tenth."""
FEWEST_STRANGE, MOST_STRANGE = 2, 0.25
"""A rule rests where so many of its tests, and more than this share, brought a page unlike all."""
MOST_CONTRADICTIONS = 3
"""A rule that was contradicted so often does not come back."""
HOPELESS = 20
"""A rule that was contradicted so often, and more often than not, will never act."""
PRIOR = 30
"""Cases that a rule is worth which seldom fails anywhere."""
POOLED = 3
"""Cases that URLs of one shape need of their own, where those of other shapes or of earlier crawls
speak for a rule."""
CONFIRMED = 10
"""Cases of their own that URLs of one shape need, where those of another contradict the rule; and
those of a page's second value, or beside another parameter, before the rule is used for such."""
MOST_EARLIER = 60
"""What all cases of earlier crawls count for at most."""


@dataclass(slots=True)
class Evidence:
    """The evidence on URLs of one shape.

    `support` and `against` are numbers of cases, `unsure` of those of which nobody can tell. `seen`
    is how many there ever were, and `bad_at` which of these was the last contradiction; `earlier`
    are cases of earlier crawls. `contents` and `values` are hashes of what was seen, up to as many
    as are needed. `examples` are URLs and what they were the same as. `highest` are the highest
    numbers in the paths of cases that speak for the rule, and `below` is how many of these had
    lower ones than another before. Of the `tests` of the rule since it acts, `strange` are those
    that brought a page that was like no other one, though nobody can tell that it is another.
    """

    support: float = 0.0
    against: float = 0.0
    unsure: float = 0.0
    seen: int = 0
    bad_at: int | None = None
    contradictions: int = 0
    state: State = "learning"
    word: Word = ""
    earlier: int = 0
    contents: tuple[int, ...] = ()
    values: tuple[int, ...] = ()
    examples: tuple[tuple[str, str], ...] = ()
    highest: Numbers = ()
    below: int = 0
    tests: int = 0
    strange: int = 0

    @property
    def cases(self) -> int:
        """How many cases speak for the rule: one that has faded a little is still a case."""
        return ceil(self.support)

    def is_noted(self, rule: Rule) -> bool:
        """Tell whether contents are noted enough, and values if the rule is about many."""
        if len(self.contents) < ENOUGH_CONTENTS:
            return False
        return len(self.values) >= ENOUGH_VALUES or not _has_values(rule)

    @property
    def rests(self) -> bool:
        """Whether a contradiction is too recent."""
        return self.bad_at is not None and self.seen - self.bad_at < WINDOW

    @property
    def is_dropped(self) -> bool:
        """Whether it was contradicted too often; what a user wants to act comes back."""
        return self.contradictions >= MOST_CONTRADICTIONS and self.word != "pinned"

    @property
    def is_hopeless(self) -> bool:
        """Whether it was contradicted too often to look for more."""
        return self.against >= HOPELESS and self.support < self.against

    def add(self, *, same: bool) -> None:
        """Count a case."""
        self.seen += 1
        self.support = self.support * FADES + same
        self.against = self.against * FADES + (not same)
        if not same:
            self.bad_at = self.seen
            self.contradictions += 1

    def add_unsure(self) -> None:
        """Count a case of which nobody can tell."""
        self.unsure = self.unsure * FADES + 1

    def test(self, *, strange: bool) -> bool:
        """Count a test of the rule; tell whether it has brought too many strange pages now."""
        self.tests += 1
        self.strange += strange
        if not strange or self.strange < max(FEWEST_STRANGE, MOST_STRANGE * self.tests):
            return False
        self.tests = self.strange = 0
        return True

    def note_numbers(self, numbers: Numbers) -> None:
        """Note the numbers in the path of a case that speaks for the rule."""
        self.below += numbers < self.highest
        self.highest = max(numbers, self.highest)

    def ends_before(self, numbers: Numbers) -> bool:
        """Tell if a case with these numbers is beyond all that speak for the rule."""
        return self.below >= ENOUGH_BELOW and numbers > self.highest

    def for_newer(self) -> Evidence:
        """Return what it is worth on newer pages, which must confirm it."""
        earlier = min(self.cases + self.earlier, MOST_EARLIER)
        return Evidence(earlier=earlier, contents=self.contents, values=self.values)

    def note(self, content: int, value: int, pair: tuple[str, str]) -> None:
        """Note what a case that speaks for the rule was of."""
        if len(self.contents) < ENOUGH_CONTENTS and content not in self.contents:
            self.contents += (content,)
        if len(self.values) < ENOUGH_VALUES and value not in self.values:
            self.values += (value,)
        if len(self.examples) < 2:
            self.examples += (pair,)


@dataclass(slots=True)
class Pool:
    """The evidence for one rule of one scope, by shape, and that of all shapes together.

    `later` are cases that speak for it in which a page was asked for with another value before,
    `bare` those in which one of the URLs has no such parameter.
    `beside` counts the cases that speak for it by the other parameters of the URL.
    """

    shapes: dict[str, Evidence] = field(default_factory=dict)
    prior: int = 0
    later: int = 0
    bare: int = 0
    against: int = 0
    beside: dict[str, int] = field(default_factory=dict)
    support: float = 0.0
    contents: tuple[int, ...] = ()
    values: tuple[int, ...] = ()

    def of(self, shape: str) -> Evidence:
        """Return the evidence on URLs of a shape; what is forbidden on it is so on its parts."""
        found = self.shapes.get(shape)
        if found is None:
            above = self.shapes.get(whole(shape))
            forbidden = above is not None and above.word == "forbidden"
            found = self.shapes[shape] = Evidence(word="forbidden" if forbidden else "")
        return found

    def add(self, shape: str, *, same: bool) -> Evidence:
        """Count a case of URLs of a shape, and return the evidence on these."""
        evidence = self.of(shape)
        before = evidence.support
        evidence.add(same=same)
        self.support += evidence.support - before
        self.against += not same
        return evidence

    def put(self, shape: str, evidence: Evidence) -> None:
        """Take over evidence on URLs of a shape, in place of what is known of it."""
        known = self.shapes.get(shape, Evidence(state=evidence.state))
        self.shapes[shape] = evidence
        evidence.state = known.state
        self.against += evidence.contradictions - known.contradictions
        self.support += evidence.support - known.support
        contents = dict.fromkeys((*self.contents, *evidence.contents))
        values = dict.fromkeys((*self.values, *evidence.values))
        self.contents = tuple(contents)[:ENOUGH_CONTENTS]
        self.values = tuple(values)[:ENOUGH_VALUES]

    def note(self, content: int, value: int) -> None:
        """Note what a case that speaks for the rule was of."""
        if len(self.contents) < ENOUGH_CONTENTS and content not in self.contents:
            self.contents += (content,)
        if len(self.values) < ENOUGH_VALUES and value not in self.values:
            self.values += (value,)

    def bound(self, shape: str) -> float:
        """Return the share of cases in which the rule holds on URLs of a shape, at the least.

        It is the lower end of the Wilson interval (95 %). Where URLs of the shape confirm it, and
        never contradict it, cases of other shapes count too; so does the prior, unless a few pages,
        such as "not found", are all that these cases are of.
        """
        evidence = self.shapes[shape]
        confirmed = evidence.cases >= (CONFIRMED if self.against else POOLED)
        cases = evidence.cases + (evidence.earlier if confirmed else 0)
        own = lower_bound(cases, cases + ceil(evidence.against))
        if evidence.contradictions or not confirmed:
            return own
        prior = self.prior if len(self.contents) >= ENOUGH_CONTENTS else 0
        together = ceil(self.support) + evidence.earlier + prior
        return max(own, lower_bound(together, together + self.against))

    def note_beside(self, names: Iterable[str]) -> None:
        """Count the parameters beside that of the rule in a case that speaks for it."""
        for name in names:
            if name in self.beside or len(self.beside) < MOST_BESIDE:
                self.beside[name] = self.beside.get(name, 0) + 1

    def is_rare_beside(self, name: str) -> bool:
        """Tell whether so few cases for the rule had a parameter beside it that a failure there is
        due to that: if the parameter were no matter, the chance of it would be 1 in 20."""
        return self.beside.get(name, 0) + 1 <= (self.support + 1) / (ENOUGH_BELOW + 1)

    def is_known_beside(self, names: Iterable[str]) -> bool:
        """Tell whether the rule is known to hold beside these parameters."""
        return bool(self.prior) or all(self.beside.get(name, 0) >= CONFIRMED for name in names)

    @property
    def is_known_later(self) -> bool:
        """Whether it is known to hold for values after the first one of a page."""
        return self.later >= (POOLED if self.prior else CONFIRMED)

    @property
    def is_known_bare(self) -> bool:
        """Whether it is known to hold between a URL with the parameter and one without."""
        return self.bare >= (POOLED if self.prior else CONFIRMED)

    def is_proven(self, rule: Rule, shape: str, least: float) -> bool:
        """Tell whether the rule may act on URLs of a shape."""
        evidence = self.shapes[shape]
        if evidence.word in ("pinned", "forbidden"):
            return evidence.word == "pinned" and not evidence.rests
        if evidence.rests or evidence.is_dropped:
            return False
        values = evidence.values if self.against else self.values
        if _has_values(rule) and len(values) < ENOUGH_VALUES:
            return False
        told = evidence.support + evidence.against
        sure = SURE_OF_MANY if evidence.unsure >= MANY else SURE
        if told < sure * (told + evidence.unsure):
            return False
        contents = evidence.contents if self.against else self.contents
        if len(contents) < ENOUGH_CONTENTS:
            least = max(least, LEAST_OF_FEW)
        return self.bound(shape) >= least


def _has_values(rule: Rule) -> bool:
    """Tell whether a rule is about many values of a parameter."""
    return rule.kind == "value" or (rule.kind == "parameter" and rule.value == "*")


@lru_cache(maxsize=4096)
def lower_bound(cases: int, trials: int) -> float:
    """Return the lower end of the Wilson interval (95 %)."""
    return wilson(cases, trials).low
