"""`simhash-gate tune` and `idf`: settings that fit the pages of one's own crawl."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from simhash_gate.cli.options import check_output, progress, setting, settings_of

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.command(
    short_help="Suggest a threshold for each domain.",
    epilog="Example: simhash-gate tune pages.jsonl --pairs labels.jsonl --label",
)
@click.argument("source")
@click.option(
    "--pairs",
    "labels_file",
    metavar="FILE",
    help="Choose the threshold by the labelled pairs in FILE. It is JSON Lines: "
    '{"a": URL, "b": URL, "duplicate": true}.',
)
@click.option(
    "--label",
    is_flag=True,
    help="Ask about pairs on the terminal, and add each answer to the file of --pairs.",
)
@click.option(
    "--questions",
    type=click.IntRange(min=1),
    default=40,
    show_default=True,
    metavar="N",
    help="How many pairs --label asks about.",
)
@click.option("--scope", metavar="NAME", help="Only pages of this scope.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, not text.")
@setting
@progress
def tune(
    source: str,
    labels_file: str | None,
    label: bool,
    questions: int,
    scope: str | None,
    as_json: bool,
    assignments: tuple[str, ...],
    progress: bool | None,
) -> int:
    """Show how far apart the pages of SOURCE are, and suggest a threshold for each scope.

    SOURCE is anything that `pairs` reads, such as a folder, a store, or the verdict log of a crawl.
    """
    from simhash_gate.common.wording import how_many
    from simhash_gate.offline.console import Console
    from simhash_gate.sources.open import shown
    from simhash_gate.tuning.labels import read_labels
    from simhash_gate.tuning.text import as_text
    from simhash_gate.tuning.tune import collect, unknown
    from simhash_gate.tuning.tune import tune as tune_all

    settings, console = settings_of(assignments), Console()
    if label:
        _require_terminal(labels_file)
    labels = read_labels(labels_file, console.complain, missing_ok=label) if labels_file else []
    if labels_file and not (labels or label):
        console.complain_of_nothing(labels_file, "no labelled pair in it")
    complaints = console.complaints
    with _errors():
        found = collect(
            source,
            settings,
            console.complain,
            only=scope,
            watched=lambda pages: console.watched(pages, None, progress),
        )
        if found.repeated:
            console.say(
                f"{how_many(found.repeated, 'page')} came again under the same URL: left out"
            )
        if not found.scopes:
            where = f" in scope {scope!r}" if scope else ""
            console.complain_of_nothing(
                shown(source), f"no page with a fingerprint{where}", since=complaints
            )
            return console.status()
        if label and labels_file:
            from simhash_gate.tuning.dialogue import ask

            labels = ask(source, found.scopes, settings, labels, labels_file, questions)
        missing = unknown(labels, found.scopes)
        if missing:
            console.complain(
                str(labels_file), f"pairs that are not two pages of {shown(source)}: {missing}"
            )
        tuning = tune_all(source, found.scopes, settings, labels)
    if as_json:
        console.write(tuning.as_json())
    else:
        console.show(as_text(tuning))
    return console.status()


def _require_terminal(labels_file: str | None) -> None:
    import sys

    if not labels_file:
        raise click.UsageError("--label needs --pairs FILE. The answers are kept there.")
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError("--label asks on a terminal, but stdin or stderr is not a terminal.")


@contextmanager
def _errors() -> Iterator[None]:
    from simhash_gate.common.complaints import MissingExtraError
    from simhash_gate.stores import StoreError

    try:
        yield
    except (MissingExtraError, StoreError, OSError) as error:
        raise click.ClickException(str(error)) from None


@click.command(
    short_help="Make a table of word weights.",
    epilog="Example: simhash-gate idf crawl/ -o idf.json",
)
@click.argument("source")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to FILE, not to stdout. FILE is replaced only when all is written.",
)
@click.option("--shingles", is_flag=True, help="Weigh shingles instead of words.")
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=100_000,
    show_default=True,
    metavar="N",
    help="Keep only the N most frequent words.",
)
@click.option(
    "--min-pages",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    metavar="N",
    help="Keep only words that are on at least N pages.",
)
@setting
@progress
def idf(
    source: str,
    output: str | None,
    shingles: bool,
    most: int,
    min_pages: int,
    assignments: tuple[str, ...],
    progress: bool | None,
) -> int:
    """Make a table of weights for SIMHASH_GATE_IDF. A rare word weighs more than a common one.

    SOURCE is anything with pages that `pairs` reads. Fingerprints and stores have no words.
    """
    from simhash_gate.common.complaints import why
    from simhash_gate.common.files import whole_file
    from simhash_gate.common.wording import how_many
    from simhash_gate.offline.console import Console
    from simhash_gate.offline.idf import as_json, count
    from simhash_gate.sources.open import names_store, open_pages, shown

    if names_store(source):
        raise click.UsageError(f"{shown(source)}: a store has no words; give what was crawled.")
    settings, console = settings_of(assignments), Console()
    if settings.options.idf:
        raise click.UsageError(
            "This command makes a table for SIMHASH_GATE_IDF. Do not set it here."
        )
    if output:
        check_output(output)
    with _errors():
        pages = open_pages(source, console.complain, settings.max_bytes)
        watched = console.watched(pages.entries, pages.total(), progress)
        found = count(watched, settings, console.complain, shingles=shingles)
        if not found.pages:
            console.complain_of_nothing(source, "no page with words")
            return console.status()
        weights = found.weights(most, min_pages)
        if not weights:
            seen = how_many(found.pages, "page")
            console.complain(source, f"{seen}, and no word is in {min_pages} of them")
            return console.status()
        if output:
            try:
                with whole_file(output, private=False) as file:
                    file.write(as_json(weights).encode())
            except OSError as error:
                raise click.ClickException(f"{output}: {why(error)}") from None
        else:
            console.write_raw(as_json(weights).encode())
    weighed = how_many(len(weights), "shingle" if shingles else "word")
    console.say(f"{weighed} of {how_many(found.pages, 'page')}")
    if found.error:
        console.say(
            f"counts are up to {how_many(found.error, 'page')} too high: the rarest were forgotten"
        )
    return console.status()
