"""`simhash-gate report`: a page to look at."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from simhash_gate.cli.options import check_output, progress, setting, settings_of


@click.command(
    short_help="Make an HTML report of verdicts.",
    epilog="Example: simhash-gate report verdicts.jsonl -o report.html",
)
@click.argument("source", required=False)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to FILE, not to stdout. FILE is replaced only when all is written.",
)
@setting
@progress
def report(
    source: str | None, output: str | None, assignments: tuple[str, ...], progress: bool | None
) -> int:
    """Make one HTML file of the verdicts in SOURCE. Open it in a browser.

    SOURCE is a verdict log, the URL of a store, or anything that `replay` reads. A verdict log is
    the file that SIMHASH_GATE_VERDICTS names, or the output of `replay`; - is stdin. Without
    SOURCE, the newest log in .scrapy/simhash_gate is read.
    """
    from simhash_gate.common.complaints import MissingExtraError, why
    from simhash_gate.offline.console import Console
    from simhash_gate.offline.report import NoVerdictsError, last_log, summarise, verdicts
    from simhash_gate.report.page import check_installed, render, write
    from simhash_gate.sources.open import shown
    from simhash_gate.stores import StoreError
    from simhash_gate.values import SettingsError

    if output is None and sys.stdout.isatty():
        raise click.UsageError(
            "A report is not shown on a terminal. Write it to a file: -o report.html"
        )
    settings, console = settings_of(assignments), Console()
    if output and Path(output).parent.exists():  # else it is made, once there is a report
        check_output(output)
    try:
        check_installed()
        source = source or last_log()
        lines, total = verdicts(source, settings, console.complain)
        summary = summarise(console.watched(lines, total(), progress), console.complain)
        if not summary.seen:
            console.complain_of_nothing(shown(source), "no verdict in it")
            return console.status()
        page = render(summary, name=shown(source))
        if output is None:
            console.write_raw(page)
        else:
            write(page, output)
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    except (MissingExtraError, NoVerdictsError, StoreError) as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{output or shown(str(source))}: {why(error)}") from None
    console.say(f"verdicts in the report: {summary.seen}")
    return console.status()
