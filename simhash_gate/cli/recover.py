"""`simhash-gate recover`: the dropped pages of a journal."""

from __future__ import annotations

import re
import time
from collections import Counter
from datetime import datetime, timezone
from typing import Any

import click

from simhash_gate.cli.options import Age, progress


class Moment(click.ParamType):  # type: ignore[type-arg]  # no generic before click 8.4
    """A time such as 2024-06-01T12:00, in UTC unless it says otherwise, or an age such as 7d."""

    name = "time"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Return the Unix time; fail with what is allowed."""
        if isinstance(value, float):  # a default
            return value
        try:
            return time.time() - Age().convert(value, param, ctx)
        except click.UsageError:
            pass
        try:
            # Python 3.10 does not know Z.
            moment = datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", str(value)))
        except ValueError:
            self.fail(f"{value!r}: expected a time such as 2024-06-01T12:00, or 7d", param, ctx)
        return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()


class Distances(click.ParamType):  # type: ignore[type-arg]  # no generic before click 8.4
    """A distance in bits, or a range of them such as 4..12, where either end may be left out."""

    name = "distances"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        """Return the least and the greatest distance; fail with what is allowed."""
        found = re.fullmatch(r"(\d*)(\.\.)?(\d*)", str(value))
        if not found or not (found[1] or found[3]):
            self.fail(f"{value!r}: expected a number of bits, or a range such as 4..12", param, ctx)
        low = int(found[1] or 0)
        high = int(found[3] or 64) if found[2] else low
        if low > high:
            self.fail(f"{value!r}: its ends are the wrong way round", param, ctx)
        return low, high


@click.command(
    short_help="List the pages that a crawl dropped.",
    epilog="Example: simhash-gate recover dropped --distance 3.. --since 7d",
)
@click.argument("path")
@click.option(
    "--domain", metavar="NAME", default="", help="Only pages of this domain and its subdomains."
)
@click.option(
    "--matched",
    "matched_url",
    metavar="URL",
    default="",
    help="Only pages that were dropped as copies of the page at URL.",
)
@click.option("--spider", metavar="NAME", default="", help="Only pages that this spider dropped.")
@click.option(
    "--since",
    type=Moment(),
    metavar="TIME",
    default=float("-inf"),
    help="Only pages dropped at TIME or later: 2024-06-01T12:00 (UTC), or an age such as 7d.",
)
@click.option(
    "--until",
    type=Moment(),
    metavar="TIME",
    default=float("inf"),
    help="Only pages dropped at TIME or earlier.",
)
@click.option(
    "--distance",
    "distances",
    type=Distances(),
    metavar="BITS",
    default="0..64",
    help="Only pages at this distance from the kept page: 4, 4..12, 4.. or ..12.",
)
@click.option(
    "-o", "--output", metavar="FILE", help="Write the pages to a new WARC file. Print no lines."
)
@progress
def recover(path: str, output: str | None, progress: bool | None, **wanted: Any) -> int:
    """Print one line of JSON for each dropped page in the journal at PATH.

    PATH is the folder that SIMHASH_GATE_JOURNAL names, one of its files, or a file that -o wrote. A
    page must match all of the options.

    This command sends the pages to the callbacks of their spider: scrapy crawl SPIDER -s
    SIMHASH_GATE_RECOVER=PATH
    """
    from simhash_gate.common.complaints import MissingExtraError, why
    from simhash_gate.journal.contents import Selection, copy, counted, line, selected
    from simhash_gate.offline.console import Console

    console, versions = Console(), Counter[str]()
    try:
        pages = counted(selected(path, Selection(**wanted), console.complain), versions)
        if output is None:
            console.write_lines((line(found) for found in pages), lambda: None, progress)
        else:
            copy(console.watched(pages, None, progress), output)
    except MissingExtraError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        console.complain(output or path, why(error))
    if len(versions) > 1:
        names = ", ".join(sorted(versions))
        console.say(f"distances of several pipeline versions don't compare: {names}")
    console.say(f"pages: {versions.total()}")
    return console.status()
