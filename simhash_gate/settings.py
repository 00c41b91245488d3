"""The SIMHASH_GATE_* settings: read from any mapping into one frozen value, and checked once."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

from simhash_gate import values as kinds
from simhash_gate.common.wording import why
from simhash_gate.gate.policy import POLICY_KINDS, Policies, Policy, Scope, is_scope, without_www
from simhash_gate.options import Options, pipeline_version
from simhash_gate.stores import StoreError, store_opener
from simhash_gate.stores.base import without_password
from simhash_gate.values import PREFIX, SettingsError, ValueKind, one_of, setting, settings_in
from simhash_gate.workers import PROCESSES, default_workers

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

StoreFailure = Literal["pass", "close"]
Durable = Literal["run", "page", "never"]
_LEAST_MEMORY = 256 * kinds.MIB
SQLITE_DEFAULT = "sqlite:"
"""The store URL for which the plugin chooses a path."""
_MOST_SHOWN = 20
_HOST = re.compile(r"\.?[a-zA-Z0-9_-]+(?:\.[a-zA-Z0-9_-]+)*\.?|(?=[^:]*:[^:]*:)[0-9a-fA-F:.]+")


def _store_url(value: Any) -> str:
    if value in ("", SQLITE_DEFAULT):
        return str(value)
    try:
        store_opener(str(value))
    except StoreError as error:
        # The message of the store lists all URLs but this one, which only a crawl can open.
        default = f"; or {SQLITE_DEFAULT} alone" if "sqlite:///" in str(error) else ""
        raise SettingsError(f"{error}{default}") from None
    return str(value)


def _domains(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str | PathLike):
        path = str(value)
        value = _read_toml(path) if path.lower().endswith(".toml") else json.loads(path)
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise TypeError
    return value


def _read_toml(path: str) -> dict[str, Any]:
    try:
        with Path(path).open("rb") as file:
            return dict(_tables(tomllib.load(file)))
    except OSError as error:
        raise SettingsError(f"{path}: {why(error)}") from None
    except ValueError as error:
        raise SettingsError(f"{path}: not TOML: {error}") from None


def _tables(tables: Mapping[str, Any], domain: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the tables of domains. TOML reads [example.com] as a table `com` in `example`."""
    for name, table in tables.items():
        whole = f"{domain}.{name}" if domain else name
        values = table.values() if isinstance(table, Mapping) else ()
        if values and all(isinstance(value, Mapping) for value in values):
            yield from _tables(table, whole)
        else:
            yield whole, table


