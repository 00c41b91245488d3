"""The code of callbacks, as digests: a spider that was mended may read other items from a page.

The digest of a callback is that of its syntax tree, and of all that it uses of its project by name:
methods and attributes of the spider, functions, classes, and constants such as selectors. Comments,
docstrings and layout make no difference, nor do the callbacks of the requests that it sends.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache, partial
from hashlib import blake2b
from importlib.util import resolve_name
from itertools import chain
from pathlib import Path
from typing import Any

from scrapy import Spider

MOST = 2_000
"""Functions, classes and other definitions that are looked at for one callback."""
_NOT_CODE = frozenset("name start_urls allowed_domains custom_settings self cls".split())
_NOT_OURS = ("scrapy", "builtins")
_BLOCKS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Definitions = dict[str, list[ast.AST]]


def code_of(callback: Any, spider: Spider | None) -> str:
    """Return the digest of a callback's code, 8 hex digits; "" if its source can't be read."""
    with suppress(Exception):  # a callback may be any object
        while isinstance(callback, partial):
            callback = callback.func
        text = "\n".join(sorted(_Reader(spider).read(callback)))
        return blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest() if text else ""
    return ""


class _Reader:
    """Reads a callback, and what it uses of its project by name."""

    def __init__(self, spider: Spider | None) -> None:
        bases = [it for it in type(spider).__mro__ if not it.__module__.startswith(_NOT_OURS)]
        self._classes = [(kind.__module__, kind.__qualname__) for kind in bases]
        self._roots = {module.partition(".")[0] for module, _ in self._classes}
        self._seen: dict[ast.AST, str] = {}

    def read(self, callback: Any) -> Iterable[str]:
        """Return the syntax trees of what a callback uses, as texts."""
        module, name = callback.__module__, callback.__qualname__.partition(".<locals>")[0]
        waiting = [(module, {name, name.rpartition(".")[2]})]
        if module.partition(".")[0] == "scrapy":  # it may call any method
            waiting = [
                (module, {name.rpartition(".")[2] for name in _definitions(module) if "." in name})
                for module, _ in self._classes
            ]
        elif module.partition(".")[0] not in self._roots:
            return ()
        while waiting and len(self._seen) < MOST:
            module, names = waiting.pop()
            for where, node in self._found(module, names - _NOT_CODE):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    waiting += self._imported(module, node, names)
                elif node not in self._seen:
                    self._seen[node] = ast.dump(node)
                    waiting.append((where, {*_names(node)}))
        return self._seen.values()

    def _found(self, module: str, names: set[str]) -> Iterator[tuple[str, ast.AST]]:
        """Yield what names mean on the spider and in a module, each with its module."""
        for where, kind in self._classes:
            known = _definitions(where)
            yield from ((where, it) for name in names for it in known.get(f"{kind}.{name}", ()))
        known = _definitions(module)
        for name in names:
            if (module, name) not in self._classes:
                yield from ((module, node) for node in known.get(name, ()))

    def _imported(
        self, module: str, node: ast.Import | ast.ImportFrom, names: set[str]
    ) -> Iterator[tuple[str, set[str]]]:
        """Yield modules of the project that are imported, each with names to look up there."""
        package = getattr(sys.modules.get(module), "__package__", None)
        start = ""
        if isinstance(node, ast.ImportFrom):
            start = resolve_name("." * node.level + (node.module or ""), package)
        for alias in node.names:
            whole = f"{start}.{alias.name}".strip(".")
            if whole.partition(".")[0] in self._roots and (alias.asname or alias.name) in names:
                yield (whole, names) if whole in sys.modules else (start, {alias.name})


def _names(node: ast.AST) -> Iterator[str]:
    """Yield the names that code uses, but those of callbacks in requests that it makes."""
    parts: list[ast.AST] = [node]
    for part in parts:  # which grow
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr
        inner = list(ast.iter_child_nodes(part))
        if isinstance(part, ast.Call):
            called = getattr(part.func, "attr", getattr(part.func, "id", ""))
            if called.startswith("follow") or called.endswith("Request"):
                inner = [it for it in inner if not _is_of_self(it)]
        parts += [it for it in inner if getattr(it, "arg", "") not in ("callback", "errback")]


def _is_of_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self"


@lru_cache(maxsize=MOST)
def _definitions(module: str) -> _Definitions:
    """Return the definitions of a module by name, members of classes as `Class.member`."""
    found: _Definitions = defaultdict(list)
    tree = ast.parse(Path(str(sys.modules[module].__file__)).read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, _BLOCKS) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    _collect(found, "", tree)
    return dict(found)


def _collect(found: _Definitions, prefix: str, parent: ast.AST) -> None:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, _BLOCKS):
            found[f"{prefix}{node.name}"].append(node)
            if isinstance(node, ast.ClassDef):
                _collect(found, f"{prefix}{node.name}.", node)
            elif prefix:
                _collect(found, prefix, node)  # what it assigns to `self`
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                found[prefix + (alias.asname or alias.name.partition(".")[0])].append(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for part in chain(*map(ast.walk, targets)):
                if isinstance(part, ast.Name) or _is_of_self(part):
                    found[prefix + getattr(part, "id", getattr(part, "attr", ""))].append(node)
        else:
            _collect(found, prefix, node)
