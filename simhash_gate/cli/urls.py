"""`simhash-gate urls`: rules for duplicate-url-discarder, from the verdict logs of crawls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from simhash_gate.cli.console import Console, check_place, output, with_console
from simhash_gate.common.wording import complaining
from simhash_gate.offline.logs import last_log, named_logs
from simhash_gate.offline.url_evidence import FEWEST, Crawls
from simhash_gate.offline.url_rules import FOUND_LATER, Suggestion, as_json
from simhash_gate.sources.find import is_folder
from simhash_gate.sources.jsonl import json_objects
from simhash_gate.sources.open import shown

_EXAMPLES = 3


@click.command(epilog="Example: simhash-gate urls monday.jsonl tuesday.jsonl -o rules.json")
@click.argument("sources", nargs=-1, metavar="[SOURCE...]")
@output
@with_console
def urls(console: Console, sources: Sequence[str], output: str | None) -> int:
    """Suggest rules about URLs, by which Scrapy skips requests for pages that it has.

    SOURCE is a verdict log, or a folder of them; - is stdin. Without SOURCE, the newest log in
    .scrapy/simhash_gate is read. The output is a file of rules for duplicate-url-discarder. The
    evidence of each rule is printed to stderr: read it first.
    """
    sources = sources or [last_log()]
    check_place(output, sources)
    crawls = Crawls()

    def refuse(path: str) -> None:
        why = "no verdict log in it" if is_folder(path) else "not a verdict log"
        console.complain(shown(path), why)

    for path in named_logs(sources, console.say, refuse):
        crawls.begin()
        for place, line in console.bar(json_objects(path, console.complain, "a verdict")):
            with complaining(console.complain, place):
                crawls.add_line(line)
    if not crawls.pages:
        console.complain_of_nothing(shown(*sources), "no verdict on a page in it")
        return console.status()
    suggestions = list(crawls.suggest())
    for suggestion in sorted(suggestions, key=lambda each: -len(each.spared)):
        for text in _told(suggestion):
            console.say(text)
    with console.sink(output) as file:
        file.write(as_json(suggestions).encode())
    console.say(f"pages: {crawls.pages}, rules: {len(suggestions)}")
    if suggestions:
        console.say(FOUND_LATER)
    else:
        console.say(f"A rule needs {FEWEST} pages that came by several URLs, and no contradiction.")
    return console.status()


def _told(suggestion: Suggestion) -> Iterator[str]:
    """Yield lines on a rule: what it removes where, its evidence, and examples."""
    host, rule, spared, lost, _ = suggestion
    if rule.processor == "queryRemoval":
        removed = ", ".join(f"{name}=…" for name in rule.args)
    else:
        removed = f"parts of the path: {', '.join(map(str, rule.args))}"
    yield f"{rule.pattern(host)} without {removed}"
    yield f"   {suggestion.evidence}"
    for sign, pairs in (("is", spared), ("IS NOT", lost)):
        yield from (f"   {other} {sign} {kept}" for other, kept in pairs[:_EXAMPLES])
