"""`simhash-gate dedupe`: a clean corpus, the pages of sources without their near-duplicates."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import islice, permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from simhash_gate.cli.console import (
    Console,
    check_place,
    disk,
    own_folder,
    setting,
    settings_of,
    with_console,
)
from simhash_gate.collection.table import Row, format_of, write_rows
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.gate.verdict import OUTCOMES, line_of
from simhash_gate.identity.keys import precise
from simhash_gate.offline import corpus
from simhash_gate.offline.replay import ALL_PAGES, CorpusJudge, open_gate
from simhash_gate.offline.work_file import KeptVerdict, NumberedEntry, WorkFile, read_whole
from simhash_gate.options import pipeline_version
from simhash_gate.report.html import check_installed, render
from simhash_gate.report.summary import Summary
from simhash_gate.settings import Settings
from simhash_gate.sources import STDIN, Entry, Source
from simhash_gate.sources.open import open_pages, shown
from simhash_gate.sources.parquet import load
from simhash_gate.sources.read_pages import extract_pages

OTHERS = ("id", "url", "kept", "matched_url", "outcome", "distance", "reason")
_TOGETHER = 500  # verdicts that are written at once


@click.command(epilog="Example: simhash-gate dedupe crawl/ more.warc.gz -o corpus.jsonl")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    required=True,
    help="The corpus. It is a new folder of Markdown files, or a file that ends in .jsonl or "
    ".parquet.",
)
@click.option(
    "--duplicates",
    metavar="FILE",
    help="Write a line for each page that is not in the corpus, with the reason. FILE ends in "
    ".jsonl, .csv or .parquet.",
)
@click.option("--report", metavar="FILE", help="Also write an HTML report of all verdicts.")
@click.option(
    "--keep",
    type=click.Choice(["first", "longest", "newest"]),
    default="first",
    show_default=True,
    help="Which of several copies is kept. The newest is the one that was captured last. If the "
    "source does not tell the time, the date on the page counts.",
)
@setting
@with_console
def dedupe(
    assignments: tuple[str, ...],
    console: Console,
    sources: Sequence[str],
    output: str,
    duplicates: str | None,
    report: str | None,
    keep: str,
) -> int:
    """Read the pages of all SOURCEs, in order, and write those that are no near-duplicates.

    SOURCE is anything with pages that `pairs` reads. A page is judged as a crawl judges it, and
    compared with all kept pages, whatever their domains; -s changes that.

    The command can be interrupted. The same command then goes on where it ended.
    """
    # A crawl compares with recent pages of a domain only.
    own = [f"SIMHASH_GATE_WINDOW={ALL_PAGES}", "SIMHASH_GATE_SCOPE=crawl"]
    settings = settings_of([*own, *assignments])
    outputs = [it for it in (output, duplicates, report) if it]
    _check(outputs, sources)
    if report:
        check_installed()
    with disk(output), _work_folder(output, console) as folder:
        file = WorkFile(folder / "pages.sqlite", settings)
        with closing(file) as work:
            own, most = [*outputs, str(folder)], settings.max_bytes
            pages = open_pages(sources, console.complain, most, console.say, own)
            _read(work, pages, settings, console)
            if not work.count:
                console.complain_of_nothing(shown(*sources), "no page in it")
                return console.status()
            outcomes, kept, scopes = _judge(work, folder, settings, console, keep, len(sources))
            if duplicates:
                _write_others(work, duplicates, console)
            if report:
                with console.sink(report, private=True) as written:
                    written.write(_report(work, shown(*sources), settings))
            _write_corpus(work, output, folder / "corpus", settings, console)
    no_pages = [it for it, means in OUTCOMES.items() if not means.page and outcomes[it]]
    console.say(
        f"pages: {outcomes.total()}, scopes: {scopes} (SIMHASH_GATE_SCOPE = {settings.scope!r}), "
        f"kept: {kept}, copies: {outcomes['duplicate']}, "
        f"skipped: {outcomes['skipped']}, not read: {outcomes['error']}"
        + "".join(f", {outcome}: {outcomes[outcome]}" for outcome in no_pages)
    )
    return console.status()


def _check(outputs: Sequence[str], sources: Sequence[str]) -> None:
    """Raise what is wrong with the names of the files before hours of reading."""
    form, target = corpus.form_of(outputs[0]), Path(outputs[0])
    for one, other in permutations(outputs, 2):
        place = Path(other).resolve()
        if Path(one).resolve() in (place, *place.parents):
            raise click.UsageError(f"{other} is, or is in, another output. Name another file")
    if form == "folder" and target.exists() and not corpus.is_empty_folder(target):
        raise click.UsageError(f"-o {target}: it is there already. Name a new folder.")
    if "parquet" in map(format_of, outputs):
        load()
    for path in outputs[form == "folder" :]:
        check_place(path, sources)


@contextmanager
def _work_folder(output: str, console: Console) -> Iterator[Path]:
    """Make the folder of what has been done so far; it goes when all has been done."""
    if output == STDIN:  # nobody knows which command would go on
        with TemporaryDirectory() as temporary:
            yield Path(temporary)
        return
    with own_folder(output, "work") as folder:
        # Its folder may be in a source: half a corpus must not be read as pages.
        shutil.rmtree(folder / "corpus", ignore_errors=True)
        try:
            yield folder
        except BaseException as error:
            console.say(f"What was read is in {folder}. The same command goes on from there.")
            if isinstance(error, sqlite3.Error):
                raise OSError(f"the working file failed: {error}") from error
            raise
    shutil.rmtree(folder, ignore_errors=True)


def _read(work: WorkFile, pages: Source, settings: Settings, console: Console) -> None:
    if work.known:
        console.say(f"pages that were read before: {work.known}")
    unread: deque[tuple[int, bytes]] = deque()
    count = 0

    def without_known(entries: Iterable[Entry]) -> Iterator[Entry]:
        nonlocal count
        for entry in entries:
            key = work.key_of(entry)
            if not work.has(count, key):
                unread.append((count, key))
                yield entry
            count += 1

    entries = without_known(console.bar(pages.entries, pages.total, "pages read"))
    for entry, read in extract_pages(entries, settings, read_whole):
        scope = settings.policies.site_of(entry.url).scope if entry.scope is None else entry.scope
        work.keep(*unread.popleft(), entry, scope, read)
    work.finish(count)


def _judge(
    work: WorkFile, folder: Path, settings: Settings, console: Console, keep: str, sources: int
) -> tuple[Counter[str], int, int]:
    """Judge all pages as a crawl would that meets them in this order.

    Return how many have each outcome, how many are kept, and how many scopes they have.
    """
    for file in folder.glob("kept.sqlite*"):
        file.unlink()
    outcomes: Counter[str] = Counter()
    kept = 0
    with open_gate(replace(settings, store=f"sqlite:///{folder / 'kept.sqlite'}")) as gate:
        judge = CorpusJudge(gate, settings, converts=sources == 1)
        pages = iter(console.bar(work.pages(keep), lambda: work.count, "pages judged"))
        while some := list(islice(pages, _TOGETHER)):
            with work.together():
                with gate.store.batch():
                    verdicts = [_verdict(judge, each, console) for each in some]
                work.judged(verdicts)
            outcomes.update(found.line["outcome"] for found in verdicts)
            kept += sum(found.kept for found in verdicts)
    return outcomes, kept, judge.scopes


def _verdict(judge: CorpusJudge, each: NumberedEntry, console: Console) -> KeptVerdict:
    number, entry, size, page = each
    verdict, kept, original = judge.judge(entry, page, number)
    if verdict.outcome == "error":
        console.complain(entry.place, verdict.reason)
    line = line_of(verdict, url=entry.name, id=name_of(entry), dropped=not kept, size=size)
    return KeptVerdict(number, kept, original, line)


def name_of(entry: Entry) -> str | int:
    """Return the id of a page: that of its source, else its path, or whatever names it alone."""
    if entry.id is None:
        return entry.own_name
    return entry.id if isinstance(entry.id, str | int) else json.dumps(entry.id)


def _write_others(work: WorkFile, path: str, console: Console) -> None:
    form = format_of(path)

    def named(entry: Entry) -> str | int:  # a column of Parquet has one type
        return str(name_of(entry)) if form == "parquet" else name_of(entry)

    def rows() -> Iterator[Row]:
        for entry, kept, original, line in work.verdicts():
            if not kept:
                match = (None, None) if original is None else (named(original), original.name)
                yield named(entry), entry.url, *match, *(line[it] for it in OTHERS[4:])

    with console.sink(path) as file:
        write_rows(rows(), OTHERS, form, file)


def _report(work: WorkFile, name: str, settings: Settings) -> bytes:
    summary = Summary()
    head = settings.crawl_line("dedupe", name)
    if settings.policies.default.window == ALL_PAGES:
        del head["crawl"]["settings"]["SIMHASH_GATE_WINDOW"]  # nobody has chosen it
    summary.add_line(head)
    for _, _, original, line in work.verdicts():
        if original is not None:
            line |= {"matched_url": original.name, "matched_id": name_of(original)}
        summary.add_line(line)
    return render(summary, name=name, texts=work.texts_of)


def _write_corpus(
    work: WorkFile, output: str, part: Path, settings: Settings, console: Console
) -> None:
    pipeline = pipeline_version(settings.options)

    def pages() -> Iterator[dict[str, Any]]:
        for entry, page, markdown in console.bar(work.kept(), unit="pages written"):
            bits = "" if page.fingerprint is None else to_hex(page.fingerprint)
            key = precise(entry.url) if entry.url else ""
            said = (getattr(page, name) for name in corpus.OF_ITSELF)
            found = (name_of(entry), entry.url, key, *said, bits, pipeline, markdown)
            # What the source says of a text is what the corpus says, too.
            said_before = entry.fields.items()
            given = {n: v for n, v in said_before if v is not None or n not in corpus.COLUMNS}
            own = {"url": entry.url} | ({"markdown": markdown} if settings.options.without else {})
            yield dict(zip(corpus.COLUMNS, found, strict=True)) | given | own

    form = corpus.form_of(output)
    if form != "folder":
        entries = work.verdicts() if form == "parquet" else ()
        more = {name for entry, *_ in entries for name in entry.fields} - {*corpus.COLUMNS}
        with console.sink(output) as file:
            corpus.write_file(pages(), file, form, sorted(more))
        return
    corpus.write_folder(pages(), part)
    if corpus.is_empty_folder(Path(output)):
        Path(output).rmdir()
    part.rename(output)