STORE = ValueKind("the URL of a store", _store_url)
DOMAINS = ValueKind(
    "a mapping of domain names to mappings of policy values, its JSON, or the path of a .toml file",
    _domains,
)
_WORKERS = kinds.WHOLE._replace(parse=lambda value: kinds.WHOLE.parse(value) if PROCESSES else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of a crawl. `store` is "" if the gate chooses it, `journal` if there is none."""

    enabled: bool = setting(True, kinds.FLAG, "Switch the gate on or off")
    store: str = setting("", STORE, "Where kept pages are remembered")
    scope: Scope = setting("domain", one_of(*get_args(Scope)), "Which pages are compared")
    workers: int = setting(default_workers(), _WORKERS, "How many processes read pages")
    max_bytes: int = setting(10 * kinds.MIB, kinds.COUNT, "The largest body that is read")
    store_failure: StoreFailure = setting(
        "pass", one_of(*get_args(StoreFailure)), "How the crawl goes on if the store can't be used"
    )
    durable: Durable = setting(
        "run", one_of(*get_args(Durable)), "When kept pages count for later crawls"
    )
    keep_markdown: int = setting(0, kinds.BUDGET, "How many bytes of Markdown the store keeps")
    tracking: tuple[str, ...] = setting(
        (), kinds.PARAMETERS, "Names that make no difference in any URL"
    )
    ignore: tuple[str, ...] = setting((), kinds.NAMES, "Parts of requests that make no difference")
    verdicts: str = setting("", kinds.PATH_PATTERN, "A verdict log")
    report: str = setting("", kinds.PATH_PATTERN, "A report, one HTML file")
    journal: str = setting("", kinds.PATH, "Keep every dropped response in this folder")
    listeners: tuple[str, ...] = setting(
        (), kinds.NAMES, "Classes of your own that are told of pages"
    )
    policies: Policies
    options: Options

    @property
    def worker_memory(self) -> int:
        """The bytes that a page-reading process may use for one page."""
        return max(_LEAST_MEMORY, 100 * self.max_bytes)

    @property
    def revalidates(self) -> bool:
        """Whether pages of any domain are requested only if they have changed."""
        return any(policy.revalidate for policy in self.policies.all)

    def crawl_line(
        self, by: str, name: str, *, run: str = "", started: float | None = None, scrapy: str = ""
    ) -> dict[str, Any]:
        """Return the first line of a verdict log: who judged, with which versions and settings.

        `by` is `crawl` or the name of a command. `name` is that of the spider or of the sources.
        `run` is the crawl's name in the store, `started` a Unix time, `scrapy` Scrapy's version.
        """
        versions = {"simhash_gate": own_version(), "scrapy": scrapy}
        versions["pipeline"] = pipeline_version(self.options)
        return {
            "crawl": {
                "by": by,
                "name": name,
                **({"run": run} if run else {}),
                "started": started,
                "versions": {what: version for what, version in versions.items() if version},
                "settings": self._changed(),
                "domains": {
                    domain: _differing(policy, self.policies.default, POLICY_KINDS)
                    for domain, policy in self.policies.of_domains.items()
                },
            }
        }

    def _changed(self) -> dict[str, Any]:
        """Return the settings that are not the default, by name. The store is without password."""
        default = read_settings({})
        changed = {
            PREFIX + name.upper(): value
            for mine, plain, names in (
                (self, default, _KINDS),
                (self.policies.default, default.policies.default, POLICY_KINDS),
                (self.options, default.options, _OPTIONS),
            )
            for name, value in _differing(mine, plain, names).items()
        }
        if self.store:
            changed[PREFIX + "STORE"] = without_password(self.store)
        return changed


_KINDS, _OPTIONS = settings_in(Settings), settings_in(Options)
TABLE = {
    PREFIX + field.name.upper(): field
    for table in (Settings, Policy, Options)
    for field in fields(table)
    if field.metadata
}
"""All settings but those of domains, as fields with their defaults, kinds and meanings."""
NAMES = (*TABLE, PREFIX + "DOMAINS")


def _differing(mine: Any, other: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return the values of `mine` that differ from those of `other`. Show long ones by length."""
    changed = {}
    for name in names:
        value = getattr(mine, name)
        if value != getattr(other, name):
            long = isinstance(value, tuple) and len(value) > _MOST_SHOWN
            changed[name] = f"{len(value)} values" if long else value
    return changed


def own_version() -> str:
    """Return the version of this package, "" if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # loads slowly

    try:
        return version("simhash-gate")
    except PackageNotFoundError:
        return ""


def read_settings(source: Mapping[str, Any]) -> Settings:
    """Read settings from a mapping. Raises `SettingsError` with name, value, what is allowed."""
    _refuse_unknown(source)
    values, of_domains, of_pages = (
        {
            name: kind.of(PREFIX + name.upper(), value)
            for name, kind in table.items()
            if (value := source.get(PREFIX + name.upper())) is not None
        }
        for table in (_KINDS, POLICY_KINDS, _OPTIONS)
    )
    policy = Policy(**of_domains)
    scope: Scope = values.get("scope", "domain")
    named = kinds.read_one(source, "DOMAINS", DOMAINS, {})
    domains = {name: _domain_policy(policy, name, table, scope) for name, table in named.items()}
    policies = Policies(policy, domains, scope)
    keeps = bool(values.get("keep_markdown"))
    options = Options(**of_pages, markdown=keeps, anchors=keeps, compare=policies.compared)
    return Settings(**values, policies=policies, options=options)


def _refuse_unknown(source: Mapping[str, Any]) -> None:
    short_names = [name.removeprefix(PREFIX) for name in NAMES]
    for name in map(str, source):
        short = name.upper().replace("SIMHASHGATE", "SIMHASH_GATE").removeprefix(PREFIX.rstrip("_"))
        if short != name.upper() and name not in NAMES:
            near = kinds.meant(short.lstrip("_"), short_names, PREFIX)
            raise SettingsError(f"{name} is not a setting; {near}")


def _domain_policy(general: Policy, domain: str, values: Any, scope: Scope) -> Policy:
    where = f"{PREFIX}DOMAINS[{domain!r}]"
    if not _HOST.fullmatch(domain):
        raise SettingsError(
            f"{where}: expected the name of a domain or host, as in a URL (punycode if it is not "
            "ASCII): no scheme, port, path or wildcard; subdomains are always meant too"
        )
    policy = general.override(values, where)
    for name in ("window", "ttl"):
        if name in values and not is_scope(without_www(domain), scope):
            raise SettingsError(
                f"{where}[{name!r}]: its pages share one memory with others ({PREFIX}SCOPE = "
                f"{scope!r}); set it for all of them"
            )
    return policy
