"""The policy of each domain, and what counts as one site."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from ipaddress import ip_address
from typing import Any, Literal, NamedTuple

import tldextract
from cssselect import HTMLTranslator, SelectorError

from simhash_gate.common.urls import host_of

Action = Literal["drop", "tag", "links"]
Revisit = Literal["pass", "drop"]
Scope = Literal["domain", "host", "crawl"]
Verify = Literal["distance", "names", "text"]

WHOLE_CRAWL = "*"

# The packaged suffix list only: a gate must not wait for, or depend on, the network.
_suffixes = tldextract.TLDExtract(
    suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True
)


class SettingsError(ValueError):
    """A setting, or a policy override, has a value that can't be used."""


class Kind(NamedTuple):
    """What values a setting takes: in words for an error message, and how one is parsed."""

    allowed: str
    parse: Callable[[Any], Any]

    def of(self, name: str, value: Any) -> Any:
        """Return the parsed value.

        Raises `SettingsError` that names the setting, the value, and what is allowed.
        """
        try:
            return self.parse(value)
        except SettingsError as error:  # it knows better what is wrong
            raise SettingsError(f"{name}: {error}") from None
        except (TypeError, ValueError, KeyError, OverflowError):
            raise SettingsError(f"{name} = {value!r}: expected {self.allowed}") from None


def whole_number(low: int, high: int | None = None) -> Kind:
    """Whole numbers from `low` to `high`; no upper bound if None."""

    def parse(value: Any) -> int:
        number = int(value) if isinstance(value, str) else value
        if isinstance(number, bool) or not isinstance(number, int):
            raise TypeError
        if number < low or (high is not None and number > high):
            raise ValueError
        return number

    allowed = f"at least {low}" if high is None else f"from {low} to {high}"
    return Kind(f"a whole number {allowed}", parse)


def one_of(*choices: str) -> Kind:
    """Nothing but the choices."""
    return Kind("one of " + ", ".join(map(repr, choices)), {c: c for c in choices}.__getitem__)


