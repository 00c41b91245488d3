"""The SIMHASH_GATE_* settings, from any mapping to one frozen value, checked once."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from simhash_gate.gate.policy import (
    FLAG,
    POLICY_KINDS,
    SECONDS,
    Kind,
    Policies,
    Policy,
    Scope,
    SettingsError,
    bare_host,
    is_scope,
    one_of,
    whole_number,
)
from simhash_gate.options import Options
from simhash_gate.stores import StoreError, store_opener
from simhash_gate.workers.process import default_workers

PREFIX = "SIMHASH_GATE_"
MIB = 1 << 20
_HOST = re.compile(r"[a-zA-Z0-9._-]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*")
SQLITE_DEFAULT = "sqlite:"
"""The store that the plugin finds a path for."""


def _store_url(value: Any) -> str:
    if value in (None, "", SQLITE_DEFAULT):
        return value or ""
    try:
        store_opener(str(value))
    except StoreError as error:
        # Where other URLs are listed, the one that only a crawl knows is missing.
        default = f"; or {SQLITE_DEFAULT} alone" if "sqlite:///" in str(error) else ""
        raise SettingsError(f"{PREFIX}STORE: {error}{default}") from None
    return str(value)


def _domains(value: Any) -> Mapping[str, Any]:
    parsed = json.loads(value) if isinstance(value, str) else value
    if not isinstance(parsed, Mapping) or not all(isinstance(name, str) for name in parsed):
        raise TypeError
    return parsed


def _path_pattern(value: Any) -> str:
    pattern = os.fspath(value or "")
    if not isinstance(pattern, str):
        raise TypeError
    _ = pattern % {"name": "", "time": ""}
    return pattern


def _names(value: Any) -> tuple[str, ...]:
    names = value.split(",") if isinstance(value, str) else list(value)
    if not all(isinstance(name, str) for name in names):
        raise TypeError
    return tuple(name.strip() for name in names if name.strip())


def _path(value: Any) -> str:
    if not isinstance(value, str | os.PathLike):
        raise TypeError
    return os.fspath(value)


def _memory(value: Any) -> int:
    number: int = whole_number(0).parse(value)
    if 0 < number < MIB:  # megabytes, presumably: a process would be replaced after each page
        raise ValueError
    return number


PATH = Kind("the path of a file or folder", _path)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one crawl.

    `store` is "" where the user left the choice to the gate; so are `journal` and `recover` where
    there is none.
    """

    enabled: bool
    store: str
    scope: Scope
    workers: int
    max_bytes: int
    timeout: float
    store_failure: Literal["pass", "close"]
    durable: Literal["run", "page"]
    worker_memory: int
    verdicts: str
    report: str
    audit_items: Literal["drop", "pass"]
    audit_fields: tuple[str, ...]
    audit_log: str
    journal: str
    journal_bytes: int
    recover: str
    policies: Policies
    options: Options


PATH_PATTERN = Kind(
    "the path of a file, in which %(name)s and %(time)s stand for the spider and the start "
    "of the crawl, and %% for a per cent sign",
    _path_pattern,
)
_KINDS = {
    "ENABLED": FLAG,
    "SCOPE": one_of("domain", "host", "crawl"),
    "WORKERS": whole_number(0),
    "MAX_BYTES": whole_number(1),
    "TIMEOUT": SECONDS,
    "MARKDOWN": FLAG,
    "STORE_FAILURE": one_of("pass", "close"),
    "DURABLE": one_of("run", "page"),
    "WORKER_MEMORY": Kind(f"bytes, a whole number at least {MIB}, or 0 for no limit", _memory),
    "VERDICTS": PATH_PATTERN,
    "REPORT": PATH_PATTERN,
    "AUDIT_ITEMS": one_of("drop", "pass"),
    "AUDIT_FIELDS": Kind("names of item fields: a list, or with commas between them", _names),
    "AUDIT_LOG": PATH_PATTERN,
    "JOURNAL": PATH,
    "JOURNAL_BYTES": whole_number(MIB),
    "RECOVER": PATH,
    "DOMAINS": Kind(
        "a mapping of domain names to mappings of policy values, or its JSON", _domains
    ),
}
_NO_SETTINGS = ("sketch", "markdown", "compare")
_OPTIONS = tuple(name for name in Options.__dataclass_fields__ if name not in _NO_SETTINGS)
NAMES = tuple(
    PREFIX + name for name in ("STORE", *_KINDS, *map(str.upper, (*POLICY_KINDS, *_OPTIONS)))
)


