"""The `simhash-gate` command: its arguments. What each command does is in `offline` and `tuning`.

What a command needs is imported when it runs, so that `--help` answers at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import click

from simhash_gate.cli import commands
from simhash_gate.cli.history import history
from simhash_gate.cli.store import store
from simhash_gate.cli.urls import urls

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

INTERRUPTED = 130  # what a shell reports of a process that Ctrl-C ended: 128 + 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="simhash-gate")
def cli() -> None:
    """Work with pages on disk and with stores, without a crawl.

    Results go to stdout, one JSON object per line. Messages go to stderr.

    Exit status: 0 if all input was used. 1 if some input could not be used. 2 if the command line
    or a setting is wrong.
    """


def _not_empty(_context: click.Context, _argument: click.Parameter, value: T) -> T:
    """Refuse an empty argument: as a path it would be the working directory."""
    if "" in (value if isinstance(value, tuple) else (value,)):
        raise click.BadParameter("the argument is empty. Is a variable not set?")
    return value


for command in (*commands.ALL, history, store, urls):
    cli.add_command(command)
    for each in (command, *getattr(command, "commands", {}).values()):
        for parameter in each.params:
            if isinstance(parameter, click.Argument):
                parameter.callback = _not_empty


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    try:
        status = cli.main(arguments, prog_name="simhash-gate", standalone_mode=False)
    except click.Abort:
        return INTERRUPTED
    except Exception as error:
        shown = _for_the_user(error)
        if shown is None:
            raise
        shown.show()
        return shown.exit_code
    return status or 0


def _for_the_user(error: Exception) -> click.ClickException | None:
    """Return an error as a message with its exit status; None for a defect of the program."""
    if isinstance(error, click.ClickException):
        return error
    from simhash_gate.collection.listing import TooManyError
    from simhash_gate.common.wording import MissingExtraError
    from simhash_gate.stores import StoreError
    from simhash_gate.values import SettingsError

    if isinstance(error, SettingsError):
        return click.UsageError(str(error))
    if isinstance(error, MissingExtraError | StoreError | TooManyError | OSError):
        return click.ClickException(str(error))
    return None
