"""The `simhash-gate` command: the gate over files, without a crawl.

What a command needs is imported when it runs, so that `--help` answers at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from simhash_gate.cli.pages import compare, fingerprint, replay
from simhash_gate.cli.store import store
from simhash_gate.cli.tune import idf, tune

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130  # what a shell reports of a process that Ctrl-C ended: 128 + 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="simhash-gate")
def cli() -> None:
    """Fingerprint pages, replay a crawl, compare pages, look into a store, tune the threshold.

    Exit status: 0, or 1 if an input could not be used, 2 for a wrong command line or setting.
    """


for command in (fingerprint, replay, compare, store, tune, idf):
    cli.add_command(command)


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
