"""The policy of each domain, and what counts as one site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Literal, get_args

from simhash_gate import values as kinds
from simhash_gate.common.urls import host_of, of_longest_domain
from simhash_gate.values import SettingsError, meant, one_of, setting, settings_in

if TYPE_CHECKING:
    from tldextract import TLDExtract

Action = Literal["drop", "discard", "tag", "links"]
Revisit = Literal["links", "pass", "drop"]
Scope = Literal["domain", "host", "crawl"]
Blocked = Literal["pass", "drop"]

WHOLE_CRAWL = "*"


ACTIONS, REVISITS, BLOCKED = (one_of(*get_args(each)) for each in (Action, Revisit, Blocked))


@dataclass(frozen=True, slots=True)
class Policy(kinds.Checked):
    """How the pages of one domain are judged.

    `revalidate` is 0 where no page is asked about. A page of fewer than `min_words` is a duplicate
    only of one with the very same text. `history` is how many versions of a page are remembered,
    or 0 for a judge that shall know of no visits. These two are no settings.
    """

    threshold: int = setting(3, kinds.BITS, "The largest distance of a duplicate by distance alone")
    near: int = setting(8, kinds.BITS, "The largest distance of a page that is looked at closer")
    action: Action = setting("drop", ACTIONS, "How a duplicate is treated")
    window: int = setting(
        10_000, kinds.COUNT, "How many kept pages of a scope are remembered", of_request=False
    )
    ttl: float | None = setting(
        None, kinds.OPTIONAL_SECONDS, "How long a page is remembered", of_request=False
    )
    revisit: Revisit = setting("links", REVISITS, "How an `unchanged` page is treated")
    revisit_after: float | None = setting(None, kinds.OPTIONAL_SECONDS, "For crawls that never end")
    verify: bool = setting(
        True, kinds.FLAG, "Whether the gate looks closer at pages that are alike"
    )
    compare: tuple[str, ...] = setting((), kinds.SELECTORS, "Fields of your own", of_request=False)
    blocked: Blocked = setting("pass", BLOCKED, "How block pages are treated")
    revalidate: float = setting(0.0, kinds.PROBED, "Ask for a known page only if it has changed")
    min_words: int = 20
    history: int = 20

    def override(self, values: Mapping[str, Any], where: str) -> Policy:
        """Return this policy with some values replaced; `where` names their source in errors.

        Raises `SettingsError` for an unknown key or a value that is not allowed.
        """
        if not isinstance(values, Mapping):
            raise SettingsError(f"{where} = {values!r}: expected a mapping of policy values")
        for key in values:
            if key not in POLICY_KINDS:
                known = meant(str(key), POLICY_KINDS)
                raise SettingsError(f"{where}: unknown key {key!r}; {known}")
        parsed = {key: POLICY_KINDS[key].of(f"{where}[{key!r}]", it) for key, it in values.items()}
        return replace(self, **parsed)


POLICY_KINDS = settings_in(Policy)


@dataclass(frozen=True, slots=True)
class Site:
    """What a URL tells of the site that its page belongs to.

    `domain` is the registered domain of its host. `scope` names the group of pages that the page
    is compared with, and `policy` says how.
    """

    domain: str
    scope: str
    policy: Policy


class Policies:
    """The policy of every host: the `default`, and those `of_domains`, which subdomains inherit.

    Window and age limit are the scope's, whichever host of it a page comes from.
    """

    def __init__(
        self, default: Policy, domains: Mapping[str, Policy] | None = None, scope: Scope = "domain"
    ) -> None:
        self.default = default
        self._scope = scope
        self.of_domains = {without_www(name): policy for name, policy in (domains or {}).items()}
        self._site_of_host = lru_cache(maxsize=1024)(self._find_site)

    @property
    def all(self) -> list[Policy]:
        """The general policy and each domain's."""
        return [self.default, *self.of_domains.values()]

    @property
    def compared(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Domains and the selectors of their fields; those of all others under ""."""
        found = {"": self.default} | self.of_domains
        if not any(policy.compare for policy in found.values()):
            return ()
        return tuple((name, policy.compare) for name, policy in found.items())

    def site_of(self, url: str) -> Site:
        """Return the site of a URL; its policy is that of the longest domain of the settings."""
        return self._site_of_host(host_of(url))

    def _find_site(self, host: str) -> Site:
        domain = registered_domain(host)
        policy = of_longest_domain(host, self.of_domains, self.default)
        if self._scope == "host":
            return Site(domain, without_www(host), policy)
        scope = domain if self._scope == "domain" else WHOLE_CRAWL
        shared = of_longest_domain(scope, self.of_domains, self.default)
        policy = replace(policy, window=shared.window, ttl=shared.ttl)
        return Site(domain, scope, policy)


def without_www(host: str) -> str:
    """Return the host without a leading `www.`, which never tells two sites apart, or dot."""
    return host.lower().strip(".").removeprefix("www.")


def registered_domain(host: str) -> str:
    """Return the registered domain; for an IP address, localhost or a bare suffix the host."""
    return _public_domain(host) or host


def is_public_host(name: str) -> bool:
    """Tell whether a name is that of a host: of a registered domain, or an IP address."""
    return bool(_public_domain(name))


@cache
def _suffixes() -> TLDExtract:
    """Return the packaged suffix list: a gate must not wait for, or depend on, the network."""
    import tldextract  # it loads an HTTP client that nobody needs

    return tldextract.TLDExtract(
        suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True
    )


@lru_cache(maxsize=4096)
def _public_domain(host: str) -> str:
    try:
        ip_address(host)
    except ValueError:
        parts = _suffixes().extract_str(host)
        return f"{parts.domain}.{parts.suffix}" if parts.domain and parts.suffix else ""
    return host


def is_scope(name: str, scope: Scope) -> bool:
    """Tell whether the pages of a domain make whole scopes, with a window of their own."""
    return scope == "host" or (scope == "domain" and registered_domain(without_www(name)) == name)


def scope_of(url: str, scope: Scope) -> str:
    """Return the name of the group of pages that the URL's page is compared with."""
    if scope == "crawl":
        return WHOLE_CRAWL
    host = host_of(url)
    return registered_domain(host) if scope == "domain" else without_www(host)
