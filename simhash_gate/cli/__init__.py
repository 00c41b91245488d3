"""The `simhash-gate` command: the gate over files, without a crawl.

What a command needs is imported when it runs, so that `--help` answers at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import click

from simhash_gate.cli.collection import pairs, similar
from simhash_gate.cli.pages import compare, fingerprint, replay
from simhash_gate.cli.recover import recover
from simhash_gate.cli.report import report
from simhash_gate.cli.store import store
from simhash_gate.cli.tune import idf, tune

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


def _named(_context: click.Context, _argument: click.Parameter, value: T) -> T:
    """Refuse an argument of no letters: as a path it would be the working directory."""
    if "" in (value if isinstance(value, tuple) else (value,)):
        raise click.BadParameter("the argument is empty. Is a variable not set?")
    return value


for command in (compare, fingerprint, idf, pairs, recover, replay, report, similar, store, tune):
    cli.add_command(command)
    for each in (command, *getattr(command, "commands", {}).values()):
        for parameter in each.params:
            if isinstance(parameter, click.Argument):
                parameter.callback = _named


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    try:
        status = cli.main(arguments, prog_name="simhash-gate", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    return status or 0
