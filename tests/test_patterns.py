"""Every regular expression of the package takes a time that grows with the text, and no faster.

What is read comes from strangers. A pattern that looks on to the end from every character, or that
can share a run of characters out in many ways, stops the crawl for minutes at one page.
"""

import ast
import importlib
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import simhash_gate
from simhash_gate.page import offer
from simhash_gate.page.blocks import Block

if sys.version_info >= (3, 11):
    from re import _compiler as compiler  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
else:
    import sre_compile as compiler
    import sre_parse as parser

Pattern = re.Pattern[Any]

ROOT = Path(simhash_gate.__file__).parent
METHODS = frozenset(re.Pattern.__dict__)
CHARACTERS = 'a1 \n-.:"<(é中'
"""Those that stand for the sets of a pattern, together with those that it is written with."""
MOST_CHARACTERS = 6  # that are combined
END = "\0\n\0"  # hardly any pattern goes on so: what came before it is tried in all ways
SHORT, LONG = 600, 1_000_000
SUSPECT = 200e-9  # seconds a character
FAR_MORE = 8


def _read_offer(line: str) -> object:
    return offer.offer_by_headline([Block("heading", "Hat"), Block("text", line)])


READ_BY: dict[Pattern, Callable[[str], object]] = dict.fromkeys(
    (offer._LABELLED, offer._NUMBER), _read_offer
)
"""Patterns that see short texts only: what sees to that is measured in their place."""


def test_no_text_takes_a_pattern_far_longer_than_it_is_longer() -> None:
    used, made_of_texts = _patterns()
    assert len(used) > 100
    assert READ_BY.keys() <= {pattern for pattern, _ in used}
    slow = {}
    for (pattern, how), place in used.items():
        attacks = _attacks(pattern, anywhere=how in ("search", "finditer"))
        if attack := _is_slow(pattern, how, attacks):
            slow[place] = pattern.pattern, how, attack
    assert not slow
    # Of names of parameters: what such a pattern looks for ends in one class of letters.
    assert made_of_texts == {"simhash_gate.identity.address"}


def _patterns() -> tuple[dict[tuple[Pattern, str], str], set[str]]:
    """Return where patterns are used, each in its ways, and which modules make some of texts."""
    used: dict[tuple[Pattern, str], str] = {}
    made_of_texts = set()
    for path in sorted(ROOT.rglob("*.py")):
        if path.stem == "__main__":
            continue
        name = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
        name = name.removesuffix(".__init__")
        known = vars(importlib.import_module(name))
        inside: list[Any] = [
            node
            for function in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
            for node in ast.walk(function)
        ]
        owners = {id(node.value) for node in inside if isinstance(node, ast.Attribute)}
        for node in inside:
            found, how = None, "finditer"
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                found, how = _value(node.value, known), node.attr
            elif isinstance(node, ast.Name) and id(node) not in owners:
                found = _value(node, known)  # handed over, or several
            elif isinstance(node, ast.Call) and ast.unparse(node.func) in _FUNCTIONS:
                how = _FUNCTIONS[ast.unparse(node.func)]
                flags = [word.value for word in node.keywords if word.arg == "flags"]
                given = [_value(argument, known) for argument in (node.args[0], *flags)]
                if None in given:
                    made_of_texts.add(name)
                else:
                    found = re.compile(*given)
            how = how if how in ("match", "fullmatch", "search") else "finditer"
            for each in found if isinstance(found, (list, tuple)) else (found,):
                if isinstance(each, re.Pattern):
                    used.setdefault((each, how), f"{name}:{node.lineno}")
    return used, made_of_texts


_FUNCTIONS = {f"re.{name}": name for name in (*METHODS, "compile")}


def _value(node: ast.expr, known: dict[str, Any]) -> Any:
    """Return what an expression is worth; None if only a run of its function can tell."""
    try:
        return eval(compile(ast.Expression(node), "", "eval"), known)
    except (NameError, AttributeError, TypeError, ValueError):
        return None