def read_settings(source: Mapping[str, Any]) -> Settings:
    """Return the settings found in a mapping, such as Scrapy's.

    Raises `SettingsError` that names the setting, its value, and what is allowed.
    """
    given = {
        key.removeprefix(PREFIX): source.get(key) for key in source if str(key).startswith(PREFIX)
    }
    known = [name.removeprefix(PREFIX) for name in NAMES]
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, 1)
            meant = "".join(f"did you mean {PREFIX}{other}? " for other in near)
            raise SettingsError(
                f"{PREFIX}{name} is not a setting; {meant}known are {', '.join(NAMES)}"
            )

    def general(name: str, default: Any) -> Any:
        value = given.get(name)
        return default if value is None else _KINDS[name].of(PREFIX + name, value)

    policy = Policy(
        **{
            key: kind.of(PREFIX + key.upper(), given[key.upper()])
            for key, kind in POLICY_KINDS.items()
            if key.upper() in given
        }
    )
    scope = general("SCOPE", "domain")
    domains = {
        name: _domain_policy(policy, name, values, scope)
        for name, values in general("DOMAINS", {}).items()
    }
    policies = Policies(policy, domains, scope)
    return Settings(
        enabled=general("ENABLED", True),
        store=_store_url(given.get("STORE")),
        scope=scope,
        workers=general("WORKERS", default_workers()),
        max_bytes=general("MAX_BYTES", 10 * 1024 * 1024),
        timeout=general("TIMEOUT", 10.0),
        store_failure=general("STORE_FAILURE", "pass"),
        durable=general("DURABLE", "run"),
        worker_memory=general("WORKER_MEMORY", 1024**3),
        verdicts=general("VERDICTS", ""),
        report=general("REPORT", ""),
        audit_items=general("AUDIT_ITEMS", "drop"),
        audit_fields=general("AUDIT_FIELDS", ()),
        audit_log=general("AUDIT_LOG", ""),
        journal=general("JOURNAL", ""),
        journal_bytes=general("JOURNAL_BYTES", 1024**3),
        recover=general("RECOVER", ""),
        policies=policies,
        options=_options(given, policies, markdown=general("MARKDOWN", False)),
    )


def _domain_policy(general: Policy, domain: str, values: Any, scope: Scope) -> Policy:
    where = f"{PREFIX}DOMAINS[{domain!r}]"
    if not _HOST.fullmatch(domain):
        raise SettingsError(
            f"{where}: expected the name of a domain or host, as in a URL (punycode if it is not "
            "ASCII): no scheme, port, path or wildcard; subdomains are always meant too"
        )
    policy = general.override(values, where)
    for name in ("window", "ttl"):
        if name in values and not is_scope(bare_host(domain), scope):
            raise SettingsError(
                f"{where}[{name!r}]: its pages share one memory with others ({PREFIX}SCOPE = "
                f"{scope!r}); set it for all of them"
            )
    return policy


def _options(given: Mapping[str, Any], policies: Policies, *, markdown: bool) -> Options:
    sketch = any(policy.verify == "text" for policy in policies.all)
    values = {name: given[name.upper()] for name in _OPTIONS if given.get(name.upper()) is not None}
    try:
        numbers = {name: _number(value) for name, value in values.items()}
        return Options(**numbers, sketch=sketch, markdown=markdown, compare=policies.compared)
    except ValueError as error:
        name, _, complaint = str(error).partition(" ")
        raise SettingsError(f"{PREFIX}{name.upper()} {complaint}") from None


def _number(value: Any) -> Any:
    """Return the number that the command line gave as digits."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value
