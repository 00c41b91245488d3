"""`simhash-gate fingerprint`, `replay` and `compare`: pages on disk, as the gate sees them."""

from __future__ import annotations

import click

from simhash_gate.cli.options import progress, setting, settings_of


@click.command(
    short_help="Print the fingerprint of each HTML file.",
    epilog="Example: simhash-gate fingerprint crawl/ --text",
)
@click.argument("paths", nargs=-1)
@click.option(
    "--input",
    "manifest",
    metavar="FILE",
    help='Instead of PATHS, read the pages of a manifest. It is JSON Lines: {"path": …}, and '
    'optionally "url", "id", "encoding". Paths are relative to the folder of FILE.',
)
@click.option("--text", is_flag=True, help="Also print the text of each page, without Markdown.")
@setting
@progress
def fingerprint(
    paths: tuple[str, ...],
    manifest: str | None,
    text: bool,
    assignments: tuple[str, ...],
    progress: bool | None,
) -> int:
    """Print one line of JSON for each HTML file, in order.

    PATHS are files and folders. A folder is searched for HTML files, with its subfolders.
    """
    from simhash_gate.offline.console import Console
    from simhash_gate.offline.fingerprint import fingerprints
    from simhash_gate.sources.files import html_files
    from simhash_gate.sources.manifest import manifest as read_manifest
    from simhash_gate.sources.open import shown

    if bool(paths) == bool(manifest):
        raise click.UsageError("Give either PATHS or --input FILE.")
    settings, console = settings_of(assignments), Console()
    source = (
        read_manifest(manifest, console.complain, settings.max_bytes, needs_url=False)
        if manifest
        else html_files(paths, console.complain, settings.max_bytes)
    )
    lines = fingerprints(source.entries, settings, text=text)
    outcomes = console.write_lines(lines, source.total, progress)
    if not outcomes:
        console.complain_of_nothing(shown(*([manifest] if manifest else paths)), "no page in it")
    return console.status()


@click.command(
    short_help="Judge stored pages as a crawl would.",
    epilog="Example: simhash-gate replay pages.jsonl -s SIMHASH_GATE_THRESHOLD=5",
)
@click.argument("source")
@setting
@progress
def replay(source: str, assignments: tuple[str, ...], progress: bool | None) -> int:
    """Judge the pages of SOURCE in order, as a crawl would. Print one line of JSON for each.

    SOURCE is a manifest (JSON Lines with "path" and "url"), a WARC file (.warc, .warc.gz) or a
    folder of Scrapy's HttpCache.

    Pages are remembered in memory. To remember them in a store, set SIMHASH_GATE_STORE.
    """
    from simhash_gate.common.complaints import MissingExtraError
    from simhash_gate.offline.console import Console
    from simhash_gate.offline.replay import counted
    from simhash_gate.offline.replay import replay as judge_all
    from simhash_gate.report.summary import Summary
    from simhash_gate.sources.open import names_store, open_source, shown
    from simhash_gate.stores import StoreError
    from simhash_gate.values import SettingsError

    if names_store(source):
        raise click.UsageError(f"{shown(source)}: a store has no pages; give what was crawled.")
    settings, console, summary = settings_of(assignments), Console(), Summary()
    try:
        pages = open_source(source, console.complain, settings.max_bytes)
        lines = counted(judge_all(pages.entries, settings, console.complain), summary)
        outcomes = console.write_lines(lines, pages.total, progress)
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    except (MissingExtraError, StoreError) as error:
        raise click.ClickException(str(error)) from None
    if not outcomes:
        console.complain_of_nothing(shown(source), "no page in it")
    console.summarise(outcomes)
    for remark in summary.remarks():
        console.say(remark)
    return console.status()


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
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, not text.")
@setting
def compare(
    a: str,
    b: str,
    url_a: str,
    url_b: str,
    markdown: bool,
    as_json: bool,
    assignments: tuple[str, ...],
) -> int:
    """Show how near two HTML files are, and what differs.

    The verdict is the one that the gate reaches on B after A.
    """
    from simhash_gate.offline.comparison import compare as compare_pages
    from simhash_gate.offline.comparison import read_sides
    from simhash_gate.offline.console import Console

    settings, console = settings_of(assignments), Console()
    sides = read_sides(((a, url_a), (b, url_b)), settings, console.complain)
    if len(sides) == 2:
        found = compare_pages(sides[0], sides[1], settings)
        if as_json:
            console.write(found.as_json(markdown=markdown))
        else:
            console.show(found.as_text(markdown=markdown))
    return console.status()
