"""The Scrapy add-on: one line in the settings installs the whole gate.

It starts the page-reading processes early. They load their modules while Scrapy still loads its
own, so that no page waits for them.
"""

from __future__ import annotations

from contextlib import suppress
from subprocess import Popen
from typing import TYPE_CHECKING
from weakref import finalize

from simhash_gate.values import FLAG, WHOLE, read_one
from simhash_gate.workers import PROCESSES, default_workers
from simhash_gate.workers.process import end_process, start_process

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


class Addon:
    """Installs the middlewares of the gate, except those that the user has placed."""

    def __init__(self) -> None:
        self._processes: list[Popen[bytes]] = []
        finalize(self, _end, self._processes)

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the middlewares to the settings."""
        self._start_processes(settings)  # before this process loads its modules, which takes time
        from simhash_gate.plugin import middleware, spider_middleware

        for name, component, order in (
            ("DOWNLOADER_MIDDLEWARES", middleware.SimhashGateMiddleware, 20),
            ("DOWNLOADER_MIDDLEWARES", spider_middleware.ConditionalRequests, 840),
            ("SPIDER_MIDDLEWARES", spider_middleware.SimhashGateSpiderMiddleware, -10_000),
            ("SPIDER_MIDDLEWARES", spider_middleware.SimhashGateInnerSpiderMiddleware, 10_000),
        ):
            settings.setdefault_in_component_priority_dict(name, component, order)

    def _start_processes(self, settings: BaseSettings) -> None:
        """Start as many processes as the settings say, none if the settings are wrong."""
        # The gate itself reports wrong settings later.
        with suppress(ValueError, TypeError, OverflowError, OSError):
            if PROCESSES and read_one(settings, "ENABLED", FLAG, True):
                count = read_one(settings, "WORKERS", WHOLE, default_workers())
                while len(self._processes) < count:
                    self._processes.append(start_process())

    def take_processes(self) -> list[Popen[bytes]]:
        """Return the processes, which belong to the gate from now on. Others are ended."""
        processes = list(self._processes)
        self._processes.clear()
        return processes


def _end(processes: list[Popen[bytes]]) -> None:
    for process in processes:
        end_process(process)
        process.wait()
