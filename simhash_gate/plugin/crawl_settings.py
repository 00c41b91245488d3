"""Settings in a crawl: the middlewares that they need, overrides by requests, the store's URL."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from scrapy import Request
from scrapy.settings import BaseSettings
from scrapy.utils.job import job_dir
from scrapy.utils.project import data_path

from simhash_gate.gate.policy import Policy
from simhash_gate.plugin.requests import META_KEY
from simhash_gate.plugin.spider_middleware import enabled, is_installed, sees_pages_end
from simhash_gate.settings import SQLITE_DEFAULT, TABLE, Settings
from simhash_gate.values import PREFIX, SettingsError

_MIDDLEWARES = "all middlewares of the gate: install its add-on, ADDONS = {'simhash_gate.Addon': 0}"


def check(settings: Settings, installed: BaseSettings) -> None:
    """Raise `SettingsError` if a setting needs a middleware that is not installed."""
    downloader = {component.__name__ for component in enabled(installed, "DOWNLOADER_MIDDLEWARES")}
    policies, spider = settings.policies, is_installed(installed)
    held = any(policy.revisit == "links" for policy in policies.of_domains.values())
    if policies.default.revisit == "links":  # that is also the default, which asks for nothing
        held = installed.get(f"{PREFIX}REVISIT") is not None
    asks_first, sees_end = "ConditionalRequests" in downloader, sees_pages_end(installed)
    for wanted, is_there, setting in (
        (any(policy.action == "links" for policy in policies.all), spider, "ACTION = 'links'"),
        (held, spider, "REVISIT = 'links'"),
        (settings.revalidates, asks_first, "REVALIDATE"),
        (settings.durable == "page", sees_end, "DURABLE = 'page'"),
    ):
        if wanted and not is_there:
            raise SettingsError(f"{PREFIX}{setting} needs {_MIDDLEWARES}")


def overridden(policy: Policy, request: Request, settings: Settings, *, links: bool) -> Policy:
    """Return a site's policy with the overrides of a request. Raises `SettingsError`.

    `links` tells whether the spider middleware is installed. It holds items back; without it,
    `revisit` can't be "links".
    """
    overrides = request.meta.get(META_KEY)
    if overrides is not None and overrides is not True:
        policy = policy.override(overrides, f"meta[{META_KEY!r}]")
        for name in overrides:
            if not TABLE[f"{PREFIX}{name.upper()}"].metadata["of_request"]:
                raise SettingsError(f"meta[{META_KEY!r}][{name!r}]: can't be set for one request")
        if policy.action == "links" and not links:
            raise SettingsError(f"{PREFIX}ACTION = 'links' needs {_MIDDLEWARES}")
        if policy.revalidate and not settings.revalidates:
            raise SettingsError(
                "a request asks to be sent with a condition, but no domain is asked so: set "
                f"{PREFIX}REVALIDATE, or revalidate in {PREFIX}DOMAINS"
            )
    return policy if links or policy.revisit != "links" else replace(policy, revisit="pass")


def store_url(configured: str, settings: BaseSettings, spider: str) -> str:
    """Return the URL of the store to open. The default files of a crawl have absolute paths."""
    if configured == SQLITE_DEFAULT:
        path = Path(data_path("simhash_gate")) / f"{quote(spider, safe='')}.sqlite"
    elif not configured and (folder := job_dir(settings)):
        path = Path(folder) / "simhash_gate.sqlite"
    else:
        return configured or "memory:"
    return f"sqlite:///{path.absolute()}"
