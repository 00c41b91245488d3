"""The code of callbacks, as digests: a spider that was mended may read other items from a page.

The digest of a callback is that of its bytecode, and of all that it uses of its project by name:
methods of the spider, functions, classes, and texts such as selectors. Comments, docstrings, line
numbers and names of local variables make no difference. Neither do numbers, and texts that are
computed when the spider starts, such as the date of today. Another version of Python has other
bytecode.
"""

from __future__ import annotations

import dis
import inspect
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from hashlib import blake2b
from types import CodeType, FunctionType, ModuleType
from typing import Any

from itemadapter import ItemAdapter
from scrapy import Spider

MOST = 2_000
"""Functions, classes and other values that are looked at for one callback."""
_MOST_KNOWN = 1_000
_NOT_CODE = frozenset("name start_urls allowed_domains custom_settings".split())
_NO_MATTER = frozenset({"__doc__", "__firstlineno__"})  # in a class within a function


class CallbackCode:
    """Computes the digests of callbacks, each at its first use."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], str] = {}

    def of(self, callback: Any, spider: Spider) -> str:
        """Return the digest of a callback's code, 8 hex digits; "" if it can't be read."""
        with suppress(Exception):  # a callback may be any object
            key = (type(spider), *_kinds(callback))
            if key not in self._known:
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                text = "\n".join(_Reader(callback, spider).said() if callable(callback) else ())
                digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4)
                self._known[key] = digest.hexdigest() if text else ""
            return self._known[key]
        return ""


def _kinds(value: Any) -> Iterator[object]:
    """Yield what identifies a callable. A lambda may be a new one for each page."""
    yield getattr(value, "__code__", None) or type(value)
    for part in _parts(value):
        yield from _kinds(part)


def _parts(value: Any) -> Iterator[Any]:
    """Yield the callables that a callable binds, wraps or closes over."""
    held = [getattr(value, name, None) for name in ("__func__", "__wrapped__", "fget")]
    if isinstance(value, partial):
        held += value.func, *value.args, *value.keywords.values()
    elif isinstance(value, cached_property):
        held.append(value.func)
    for cell in getattr(value, "__closure__", None) or ():
        with suppress(ValueError):  # the cell is still empty
            held.append(cell.cell_contents)
    # A method that calls `super()` closes over its class.
    return (part for part in held if callable(part) and not isinstance(part, type))


class _Reader:
    """Reads a callback, and what it uses of its project by name."""

    def __init__(self, callback: Any, spider: Spider) -> None:
        self._callback, self._spider = callback, spider
        self._kinds = type(spider).__mro__
        named = {_root(value) for value in (callback, *self._kinds)}
        self._project = named - sys.stdlib_module_names - {"scrapy"} | {_root(self._kinds[0])}
        self._modules = {
            name: module
            for name, module in [*sys.modules.items()]
            if name.partition(".")[0] in self._project and isinstance(module, ModuleType)
        }
        self._waiting = deque[tuple[Any, list[ModuleType]]]([(callback, [])])
        self._seen: dict[int, Any] = {}  # with the values, so that no other value gets their ids
        self._said: list[str] = []

    def said(self) -> list[str]:
        """Return lines that are the same in each process as long as the code is."""
        while self._waiting and len(self._seen) < MOST:
            value, origins = self._waiting.popleft()
            if isinstance(value, str):
                texts = [_texts(module) for module in origins]
                if not texts or any(found is None or value in found for found in texts):
                    self._said.append(repr(value))
            elif id(value) not in self._seen:
                self._seen[id(value)] = value
                with suppress(Exception):  # a spider may use any object
                    self._waiting += [(part, origins) for part in self._looked_at(value)]
        return self._said

    def _looked_at(self, value: Any) -> Iterable[Any]:
        """Take in a value, and return its parts."""
        if isinstance(value, re.Pattern):
            self._said.append(repr(value.flags))
            return [value.pattern]
        if isinstance(value, list | tuple):
            return value
        if isinstance(value, set | frozenset):
            return sorted(part for part in value if isinstance(part, str))
        if isinstance(value, dict):
            return [part for pair in value.items() for part in pair]
        if isinstance(value, type):
            return self._of_class(value) if self._is_ours(value) else ()
        if isinstance(value, Spider | ModuleType):
            return ()
        parts = [*_parts(value)]
        if isinstance(value, FunctionType):
            self._look_into(value)
            return parts
        if isinstance(value, partial) and value is not self._callback:  # not made for a page
            parts += value.args, value.keywords
        owner = getattr(value, "__self__", value)
        if not isinstance(owner, Spider):
            parts.append(type(owner))
        held = getattr(value, "__dict__", {}).values()
        texts = (str, tuple) if _root(type(value)) == "itemloaders" else tuple
        return parts + [part for part in held if callable(part) or isinstance(part, texts)]

    def _of_class(self, kind: type) -> Iterator[Any]:
        """Yield the parts of a class, such as an item's. Of its special methods, those written."""
        if ItemAdapter.is_item_class(kind) and (
            names := ItemAdapter.get_field_names_from_class(kind)
        ):
            self._said += names
            yield from (dict(ItemAdapter.get_field_meta_from_class(kind, name)) for name in names)
        for base in filter(self._is_ours, kind.__mro__):
            for name, value in sorted(vars(base).items()):
                file = getattr(getattr(value, "__code__", None), "co_filename", "<")
                if name not in _NOT_CODE and not (name.startswith("__") and file.startswith("<")):
                    self._wait(value, base.__module__)

    def _look_into(self, function: FunctionType) -> None:
        """Take in the code of a function, and what it names; of Scrapy's, only what it names."""
        globals_ = function.__globals__
        module = str(globals_.get("__name__"))
        root = module.partition(".")[0]
        if root not in (*self._project, "scrapy"):
            return
        names: list[str] = []
        lines = _lines(function.__code__, names)
        if root in self._project:
            self._said += lines
            with suppress(NameError):  # such as that of a class that only type checkers import
                for annotation in function.__annotations__.values():
                    names += re.findall(r"\w+", inspect.formatannotation(annotation))
            if "<l" not in function.__qualname__:  # <lambda> or <locals>: it may be made for a page
                self._wait((function.__defaults__, function.__kwdefaults__), module)
        self._find([*dict.fromkeys(names)], globals_)

    def _find(self, names: list[str], globals_: dict[str, Any]) -> None:
        """Wait for what names mean on the spider, in a module, and in modules that it names."""
        names = [name for name in names if name[:2] != "__" and name not in _NOT_CODE]
        for name in names:
            self._wait(type(vars(self._spider).get(name)))
            for kind in self._kinds:
                if name in vars(kind):
                    self._wait(vars(kind)[name], kind.__module__)
                    if "super" not in names:
                        break
        spaces = [globals_]
        for space in spaces:  # which grow
            for value in map(space.get, names):
                self._wait(value, *self._definers(value))
                if isinstance(value, ModuleType) and value.__name__ in self._modules:
                    spaces += [vars(value)] * all(vars(value) is not other for other in spaces)

    def _definers(self, value: Any) -> list[str]:
        """Return the modules that may define a text, or texts."""
        if not isinstance(value, str | re.Pattern | list | tuple | dict | set | frozenset):
            return []
        return [
            name
            for name, module in self._modules.items()
            if any(other is value for other in [*vars(module).values()])
        ]

    def _wait(self, value: Any, *modules: str) -> None:
        """Look at a value later that may be defined in any of some modules."""
        origins = [self._modules[name] for name in modules if name in self._modules]
        self._waiting.append((value, origins))

    def _is_ours(self, kind: type) -> bool:
        return _root(kind) in self._project


