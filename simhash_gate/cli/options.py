"""What several commands take: settings, a progress bar, a page cache, spans of time, pages."""

from __future__ import annotations

import re
import time
from datetime import datetime, timezone
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from simhash_gate.cli.console import Console
from simhash_gate.common.times import seconds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simhash_gate.settings import Settings

setting = click.option(
    "-s",
    "--set",
    "assignments",
    metavar="NAME=VALUE",
    multiple=True,
    help="A SIMHASH_GATE_* setting, as in Scrapy. Repeat the option for more settings.",
)
_progress = click.option(
    "--progress/--no-progress",
    default=None,
    help="Show or hide the progress bar on stderr. By default, a terminal shows it, unless the "
    "results go to the same terminal.",
)
output = click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to FILE, not to stdout. FILE is replaced only when all is written.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, not text.")
scope = click.option("--scope", metavar="NAME", help="Only pages of this scope.")
cache = click.option(
    "--cache",
    metavar="FILE",
    help="Keep the pages that were read in FILE, so that a later command need not read them again. "
    "The default is simhash-gate/pages.sqlite in $XDG_CACHE_HOME or ~/.cache.",
)
no_cache = click.option("--no-cache", is_flag=True, help="Read every page again, and keep none.")
domain = click.option(
    "--domain", metavar="NAME", help="Only pages of this domain and its subdomains."
)
page = click.option("--page", metavar="URL", help="Only the page that this URL leads to.")


def with_settings(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the option -s, and call it with the `settings` that are read of it."""

    @wraps(command)
    def run(*, assignments: Sequence[str], **given: Any) -> int:
        return command(settings=settings_of(assignments), **given)

    return setting(run)


def with_console(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a progress bar, and call it with a `console`."""

    @wraps(command)
    def run(*, progress: bool | None, **given: Any) -> int:
        return command(console=Console(progress), **given)

    return _progress(run)


def settings_of(assignments: Sequence[str], crawl: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings that `-s` gave, on top of those of a `crawl`, as its log has them.

    Raises SettingsError that names the wrong one.
    """
    from simhash_gate.offline.logs import settings_of_crawl
    from simhash_gate.values import PREFIX

    given = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name.startswith(PREFIX):
            raise click.UsageError(f"-s {assignment}: expected {PREFIX}NAME=VALUE")
        given[name] = value
    return settings_of_crawl(crawl or {}, given)


def age(value: str) -> float:
    """Return the seconds of a time span such as 7d."""
    try:
        return seconds_of(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def moment(value: str) -> float:
    """Return the Unix time of a time such as 2024-06-01T12:00, in UTC by default, or of an age."""
    try:
        return time.time() - age(value)
    except click.BadParameter:
        pass
    try:
        # Python 3.10 does not know Z.
        found = datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", value))
    except ValueError:
        raise click.BadParameter(
            f"{value!r}: expected a time such as 2024-06-01T12:00, or 7d"
        ) from None
    return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()


def distances(value: str) -> tuple[int, int]:
    """Return the range of a distance in bits, such as 4, 4..12, 4.. or ..12."""
    found = re.fullmatch(r"(\d*)(\.\.(\d*))?", value)
    if not found or not (found[1] or found[3]):
        raise click.BadParameter(f"{value!r}: expected a number of bits, or a range such as 4..12")
    low = int(found[1] or 0)
    high = int(found[3] or 64) if found[2] else low
    if low > high:
        raise click.BadParameter(f"{value!r}: the first end is larger than the last")
    return low, high


older = click.option(
    "--age",
    type=age,
    metavar="AGE",
    help="Pages that were last seen longer ago than AGE: 90s, 30m, 12h, 7d.",
)


def with_chosen(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options that choose pages, and call it with the pages as `chosen`."""

    @wraps(command)
    def run(*, domain: Any, scope: Any, page: Any, age: Any, **given: Any) -> int:
        from simhash_gate.offline.chosen import Chosen

        return command(chosen=Chosen(domain, scope, page, age), **given)

    for option in (older, page, scope, domain):
        run = option(run)
    return run
