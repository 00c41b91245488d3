"""What several commands take: settings, a progress bar, a span of time, a size."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

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


class Age(click.ParamType):  # type: ignore[type-arg]  # no generic before click 8.4
    """A time span such as 7d, in seconds."""

    name = "age"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Return the seconds; fail with what is allowed."""
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", str(value))
        if not found:
            self.fail(f"{value!r}: expected a number and s, m, h or d, such as 7d", param, ctx)
        return float(found[1]) * {"s": 1, "m": 60, "h": 3_600, "d": 86_400}[found[2]]


class Size(click.ParamType):  # type: ignore[type-arg]  # no generic before click 8.4
    """A size such as 500M or 4G, in bytes."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """Return the bytes; fail with what is allowed."""
        found = re.fullmatch(r"([1-9]\d*)([KMGT])", str(value))
        if not found:
            self.fail(f"{value!r}: expected a number and K, M, G or T, such as 4G", param, ctx)
        return int(found[1]) << 10 * (1 + "KMGT".index(found[2]))


def check_output(path: str) -> None:
    """Raise click.ClickException, before hours of reading, where `-o` names no place to write."""
    from simhash_gate.common.complaints import why
    from simhash_gate.common.files import check_writable

    try:
        check_writable(path)
    except OSError as error:
        raise click.ClickException(f"{path}: {why(error)}") from None


def settings_of(assignments: Sequence[str]) -> Settings:
    """Return the settings that `-s` gave. Raises click.UsageError that names the wrong one."""
    from simhash_gate.settings import read_settings
    from simhash_gate.values import PREFIX, SettingsError

    given = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name.startswith(PREFIX):
            raise click.UsageError(f"-s {assignment}: expected {PREFIX}NAME=VALUE")
        given[name] = value
    try:
        return read_settings(given)
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
