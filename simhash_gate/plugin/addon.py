"""The Scrapy add-on: one line in the settings installs all of the gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simhash_gate.plugin.head_start import HeadStart
from simhash_gate.values import PATH, read_one

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

DOWNLOADER_ORDER = 20
CONDITIONS_ORDER = 840
OUTERMOST, INNERMOST = -10_000, 10_000


class Addon:
    """Installs the gate and what follows its pages, where the user has not placed it."""

    def __init__(self) -> None:
        self.head_start = HeadStart()

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the middlewares to the settings."""
        self.head_start.begin(settings)  # before what takes its time to load here, too
        from simhash_gate.plugin.conditional_requests import ConditionalRequests
        from simhash_gate.plugin.middleware import SimhashGateMiddleware
        from simhash_gate.plugin.spider_middleware import (
            SimhashGateInnerSpiderMiddleware,
            SimhashGateSpiderMiddleware,
        )

        for name, component, order in (
            ("DOWNLOADER_MIDDLEWARES", SimhashGateMiddleware, DOWNLOADER_ORDER),
            ("DOWNLOADER_MIDDLEWARES", ConditionalRequests, CONDITIONS_ORDER),
            ("SPIDER_MIDDLEWARES", SimhashGateSpiderMiddleware, OUTERMOST),
            ("SPIDER_MIDDLEWARES", SimhashGateInnerSpiderMiddleware, INNERMOST),
        ):
            settings.setdefault_in_component_priority_dict(name, component, order)
        recover = read_one(settings, "RECOVER", PATH, "")
        if recover:
            from simhash_gate.plugin.recover_journal import install

            install(settings)
