"""What decides the fingerprint of a page besides its bytes and its URL."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from simhash_gate.common.wording import MissingExtraError, require
from simhash_gate.values import NAMES, SELECTORS, Checked, SettingsError, ValueKind, setting

ALGORITHM = 27  # raise it with every change that moves fingerprints
STEADY = "simhash_gate.page.extract.SteadyExtractor"
READABILITY = "simhash_gate.page.extract.ReadabilityExtractor"


@lru_cache(maxsize=8)
def made_of(path: str) -> Any:
    """Return an instance of a class. Raises `SettingsError` for a path that leads to none."""
    try:
        module, _, name = path.rpartition(".")
        made = getattr(importlib.import_module(module), name)()
        if not callable(made):
            raise TypeError("its objects can't be called")
    except MissingExtraError as error:
        raise SettingsError(f"{path}: {error}") from None
    except (ImportError, AttributeError, TypeError, ValueError, OSError) as error:
        raise SettingsError(f"{path}: expected the path of a class ({error})") from error
    return made


def _class_path(value: Any) -> str:
    path = require(value, str, "the path as text")
    if path not in (STEADY, READABILITY, ""):  # to load the first two takes longer than all else
        made_of(path)
    return path


def _left_out(value: Any) -> tuple[str, ...]:
    names = sorted({*NAMES.parse(value)})
    if not LEFT_OUT.issuperset(names):
        raise ValueError
    return tuple(names)


def _compared(value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    plain = not isinstance(value, Mapping) and all(isinstance(each, str) for each in value)
    named = {"": value} if plain and value else dict(value)
    return tuple((require(name, str, ""), SELECTORS.parse(it)) for name, it in named.items())


COMPARE = ValueKind("CSS selectors, or a mapping from domains to CSS selectors", _compared)
CLASS = ValueKind("the path of a class", _class_path)
LEFT_OUT = frozenset({"links", "images"})
"""What Markdown can do without; the text of links stays."""
WITHOUT = ValueKind("links, images, or both with a comma between them", _left_out)


@dataclass(frozen=True)
class Options(Checked):
    """What decides the fingerprint of a page besides its bytes and its URL.

    `markdown` asks for `Page.markdown` to be made where the page is read; without it, it is made
    when it is first asked for. `anchors` asks for `Page.anchors`. `compare` are the CSS selectors
    of the fields that a `Policy` compares, or those of each domain, and under "" of all others.
    None of these decides a fingerprint.
    """

    extractor: str = setting(STEADY, CLASS, "The class that finds the article")
    features: str = setting("", CLASS, "The class that makes features of a page's words")
    without: tuple[str, ...] = setting((), WITHOUT, "Parts that the Markdown leaves out")
    markdown: bool = False
    anchors: bool = False
    compare: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "compare", COMPARE.of("compare", self.compare))


def pipeline_version(options: Options = Options()) -> str:
    """Return a short digest of all that decides fingerprints; two versions never compare."""
    require(options, Options, "Options")
    parts: dict[str, Any] = {"algorithm": ALGORITHM, "extractor": options.extractor}
    if options.features:
        version = getattr(made_of(options.features), "version", "")
        parts |= {"features": options.features, "version": str(version)}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]
