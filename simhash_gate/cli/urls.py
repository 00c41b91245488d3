"""`simhash-gate urls`: what sites have shown of their URLs, in a store or a file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from typing import Any

import click

from simhash_gate.cli.console import (
    Console,
    check_lasts,
    check_output,
    output,
    settings_of,
    with_console,
    with_settings,
)
from simhash_gate.common.urls import host_of
from simhash_gate.common.wording import complaining, how_many
from simhash_gate.gate.verdict import encode
from simhash_gate.identity.keys import Keys, evidence_of
from simhash_gate.identity.saved import all_kept, checked, entries_of, from_json, keep, load
from simhash_gate.offline.logs import is_log
from simhash_gate.settings import Settings
from simhash_gate.sources.find import names_store
from simhash_gate.sources.jsonl import json_objects
from simhash_gate.sources.open import open_kept
from simhash_gate.stores import open_store

_EXAMPLE = '{"url": …, "outcome": …}'


@click.group(epilog="Example: simhash-gate urls list sqlite:///pages.sqlite")
def urls() -> None:
    """Work with what sites have shown to make no difference in their URLs.

    A crawl learns that, and keeps it in its store. SOURCE is the URL of a store, or a file that
    `urls list` or `urls learn` wrote.
    """


@urls.command(
    "list",
    short_help="List what is known.",
    epilog="Example: simhash-gate urls list sqlite:///pages.sqlite -o urls.jsonl",
)
@click.argument("source", metavar="SOURCE")
@output
@with_console
def list_(console: Console, source: str, output: str | None) -> int:
    """Print one line of JSON for each part of URLs, by site.

    You can edit the lines and import them again: "word": "forbidden" keeps a part from being taken
    for one that makes no difference.
    """
    check_output(output, [source])
    entries = _read(source, console)
    with console.sink(output) as file:
        file.writelines(map(encode, entries))
    if not entries and not console.complaints:
        console.say("nothing is known of URLs")
    return console.status()


@urls.command(
    short_help="Show the key of URLs.",
    epilog="Example: simhash-gate urls test urls.jsonl 'https://example.com/a?utm_source=x'",
)
@click.argument("source", metavar="SOURCE")
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@with_settings
@with_console
def test(settings: Settings, console: Console, source: str, urls: tuple[str, ...]) -> int:
    """Print the key and the canonical URL of each URL, and what of it makes no difference.

    URLs with the same key have the same page, as far as is known.
    """
    keys = Keys(settings.tracking)
    for scope, entries in _by_scope(_read(source, console)).items():
        load(keys.host(scope), entries, trusted=True)
    for url in urls:
        key = keys.of(settings.policies.site_of(url).scope, url)
        atoms = [str(atom) for atom in key.atoms]
        console.write(
            {"url": url, "canonical": key.url, "key": key.key, "by": key.by} | {"atoms": atoms}
        )
    return console.status()


@urls.command(
    "import",
    short_help="Add the lines of a file to a store.",
    epilog="Example: simhash-gate urls import sqlite:///pages.sqlite urls.jsonl",
)
@click.argument("store", metavar="STORE")
@click.argument("path", metavar="FILE")
@with_settings
@with_console
def import_(
    settings: Settings,  # noqa: ARG001 - wrong ones are refused
    console: Console,
    store: str,
    path: str,
) -> int:
    """Add the lines of FILE to the store. A line takes the place of the same one in the store."""
    entries = _read_file(path, console)
    _add(store, entries)
    console.say(f"{how_many(len(entries), 'line')} imported")
    return console.status()


@urls.command(
    short_help="Learn from verdict logs.",
    epilog="Example: simhash-gate urls learn verdicts.jsonl -o urls.jsonl",
)
@click.argument("sources", nargs=-1, required=True, metavar="VERDICTS...")
@click.option("--into", metavar="STORE", help="Add what is learned to a store, and print nothing.")
@output
@with_settings
@with_console
def learn(
    settings: Settings,
    console: Console,
    sources: tuple[str, ...],
    into: str | None,
    output: str | None,
) -> int:
    """Learn from what crawls (SIMHASH_GATE_VERDICTS) or `replay` said of pages.

    Write what was learned as JSON Lines. - is stdin.
    """
    check_output(output, sources)
    if into is not None:
        check_lasts(into)
    keys = Keys(settings.tracking)
    lines = 0
    for path in sources:
        looked, warned = settings, set[str]()
        for place, line in console.bar(json_objects(path, console.complain, _EXAMPLE)):
            if isinstance(line.get("crawl"), dict):
                looked, warned = settings_of((), line["crawl"]), set()
            url = line.get("url")
            if not isinstance(url, str) or not host_of(url):
                continue
            site = looked.policies.site_of(url)
            if not site.policy.verify:
                if site.domain not in warned:
                    warned.add(site.domain)
                    console.complain(place, f"nothing to learn of {site.domain}: VERIFY was off")
                continue
            _learn_line(keys, settings.policies.site_of(url).scope, url, line)
            lines += 1
    entries = [entry for scope in keys.scopes() for entry in entries_of(scope, keys.host(scope))]
    if into is not None:
        _add(into, entries)
    else:
        with console.sink(output) as file:
            file.writelines(map(encode, entries))
    active = sum(entry["acts"] for entry in entries)
    console.say(f"{how_many(lines, 'verdict')}, {how_many(len(entries), 'line')}, {active} act")
    return console.status()


def _learn_line(keys: Keys, scope: str, url: str, line: dict[str, Any]) -> None:
    """Learn from one line of a verdict log; a broken one tells nothing."""
    outcome, kept = line.get("outcome"), line.get("matched_url")
    differs, words = line.get("differs") or "", line.get("words") or 0
    texts = isinstance(outcome, str) and isinstance(kept, str | None)
    if texts and isinstance(differs, str) and isinstance(words, int):
        keys.host(scope).saw(url, *evidence_of(str(outcome), kept, differs, words))


def _read(source: str, console: Console) -> list[dict[str, Any]]:
    """Return the lines of a store or of a file. Raises AtomsError and StoreError."""
    if not names_store(source):
        return _read_file(source, console)
    with open_kept(source) as store:
        kept = sorted(all_kept(store))
        return [entry for scope, data in kept for entry in from_json(data, f"URLs of {scope}")]


def _read_file(path: str, console: Console) -> list[dict[str, Any]]:
    """Return the lines of a file; complain of those that are wrong."""
    if is_log(path):
        raise click.ClickException(
            f"{path} is a verdict log. To learn from it: simhash-gate urls learn {path}"
        )
    entries = []
    for place, line in json_objects(path, console.complain, '{"scope": …, "kind": …}'):
        with complaining(console.complain, place):
            entries.append(checked(line))
    return entries


def _by_scope(entries: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in entries:
        found[entry["scope"]].append(entry)
    return found


def _add(url: str, entries: Iterable[dict[str, Any]]) -> None:
    """Add lines to a store. Raises AtomsError and StoreError."""
    check_lasts(url)
    with closing(open_store(url)) as store:
        for scope, lines in _by_scope(entries).items():
            keep(store, scope, lines)
