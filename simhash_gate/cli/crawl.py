"""`simhash-gate crawl`: from a URL to a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from simhash_gate.cli.console import Console, assigned, own_folder, setting
from simhash_gate.common.urls import host_of
from simhash_gate.settings import read_settings

_OWN = ("JOBDIR", "SIMHASH_GATE_DURABLE", "SIMHASH_GATE_STORE")
_NOT_GOT = {
    "robotstxt/forbidden": "addresses that robots.txt forbids",
    "httperror/response_ignored_count": "answers that are errors, such as 404",
    "site/without_text": "pages without text that can be read",
    "simhash_gate/blocked": "answers that ask for a captcha, a login or a consent",
    "simhash_gate/soft_404": "pages that say 'not found'",
    "retry/max_reached": "addresses that could not be fetched",
    "log_count/ERROR": "errors, which are above",
}


@click.command(epilog="Example: simhash-gate crawl https://docs.example.com -o corpus.jsonl")
@click.argument("starts", nargs=-1, required=True, metavar="URL...")
@click.option(
    "-o", "--output", metavar="FILE", required=True, help="The corpus. FILE ends in .jsonl."
)
@click.option("--below", is_flag=True, help="Only addresses that are below URL.")
@click.option(
    "--without",
    multiple=True,
    type=click.Choice(["listings"]),
    help="Leave out pages that are lists of links. Their links are followed.",
)
@setting
def crawl(
    starts: Sequence[str],
    output: str,
    below: bool,
    without: Sequence[str],
    assignments: Sequence[str],
) -> int:
    """Crawl the site of each URL, and write each of its pages once, as Markdown, to FILE.

    The crawl starts at URL and at the sitemap of the site. It follows links on the same host. It
    leaves out a page whose text is that of another. It obeys robots.txt, and fetches at most two
    pages a second, fewer if the server is slow. -s takes settings of Scrapy, too, except JOBDIR,
    SIMHASH_GATE_DURABLE and SIMHASH_GATE_STORE: for a crawl that remembers, make a SiteSpider.

    FILE gets a line of JSON for each page: URL, canonical URL, title, author, date, language, site,
    description, number of words, fingerprint, Markdown.

    Ctrl-C, once, ends the crawl cleanly. The same command then goes on.
    """
    for start in starts:
        if not start.startswith(("http://", "https://")) or not host_of(start):
            raise click.UsageError(f"{start} is no URL. Write one such as https://example.com")
    target = Path(output).absolute()
    folder = target.with_name(f"{target.name}.crawl")
    if target.suffix.lower() != ".jsonl":
        raise click.UsageError(f"-o {output}: a crawl writes a file that ends in .jsonl")
    if target.exists() and not (folder / "job").exists():
        raise click.UsageError(f"-o {output}: it is there already. Name a new file.")
    settings = {
        "LOG_LEVEL": "WARNING",
        "TELNETCONSOLE_ENABLED": "False",
        "SIMHASH_GATE_DURABLE": "page",
        "SIMHASH_GATE_VERDICTS": str(folder).replace("%", "%%") + "/%(time)s.jsonl",
        "SIMHASH_GATE_WINDOW": "1000000",
    }
    expected = f"NAME=VALUE; not {', '.join(_OWN)}: a SiteSpider in a project takes these"
    settings |= assigned(assignments, expected, lambda name: name not in _OWN)
    read_settings(settings)  # raises what is wrong with those of the command line
    with own_folder(output, "crawl"):
        given = {"below": below, "without": without}
        return _crawl(target, folder, settings, url=" ".join(starts), **given)


def _crawl(target: Path, folder: Path, settings: dict[str, str], **given: Any) -> int:
    from simhash_gate.cli import INTERRUPTED
    from simhash_gate.plugin.site_crawl import FULL, crawl_to

    say = Console().say
    say(f"Crawling {given['url']} to {target.name}. Ctrl-C, once, ends it cleanly.")
    stats = crawl_to(target, folder / "job", settings, say, **given)
    for name, what in _NOT_GOT.items():
        if name in stats:
            say(f"{what}: {stats[name]}")
    reason = stats.get("finish_reason", "killed")
    if reason != "finished":
        say(f"Not all was crawled ({reason}). The same command goes on.")
        return {"killed": INTERRUPTED, "shutdown": INTERRUPTED, FULL: 1}.get(reason, 0)
    say(f"Why a page is not in the corpus: simhash-gate why URL --in {folder}")
    empty = not target.stat().st_size
    if empty:
        target.unlink()
        causes = [": ".join(it) for it in stats["site/failed"]] or ["Does robots.txt allow it?"]
        click.echo(" ".join(["No page was found. Is this the right address?", *causes]), err=True)
    return int(empty or "log_count/ERROR" in stats)
