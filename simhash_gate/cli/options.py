"""What several commands take: settings, a progress bar, a page cache, spans of time, sizes."""

from __future__ import annotations

import re
import time
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import click

from simhash_gate.common.times import seconds_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simhash_gate.settings import Settings

setting = click.option(
    "-s",
    "--set",
    "assignments",
    metavar="NAME=VALUE",
    multiple=True,
    help="A SIMHASH_GATE_* setting, as in Scrapy. Repeat the option for more settings.",
)
progress = click.option(
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


def settings_of(assignments: Sequence[str]) -> Settings:
    """Return the settings that `-s` gave. Raises SettingsError that names the wrong one."""
    from simhash_gate.settings import read_settings
    from simhash_gate.values import PREFIX

    given = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name.startswith(PREFIX):
            raise click.UsageError(f"-s {assignment}: expected {PREFIX}NAME=VALUE")
        given[name] = value
    return read_settings(given)


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