def _root(value: Any) -> str:
    return str(getattr(value, "__module__", "")).partition(".")[0]


def _lines(code: CodeType, names: list[str]) -> list[str]:
    """Return what code does. Add the names that it uses to `names`."""
    lines: list[str] = []
    for step in dis.get_instructions(code):
        said: Any = step.arg
        if isinstance(step.argval, CodeType):
            lines += _lines(step.argval, names)
            said = ""
        elif step.opcode in dis.hasconst:
            is_set = isinstance(step.argval, frozenset)
            said = sorted(map(repr, step.argval)) if is_set else repr(step.argval)
        elif step.opcode in dis.hasname:
            names.append(step.argval)
            said = step.argval
            if step.opname == "STORE_NAME" and said in _NO_MATTER:
                lines.pop()
        lines.append(f"{step.opname} {said}")
    return [*lines, repr(getattr(code, "co_exceptiontable", ""))]


@lru_cache(maxsize=MOST)
def _texts(module: ModuleType) -> set[str] | None:
    """Return the texts and names in the source of a module, None if that can't be read."""
    try:
        parts: list[Any] = [compile(inspect.getsource(module), "", "exec", dont_inherit=True)]
    except (OSError, TypeError, SyntaxError):
        return None
    for part in parts:  # which grow
        if isinstance(part, CodeType):
            parts += (*part.co_names, *part.co_consts)
        elif isinstance(part, tuple | frozenset):
            parts += part
    return {part for part in parts if isinstance(part, str)}
