"""The site in a process of its own, and questions to it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

from crawler.site.shop import HOME
from crawler.truth import Served, Truth

PROJECT = Path(__file__).parents[2]
NAMES = {"127.0.0.1": "localhost", "localhost": "127.0.0.1"}
DIRECT = build_opener(ProxyHandler({}))


class SiteError(Exception):
    """The demonstration site can't be started or asked."""


class SiteProcess:
    """A running site. It stops with `stop()`, and by itself when this process dies.

    `options` are others of `python -m crawler.site`; those that are blank or 0 are left out.
    """

    def __init__(self, articles: int, seed: int, **options: str | int) -> None:
        command = [sys.executable, "-m", "crawler.site", "--parent-pipe"]
        for name, value in {"articles": articles, "seed": str(seed), **options}.items():
            command += [f"--{name.replace('_', '-')}={value}"] if value else []
        # A session of its own: Ctrl-C is for the crawl, which stops the site when it is done.
        self.process = subprocess.Popen(
            command,
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            self.stop()
            raise SiteError("the demonstration site did not start; its message is above")
        self.url = line.split()[-1]

    def stop(self) -> None:
        """End the process, and wait for it."""
        with self.process:  # which closes its pipes, and waits
            self.process.terminate()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()


@contextmanager
def running_site(articles: int, seed: int = 1, **options: str | int) -> Iterator[str]:
    """Run a site on a free port as long as the block lasts; the value is its URL."""
    site = SiteProcess(articles, seed, **options)
    try:
        yield site.url
    finally:
        site.stop()


def shop_url(url: str) -> str:
    """Return where the shop of the site at `url` is: at the machine's other name.

    So it is a site of its own for those who go by the host, as the gate's scope does.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    return f"{parts.scheme}://{parts.netloc.replace(host, NAMES.get(host, host), 1)}{HOME}"


def serve_number(url: str) -> int:
    """Return how many responses the site has served so far. Raises SiteError."""
    return int(_ask(url, "/-/serve"))


def truth(url: str) -> Truth:
    """Return what the site at `url` knows. Raises SiteError."""
    known = Truth(*_ask(url, "/-/truth"))
    return known._replace(log=[Served(*entry) for entry in known.log])


def set_time(url: str, moment: float) -> None:
    """Let the site at `url` answer as of a moment of its year. Raises SiteError."""
    _ask(url, f"/-/time/{moment}")


def _ask(url: str, path: str) -> Any:
    try:
        with DIRECT.open(url.rstrip("/") + path, timeout=60) as response:
            return json.load(response)
    except (OSError, ValueError) as error:
        raise SiteError(f"no demonstration site answers at {url}: {error}") from error
