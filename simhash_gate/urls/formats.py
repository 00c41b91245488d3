"""Rules of others: those of duplicate-url-discarder, and ClearURLs' catalogue, as first guesses."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from simhash_gate.urls.active_rules import EVERY
from simhash_gate.urls.parts import whole
from simhash_gate.urls.rules import ANY_VALUE, SLASH, Rule
from simhash_gate.urls.saved import RulesError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ALL_SITES = "*"
"""In the place of a scope: every site."""
_DOMAIN = re.compile(r"[\w-]+(?:\.[\w-]+)+\Z")
_STARTS_WITH_DOMAIN = re.compile(r"(?:https?://)?(?:\*\.)?[\w-]+(?:\.[\w-]+)*(?:[:/]|\Z)")
_PLAIN_NAME = re.compile(r"[\w.\-\[\]]+\Z")


class Imported(NamedTuple):
    """Rules as entries, and how many could not be said in them."""

    entries: list[dict[str, Any]]
    left_out: int


def from_discarder(text: str | bytes, where: str, scope_of: Callable[[str], str]) -> Imported:
    """Return the rules in a file of duplicate-url-discarder as priors.

    `scope_of` returns the scope of a domain. A path in a pattern is left out: the site's own pages
    say where a rule holds. Raises `RulesError`.
    """
    rules = _json(text, where)
    if not isinstance(rules, list):
        raise RulesError(f"{where}: expected a list of rules")
    entries: dict[tuple[str, Rule], dict[str, Any]] = {}
    left_out = 0
    for rule in rules:
        found = list(_of_discarder(rule))
        left_out += not found
        for pattern, made in found:
            domain = pattern.partition("://")[2] or pattern
            domain = domain.partition("/")[0].partition(":")[0].removeprefix("*.")
            scope = scope_of(domain) if pattern else ALL_SITES
            entries[scope, made] = prior(scope, made)
    return Imported(list(entries.values()), left_out)


def _of_discarder(rule: Any) -> Iterator[tuple[str, Rule]]:
    """Yield each domain pattern of a rule, "" for all, with what of it can be said here."""
    if not isinstance(rule, dict):
        return
    patterns = rule.get("urlPattern")
    included = _texts(patterns.get("include")) if isinstance(patterns, dict) else []
    made: list[Rule] = []
    if rule.get("processor") == "queryRemoval":
        made = [Rule("parameter", name, ANY_VALUE) for name in _texts(rule.get("args")) if name]
    elif rule.get("processor") == "normalizer":
        made = [SLASH]
    for pattern in included or [""]:
        if not pattern or _STARTS_WITH_DOMAIN.match(pattern):
            yield from ((pattern, each) for each in made)


def _texts(found: Any) -> list[str]:
    """Return the texts in a list."""
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def to_discarder(entries: Iterable[dict[str, Any]]) -> tuple[str, int]:
    """Return active rules as a file of duplicate-url-discarder, and how many it has no words for.

    A rule of one shape becomes patterns of its path. A parameter goes whatever its value is. A rule
    for a part of the URLs of a shape can't be said.
    """
    entries = list(entries)
    cut = {whole(shape) for each in entries if whole(shape := each["shape"]) != shape}
    named: dict[_Pattern, set[str]] = defaultdict(set)
    paths: dict[_Pattern, set[int]] = defaultdict(set)
    left_out = 0
    for entry in entries:
        if entry.get("state") != "active" and entry.get("word") != "pinned":
            continue
        kind, name, value = entry["kind"], entry.get("name", ""), entry.get("value", "")
        place = _place(entry)
        if whole(entry["shape"]) in cut:
            left_out += 1
            continue
        if kind == "parameter" and value == ANY_VALUE:
            for pattern in _patterns(entry):
                named[pattern].add(name)
        elif place is not None:
            for pattern in _patterns(entry, place):
                paths[pattern].add(place)
        else:
            left_out += 1
    rules = [_rule(pattern, "queryRemoval", sorted(names)) for pattern, names in named.items()]
    rules += [_rule(pattern, "subpathRemoval", sorted(each)) for pattern, each in paths.items()]
    rules.sort(key=lambda rule: (rule["urlPattern"]["include"], rule["processor"]))
    return json.dumps(rules, ensure_ascii=False, indent=2, sort_keys=True) + "\n", left_out


def _rule(pattern: _Pattern, processor: str, args: list[Any]) -> dict[str, Any]:
    patterns = {"include": [*pattern.include]}
    if pattern.exclude:
        patterns["exclude"] = [pattern.exclude]
    return {"args": args, "order": 100, "processor": processor, "urlPattern": patterns}


class _Pattern(NamedTuple):
    include: tuple[str, ...] = ()
    exclude: str = ""


def _patterns(entry: dict[str, Any], place: int | None = None) -> list[_Pattern]:
    """Return patterns of the URLs that a rule acts on; of a segment, those that have it.

    A `|` ends a path, and a `*` stands for anything, slashes too: paths of more parts are excluded.
    """
    if entry["shape"] == EVERY:
        return [_Pattern(() if entry["scope"] == ALL_SITES else (str(entry["scope"]),))]
    host, *path = re.sub(r"{[a-z]+}|(?<=/)-(?=/|\Z)", "*", entry["shape"]).split("/")
    if place is not None and entry["kind"] == "segment":
        path[place] = entry["name"]
    plain = "/".join((host, *path))
    if "*" not in plain:
        return [_Pattern((f"{plain}|", f"{plain}/|") if any(path) else (f"{plain}|",))]
    deeper = host + "/*" * (len(path) + 1)
    return [_Pattern((f"{plain}|",), deeper), _Pattern((f"{plain}/|",), f"{deeper}/*")]


def _place(entry: dict[str, Any]) -> int | None:
    """Return which part of the path a rule takes out, from 0; None if it takes none out.

    Where that depends on the length of the path, or the part has no name, none is returned.
    """
    parts = entry["shape"].count("/")
    if entry["kind"] == "place":
        return int(entry["name"])
    if entry["kind"] != "segment" or entry["shape"] == EVERY or entry["name"][0] == "{":
        return None
    place = int(entry["value"])
    place = place if place >= 0 else parts + place
    return place if 0 <= place < parts else None


def from_clearurls(text: str | bytes, where: str, scope_of: Callable[[str], str]) -> Imported:
    """Return the parameters in a catalogue of ClearURLs as priors. Raises `RulesError`.

    Its rules are patterns; only those that are the name of a parameter are taken.
    """
    providers = _json(text, where)
    providers = providers.get("providers") if isinstance(providers, dict) else None
    if not isinstance(providers, dict):
        raise RulesError(f"{where}: expected an object with 'providers'")
    entries: dict[tuple[str, Rule], dict[str, Any]] = {}
    left_out = 0
    for provider in providers.values():
        if not isinstance(provider, dict):
            continue
        scope = _scope_of_provider(str(provider.get("urlPattern", "")), scope_of)
        for name in _texts(provider.get("rules")):
            bare = name.removeprefix("(?:%3F)?")  # a question mark that was quoted
            plain = bare.replace("\\", "")
            if scope is None or not _PLAIN_NAME.match(plain) or _is_pattern(bare):
                left_out += 1
                continue
            rule = Rule("parameter", plain, ANY_VALUE)
            entries[scope, rule] = prior(scope, rule)
    return Imported(list(entries.values()), left_out)


def _is_pattern(name: str) -> bool:
    return re.search(r"(?<!\\)[.\[\]()*+?|^$]", name) is not None


def _scope_of_provider(pattern: str, scope_of: Callable[[str], str]) -> str | None:
    """Return the scope of a provider's pattern; None if it can't be told."""
    if pattern in (".*", ""):
        return ALL_SITES
    plain = re.sub(r"\A\^?https\??:(?:\\?/){2}(?:\([^()]*\)[*+]?\??)?", "", pattern)
    plain = re.sub(r"(?:\\?/|\$)\Z", "", plain).replace("\\.", ".")
    return scope_of(plain) if _DOMAIN.match(plain) else None


def prior(scope: str, rule: Rule) -> dict[str, Any]:
    """Return the entry of a rule that is a first guess."""
    entry = {"scope": scope, "shape": EVERY, "kind": rule.kind}
    entry |= {"name": rule.name} if rule.name else {}
    entry |= {"value": rule.value} if rule.value else {}
    return {**entry, "word": "guess"}


def _json(text: str | bytes, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RulesError(f"{where}: not JSON: {error}") from None
