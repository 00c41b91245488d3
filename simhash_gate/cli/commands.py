"""The arguments of all commands but `store`; each hands them to the module of its name."""

from __future__ import annotations

from typing import Any

import click

from simhash_gate.cli.options import (
    as_json,
    cache,
    distances,
    moment,
    no_cache,
    output,
    progress,
    scope,
    setting,
    settings_of,
)
from simhash_gate.offline.console import Console


@click.command(
    short_help="Print the fingerprint of each page.",
    epilog="Example: simhash-gate fingerprint crawl/ --text",
)
@click.argument("sources", nargs=-1, metavar="SOURCE...")
@click.option(
    "--input",
    "manifest",
    metavar="FILE",
    help='Instead of SOURCEs, read the pages of a manifest. It is JSON Lines: {"path": …}, and '
    'optionally "url", "id", "encoding". Paths are relative to the folder of FILE.',
)
@click.option("--text", is_flag=True, help="Also print the text of each page, without Markdown.")
@setting
@progress
def fingerprint(assignments: tuple[str, ...], progress: bool | None, **chosen: Any) -> int:
    """Print one line of JSON for each page, in order.

    SOURCE is anything with pages that `pairs` reads.
    """
    from simhash_gate.offline.fingerprint import run

    return run(settings_of(assignments), Console(progress), **chosen)


@click.command(
    short_help="Judge stored pages as a crawl would.",
    epilog="Example: simhash-gate replay pages.jsonl -s SIMHASH_GATE_THRESHOLD=5",
)
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@setting
@progress
def replay(assignments: tuple[str, ...], progress: bool | None, **chosen: Any) -> int:
    """Judge the pages of all SOURCEs in order, as a crawl would. Print one line of JSON for each.

    SOURCE is anything with pages that `pairs` reads.

    Pages are remembered in memory. To remember them in a store, set SIMHASH_GATE_STORE.
    """
    from simhash_gate.offline.replay import run

    return run(settings_of(assignments), Console(progress), **chosen)


@click.command(
    short_help="Make an HTML report of verdicts.",
    epilog="Example: simhash-gate report verdicts.jsonl -o report.html",
)
@click.argument("sources", nargs=-1, metavar="[SOURCE...]")
@output
@click.option(
    "--journal",
    metavar="PATH",
    help="The journal of the crawl, for the texts of dropped pages: the folder that "
    "SIMHASH_GATE_JOURNAL names. A log that names it needs no --journal in the folder of the "
    "crawl.",
)
@click.option(
    "--pages",
    metavar="SOURCE",
    multiple=True,
    help="Where the pages of a verdict log are, such as .scrapy/httpcache/news, for the texts of "
    "kept and dropped pages. Anything that `replay` reads. Repeat the option for more sources.",
)
@setting
@progress
def report(assignments: tuple[str, ...], progress: bool | None, **chosen: Any) -> int:
    """Make one HTML file of the verdicts in all SOURCEs. Open it in a browser.

    SOURCE is a verdict log, a folder of them, the URL of a store, or anything that `replay` reads.
    A verdict log is the file that SIMHASH_GATE_VERDICTS names, or the output of `replay`; it may be
    packed by gzip; - is stdin. Logs of several crawlers give a section for each, and what they did
    together. Without SOURCE, the newest log in .scrapy/simhash_gate is read.
    """
    from simhash_gate.offline.report import run

    return run(settings_of(assignments), Console(progress), **chosen)


@click.command(
    short_help="Show how near two pages are, and what differs.",
    epilog="Example: simhash-gate compare a.html b.html --url-b https://example.com/b",
)
@click.argument("a")
@click.argument("b")
@click.option("--url-a", metavar="URL", default="", help="The URL of A.")
@click.option(
    "--url-b", metavar="URL", default="", help="The URL of B. Its domain decides the policy."
)
@click.option("--markdown", is_flag=True, help="Also show the Markdown of each page.")
@as_json
@setting
def compare(assignments: tuple[str, ...], **chosen: Any) -> int:
    """Show how near two HTML files are, and what differs.

    The verdict is the one that the gate reaches on B after A.
    """
    from simhash_gate.offline.compare import run

    return run(settings_of(assignments), Console(), **chosen)


@click.command(
    short_help="Find all pairs of near-duplicate pages.",
    epilog="Example: simhash-gate pairs crawl/ more.jsonl -k 5 -o pairs.csv",
)
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "-k",
    "--distance",
    type=click.IntRange(0, 8),
    metavar="K",
    default=3,
    show_default=True,
    help="The greatest distance of two pages of a pair, in bits.",
)
@click.option("--across", is_flag=True, help="Also compare pages of different domains.")
@click.option(
    "--clusters",
    is_flag=True,
    help="Instead of all pairs, print each copy with the page that a crawl would keep.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "csv", "parquet"]),
    help="The format of the output. By default, the name of FILE tells it; without FILE it is "
    "jsonl.",
)
@output
@cache
@no_cache
@setting
@progress
def pairs(assignments: tuple[str, ...], progress: bool | None, **chosen: Any) -> int:
    """Print all pairs of near-duplicate pages. All SOURCEs together are one collection.

    SOURCE is a file of HTML, text, Markdown, JSON Lines, WARC, WACZ or Parquet, a folder of them, a
    folder of Scrapy's HttpCache, a list of fingerprints, or the URL of a store.
    """
    from simhash_gate.offline.pairs import run

    return run(settings_of(assignments), Console(progress), **chosen)