def _seconds(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError
    number = float(value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError
    return number


def _share(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError
    number = float(value)
    if not 0 <= number <= 1:
        raise ValueError
    return number


FLAG = Kind(
    "True or False",
    lambda value: {"true": True, "1": True, "false": False, "0": False}[str(value).strip().lower()],
)


def _selectors(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):  # a selector may have commas: a list is written in JSON
        value = json.loads(value) if value.lstrip().startswith("[") and '"' in value else [value]
    selectors = tuple(value)
    for selector in selectors:
        try:
            HTMLTranslator().css_to_xpath(ATTRIBUTE.sub("", selector))
        except SelectorError as error:
            raise SettingsError(f"{selector!r} is no CSS selector: {error}") from None
    return selectors


ATTRIBUTE = re.compile(r"@[\w:-]+\Z")
SELECTORS = Kind("CSS selectors, as a list", _selectors)
VERIFY = Kind(
    "'names', 'text' (or True), or 'distance' (or False)",
    lambda value: {
        "distance": "distance", "false": "distance", "0": "distance",
        "names": "names",
        "text": "text", "true": "text", "1": "text",
    }[str(value).strip().lower()],
)  # fmt: skip
SECONDS = Kind("a number of seconds above 0", _seconds)
SHARE = Kind("a share from 0 to 1", _share)
OPTIONAL_SECONDS = Kind(
    "a number of seconds above 0, or None for no limit",
    lambda value: None if value in (None, "", "None") else _seconds(value),
)


def _knob(default: Any, kind: Kind) -> Any:
    return field(default=default, metadata={"kind": kind})


@dataclass(frozen=True, slots=True)
class Policy:
    """How the pages of one domain are judged.

    `threshold` and `near` are Hamming distances in bits, `window` counts pages, `ttl` is in
    seconds, `min_words` is the length below which only an exact copy is a duplicate; `verify`
    says what must agree before a page is called a duplicate: its `distance` alone, also what it
    calls itself and offers (`names`), or also its `text`; `audit` is the share of duplicates
    whose items a crawl compares with those of the kept pages; `compare` are CSS selectors: pages
    for which they find something else are no duplicates.
    """

    threshold: int = _knob(3, whole_number(0, 64))
    near: int = _knob(8, whole_number(0, 64))
    action: Action = _knob("drop", one_of("drop", "tag", "links"))
    window: int = _knob(10_000, whole_number(1))
    ttl: float | None = _knob(None, OPTIONAL_SECONDS)
    min_words: int = _knob(20, whole_number(0))
    revisit: Revisit = _knob("pass", one_of("pass", "drop"))
    verify: Verify = _knob("names", VERIFY)
    audit: float = _knob(0.0, SHARE)
    compare: tuple[str, ...] = _knob((), SELECTORS)

    def __post_init__(self) -> None:
        if isinstance(self.verify, bool):  # as it was said before there were three ways
            object.__setattr__(self, "verify", "text" if self.verify else "distance")

    def override(self, values: Mapping[str, Any], where: str) -> Policy:
        """Return this policy with some values replaced; `where` names their source in errors.

        Raises `SettingsError` for an unknown key or a value that is not allowed.
        """
        if not isinstance(values, Mapping):
            raise SettingsError(f"{where} = {values!r}: expected a mapping of policy values")
        known = ("profile", *POLICY_KINDS)
        for key in values:
            if key not in known:
                raise SettingsError(f"{where}: unknown key {key!r}; known are {', '.join(known)}")
        parsed = {
            key: kind.of(f"{where}[{key!r}]", values[key])
            for key, kind in POLICY_KINDS.items()
            if key in values
        }
        name = values.get("profile")
        profile = {} if name is None else PROFILES[PROFILE.of(f"{where}['profile']", name)]
        return replace(self, **{**profile, **parsed})


PROFILES: dict[str, dict[str, Any]] = {
    "news": {"threshold": 3},
    "docs": {"threshold": 2},
    "shop": {"threshold": 3, "verify": "text"},
    "forum": {"threshold": 3, "verify": "text"},
}
"""Policy values for kinds of sites."""

PROFILE = one_of(*PROFILES)
POLICY_KINDS: dict[str, Kind] = {f.name: f.metadata["kind"] for f in fields(Policy)}


class Policies:
    """The policy of every host: the general one, and those of domains, which subdomains inherit.

    Window and age limit are the scope's, whichever host of it a page comes from.
    """

    def __init__(
        self,
        default: Policy,
        domains: Mapping[str, Policy] | None = None,
        scope: Scope = "domain",
    ) -> None:
        self.default = default
        self._scope = scope
        self._domains = {bare_host(name): policy for name, policy in (domains or {}).items()}

    @property
    def all(self) -> list[Policy]:
        """The general policy and each domain's."""
        return [self.default, *self._domains.values()]

    @property
    def compared(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Domains and the selectors of their fields; those of all others under ""."""
        found = {"": self.default} | self._domains
        if not any(policy.compare for policy in found.values()):
            return ()
        return tuple((name, policy.compare) for name, policy in found.items())

    def of(self, url: str) -> Policy:
        """Return the policy of the longest configured domain that the URL's host belongs to."""
        host = host_of(url)
        policy = self._of_host(host)
        if self._scope == "host":
            return policy
        shared = self._of_host(registered_domain(host)) if self._scope == "domain" else self.default
        return replace(policy, window=shared.window, ttl=shared.ttl)

    def _of_host(self, host: str) -> Policy:
        labels = bare_host(host).split(".")
        for start in range(len(labels)):
            policy = self._domains.get(".".join(labels[start:]))
            if policy is not None:
                return policy
        return self.default


def bare_host(host: str) -> str:
    """Return the host without a leading `www.`, which never tells two sites apart."""
    return host.lower().rstrip(".").removeprefix("www.")


@lru_cache(maxsize=4096)
def registered_domain(host: str) -> str:
    """Return the registered domain; for an IP address, localhost or a bare suffix the host."""
    try:
        ip_address(host)
    except ValueError:
        parts = _suffixes.extract_str(host)
        return f"{parts.domain}.{parts.suffix}" if parts.domain and parts.suffix else host
    return host


def is_scope(domain: str, scope: Scope) -> bool:
    """Tell whether the pages of a domain make whole scopes, with a window of their own."""
    return scope == "host" or (scope == "domain" and registered_domain(bare_host(domain)) == domain)


def scope_of(url: str, scope: Scope) -> str:
    """Return the name of the group of pages that the URL's page is compared with."""
    if scope == "crawl":
        return WHOLE_CRAWL
    host = host_of(url)
    return registered_domain(host) if scope == "domain" else bare_host(host)