def _attacks(pattern: Pattern, *, anywhere: bool) -> Iterator[tuple[str, str]]:
    """Yield texts that may slow a pattern down: what each begins with, and what is repeated."""
    source = pattern.pattern
    source = source.decode("latin-1") if isinstance(source, bytes) else source
    examples = _Examples(source, pattern.flags)
    yield from dict.fromkeys(examples.of(parser.parse(source, pattern.flags), ""))
    yield from (("", one) for one in examples.characters)
    if anywhere:
        accepted = list(examples.characters)[:MOST_CHARACTERS]
        yield from (("", one + two) for one in accepted for two in accepted if one != two)


class _Examples:
    """Texts that the parts of an expression accept; `characters` are those of all of them."""

    def __init__(self, source: str, flags: int) -> None:
        self.characters: dict[str, None] = {}
        self._known = "".join(dict.fromkeys(CHARACTERS + source))
        self._flags = flags

    def of(self, items: Any, head: str) -> Iterator[tuple[str, str]]:
        """Yield what an expression accepts up to each of its parts, as a whole or with its end."""
        for place, item in enumerate(items, 1):
            for inner in _inner(item):
                yield from self.of(inner, head)
            found = self._texts([item])
            if item[0] is not parser.LITERAL or place == len(items):
                yield from (("", head + text) for text in found[:3] if head + text)
            if _is_repeat(item):
                yield from ((head, text) for text in self._texts(item[1][2]) if text)
            head += found[0]

    def _texts(self, items: Any) -> list[str]:
        found = [""]
        for item in items:
            if "ASSERT" in str(item[0]):
                continue
            each = [text for inner in _inner(item) for text in self._texts(inner)]
            if _is_repeat(item):
                each = [text * max(1, item[1][0]) for text in each]
            if each := each or self._accepted(item):
                others = [found[0] + text for text in each[1:]]
                found = [*(text + each[0] for text in found), *others][:MOST_CHARACTERS]
        return found

    def _accepted(self, item: Any) -> list[str]:
        found: list[str] = []
        if item[0] is parser.LITERAL:
            found = [chr(item[1])]
        elif item[0] in (parser.NOT_LITERAL, parser.ANY, parser.IN):
            one = compiler.compile(parser.SubPattern(parser.State(), [item]), self._flags)
            found = list(filter(one.match, self._known))[:MOST_CHARACTERS]
        self.characters |= dict.fromkeys(found)
        return found


def _is_repeat(item: Any) -> bool:
    return str(item[0]).endswith("_REPEAT")


def _inner(item: Any) -> list[Any]:
    """Return the expressions that an item of an expression is made of."""
    op, value = str(item[0]), item[1]
    if op == "BRANCH":
        return list(value[1])
    if op == "ATOMIC_GROUP":
        return [value]
    return [value[-1]] if _is_repeat(item) or op in ("SUBPATTERN", "ASSERT", "ASSERT_NOT") else []


def _seconds(pattern: Pattern, how: str, attack: tuple[str, str], size: int) -> float:
    """Return the seconds of the processor that a text of so many characters takes."""
    head, unit = attack
    text: Any = head + unit * (size // len(unit)) + END
    if isinstance(pattern.pattern, bytes):
        text = text.encode("latin-1", "ignore")
    began = time.thread_time()
    if pattern in READ_BY:
        READ_BY[pattern](text)
    elif how == "finditer":
        deque(pattern.finditer(text), maxlen=0)
    else:
        getattr(pattern, how)(text)
    return time.thread_time() - began


def _grows(pattern: Pattern, how: str, attack: tuple[str, str], size: int) -> bool:
    """Tell whether a text of some size takes far more than four times as long as a fourth of it."""

    def least(size: int, times: int) -> float:
        return min(_seconds(pattern, how, attack, size) for _ in range(times))

    # Once is enough where the answer is no; the machine may have been busy with other things.
    return all(
        (taken := least(size, n)) > SUSPECT * size and taken > FAR_MORE * least(size // 4, n)
        for n in (1, 3)
    )


def _is_slow(pattern: Pattern, how: str, attacks: Iterable[tuple[str, str]]) -> str:
    """Return the text that makes a pattern slow, "" if none does."""
    worst, most = ("", "a"), 0.0
    for attack in attacks:
        seconds = _seconds(pattern, how, attack, SHORT)
        if seconds > most:
            worst, most = attack, seconds
        if seconds > SUSPECT * SHORT and _grows(pattern, how, attack, SHORT):
            return repr(attack)
    return repr(worst) if _grows(pattern, how, worst, LONG) else ""