@click.command(
    short_help="Find the pages that are like one page.",
    epilog="Example: simhash-gate similar crawl/ https://example.com/story -k 8",
)
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.argument("page")
@click.option(
    "-k",
    "--distance",
    type=click.IntRange(0, 64),
    metavar="K",
    default=3,
    show_default=True,
    help="The greatest distance to PAGE, in bits.",
)
@cache
@no_cache
@setting
@progress
def similar(assignments: tuple[str, ...], progress: bool | None, **chosen: Any) -> int:
    """Print the pages of all SOURCEs that are like PAGE, the nearest first. Domains do not matter.

    SOURCE is anything that `pairs` reads. PAGE is a URL or a path as SOURCE has it, another HTML or
    text file, or a fingerprint of 16 hex digits.
    """
    from simhash_gate.offline.pairs import run_similar

    return run_similar(settings_of(assignments), Console(progress), **chosen)


@click.command(
    short_help="Suggest a threshold for each domain.",
    epilog="Example: simhash-gate tune pages.jsonl --pairs labels.jsonl",
)
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "--pairs",
    "labels_file",
    metavar="FILE",
    help="Choose the threshold by the labelled pairs in FILE. It is JSON Lines: "
    '{"a": URL, "b": URL, "duplicate": true}.',
)
@scope
@as_json
@setting
@progress
def tune(assignments: tuple[str, ...], progress: bool | None, **chosen: Any) -> int:
    """Show how far apart the pages of all SOURCEs are, and suggest a threshold for each scope.

    SOURCE is anything that `pairs` reads, such as a folder, a store, or the verdict log of a crawl.
    """
    from simhash_gate.tuning.tune import run

    return run(settings_of(assignments), Console(progress), **chosen)


@click.command(
    short_help="Make a table of word weights.",
    epilog="Example: simhash-gate idf crawl/ -o idf.json",
)
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@output
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
def idf(assignments: tuple[str, ...], progress: bool | None, **chosen: Any) -> int:
    """Make a table of weights for SIMHASH_GATE_IDF. A rare word weighs more than a common one.

    SOURCE is anything with pages that `pairs` reads. Fingerprints and stores have no words.
    """
    from simhash_gate.tuning.idf import run

    return run(settings_of(assignments), Console(progress), **chosen)


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
    type=moment,
    metavar="TIME",
    help="Only pages dropped at TIME or later: 2024-06-01T12:00 (UTC), or an age such as 7d.",
)
@click.option("--until", type=moment, metavar="TIME", help="Only pages dropped at TIME or earlier.")
@click.option(
    "--distance",
    "distances",
    type=distances,
    metavar="BITS",
    default="0..64",
    help="Only pages at this distance from the kept page: 4, 4..12, 4.. or ..12.",
)
@click.option(
    "-o", "--output", metavar="FILE", help="Write the pages to a new WARC file. Print no lines."
)
@progress
def recover(progress: bool | None, **chosen: Any) -> int:
    """Print one line of JSON for each dropped page in the journal at PATH.

    PATH is the folder that SIMHASH_GATE_JOURNAL names, one of its files, or a file that -o wrote. A
    page must match all of the options.

    This command sends the pages to the callbacks of their spider: scrapy crawl SPIDER -s
    SIMHASH_GATE_RECOVER=PATH
    """
    from simhash_gate.offline.recover import run

    return run(Console(progress), **chosen)


@click.command(
    short_help="Write a corpus without near-duplicates.",
    epilog="Example: simhash-gate dedupe crawl/ more.warc.gz -o corpus.jsonl",
)
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
@click.option(
    "--without",
    type=click.Choice(["links", "images"]),
    multiple=True,
    help="Leave links or images out of the Markdown; the text of links stays. Can be repeated.",
)
@click.option(
    "-k",
    "--distance",
    type=click.IntRange(0, 8),
    metavar="N",
    help="The threshold: the greatest distance of a copy, in bits. The default is 3.",
)
@click.option(
    "--verify/--no-verify",
    default=None,
    help="Call a page a copy only if its names, its offer and its words agree too, as "
    "SIMHASH_GATE_VERIFY=1 does. That is the default.",
)
@click.option(
    "--scope",
    type=click.Choice(["domain", "host", "crawl"]),
    help="Compare pages of the same domain, of the same host, or all pages. The default is domain.",
)
@setting
@progress
def dedupe(
    assignments: tuple[str, ...],
    progress: bool | None,
    distance: int | None,
    verify: bool | None,
    scope: str | None,
    **chosen: Any,
) -> int:
    """Read the pages of all SOURCEs, in order, and write those that are no near-duplicates.

    SOURCE is anything with pages that `pairs` reads. A page is judged as a crawl judges it, and
    compared with all kept pages of its domain.

    The command can be interrupted. The same command then goes on where it ended.
    """
    from simhash_gate.offline.dedupe import ALL_PAGES, run

    # A crawl compares with recent pages only.
    given = [f"SIMHASH_GATE_WINDOW={ALL_PAGES}", *assignments]
    named = {"THRESHOLD": distance, "VERIFY": verify, "SCOPE": scope}
    given += [f"SIMHASH_GATE_{key}={value}" for key, value in named.items() if value is not None]
    return run(settings_of(given), Console(progress), **chosen)


ALL = (compare, dedupe, fingerprint, idf, pairs, recover, replay, report, similar, tune)
