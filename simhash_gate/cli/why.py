"""`simhash-gate why`: what became of a page, and why; or two pages side by side."""

from __future__ import annotations

from collections.abc import Sequence

import click

from simhash_gate.cli.console import Console, as_json, setting, settings_of
from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import complaining
from simhash_gate.offline.logs import WITH_LOG, is_log
from simhash_gate.offline.traces import PageTraces
from simhash_gate.offline.why import compared
from simhash_gate.pipeline import Reading, read_closely
from simhash_gate.report.explanation import Explanation
from simhash_gate.settings import Settings
from simhash_gate.sources import STDIN, read_body
from simhash_gate.sources.open import shown


@click.command(
    epilog="Examples: simhash-gate why 'https://example.com/a?print=1'; simhash-gate why a.html "
    "b.html"
)
@click.argument("page", metavar="PAGE")
@click.argument("other", required=False, metavar="[OTHER]")
@click.option(
    "--in",
    "sources",
    multiple=True,
    metavar="SOURCE",
    help="Where to look first: a verdict log, a store, a journal, or anything with pages that "
    "`replay` reads. Repeat the option for more. Then `why` looks at what the project has.",
)
@click.option("--url", default="", help="The URL of files. Its domain decides the policy.")
@click.option("--markdown", is_flag=True, help="Also show the Markdown of each page.")
@as_json
@setting
def why(
    page: str,
    other: str | None,
    sources: tuple[str, ...],
    url: str,
    markdown: bool,
    as_json: bool,
    assignments: Sequence[str],
) -> int:
    """Tell what became of PAGE, a URL, in a crawl: dropped or not, beside which page, and why.

    Any address of the page will do. With OTHER, compare two pages: URLs, or HTML files. The verdict
    is the one that the gate reaches on OTHER after PAGE.
    """
    console = Console()
    if [*sources, page, other].count(STDIN) > (STDIN not in sources):
        raise click.UsageError("stdin can't be read twice. Name a file")
    answer: Explanation | None = None
    if other is not None:
        settings = settings_of(assignments)
        a, b = (_read(name, sources, settings, url, console) for name in (page, other))
        first, second = map(without_credentials, (page, other))
        if a is not None and b is not None:
            domain = second if _is_web(second) else url
            answer = compared((first, a), (second, b), settings, domain)
    elif _is_web(page):
        answer = _became(page, sources, assignments, console)
    else:
        raise click.UsageError(
            f"{page}: expected a URL, http://… or https://…; or two pages to compare"
        )
    if answer is not None and as_json:
        console.write(answer.as_json(markdown=markdown))
    elif answer is not None:
        console.show(answer.as_text(markdown=markdown))
    return console.status()


def _is_web(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def _read(
    name: str, sources: Sequence[str], settings: Settings, url: str, console: Console
) -> Reading | None:
    """Read a page: a file, or one of the sources. What is not there is complained of."""
    if _is_web(name):
        found = PageTraces(name)
        found.look(sources, settings, console.complain, console.say)
        for place, read in found.read(settings):
            console.say(f"{found.url} is that of {place}")
            return read
        console.complain(found.url, "no such page. Name where it is: --in SOURCE")
        return None
    if name != STDIN and is_log(name):
        raise click.UsageError(f"{name} is a verdict log. To look in it: --in {name}")
    with complaining(console.complain, name):
        body = read_body(name, settings.max_bytes)
        if body is None:
            raise ValueError(f"larger than {settings.max_bytes} bytes")
        return read_closely(body, url=url, options=settings.options)
    return None


def _became(
    url: str, sources: Sequence[str], assignments: Sequence[str], console: Console
) -> Explanation | None:
    found = PageTraces(url)
    found.look(sources, settings_of(assignments), console.complain, console.say)
    settings, verdict, kept = settings_of(assignments, found.crawl), found.verdict, None
    if verdict and verdict.kept and not verdict.means.revisit:
        kept = PageTraces(verdict.kept.url)
        places = [place for place in found.asked if not is_log(place)]
        kept.look_in(places, settings, lambda *_: None, lambda _: None)  # told already
    answer, looked = found.answer(kept, settings, console.say), f"looked in {shown(*found.asked)}"
    if answer is None:
        missing = "no verdict on it, and no page of it. It was not fetched, or under another URL"
        if found.entries:
            missing = f"its page is there, and no verdict on it. To get one, {WITH_LOG}, or name "
            missing += "a list of dedupe --duplicates. To compare it: why URL OTHER --in SOURCE"
        console.complain(found.url, f"{missing} ({looked})")
    else:
        console.say(looked)
    return answer
