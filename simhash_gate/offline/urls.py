"""`simhash-gate urls`: the rules about URLs that a store keeps, or a file has."""

from __future__ import annotations

import json
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simhash_gate.common.files import whole_file
from simhash_gate.common.urls import host_of
from simhash_gate.common.wording import how_many
from simhash_gate.offline.console import check_output, disk
from simhash_gate.sources.find import names_store, shown
from simhash_gate.sources.jsonl import json_objects
from simhash_gate.sources.open import open_kept
from simhash_gate.stores import open_store
from simhash_gate.urls.formats import from_clearurls, from_discarder, to_discarder
from simhash_gate.urls.learn import learn_line
from simhash_gate.urls.learner import Learner
from simhash_gate.urls.saved import RulesError, entries_of, from_json, load, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simhash_gate.offline.console import Console
    from simhash_gate.settings import Settings
    from simhash_gate.stores import Store

_EXAMPLE = '{"url": …, "outcome": …}'


def list_rules(console: Console, *, source: str) -> int:
    """Print each rule as a line of JSON."""
    entries = _read(source)
    for entry in entries:
        console.write(entry)
    if not entries:
        console.say("no rules are known")
    return console.status()


def try_rules(settings: Settings, console: Console, *, source: str, urls: Sequence[str]) -> int:
    """Print what the rules leave of URLs, and which rules act. Rules act at once if they did."""
    learner = Learner(settings.url_bound)
    load(learner, _read(source), trusted=True)
    for url in urls:
        scope = settings.policies.site_of(url).scope
        acting = learner.acting_on(scope, url)
        canonical = learner.canonical(scope, url)
        rules = [{"shape": shape, "rule": str(rule)} for shape, rule in acting]
        console.write({"url": url, "canonical": canonical, "rules": rules})
    return console.status()


def export(console: Console, *, source: str, form: str, output: str | None) -> int:
    """Write the rules of a store or a file in a form."""
    check_output(output)
    entries = _read(source)
    if form == "discarder":
        text, left_out = to_discarder(entries)
        if left_out:
            console.say(f"left out, for the format has no words for them: {left_out} rules")
    else:
        text = to_json(entries)
    _write(console, text, output)
    return console.status()


def import_(settings: Settings, console: Console, *, store: str, path: str, form: str) -> int:
    """Add the rules of a file to a store. A rule takes the place of the same one."""
    with disk(path):
        data = Path(path).read_bytes()
    left_out = 0
    if form == "json":
        entries = from_json(data, path)
    else:
        read = from_discarder if form == "discarder" else from_clearurls
        entries, left_out = read(
            data, path, lambda domain: settings.policies.site_of(f"http://{domain}/").scope
        )
    with closing(open_store(store)) as opened:
        _add(opened, entries)
    console.say(f"{how_many(len(entries), 'rule')} imported")
    if left_out:
        console.say(f"left out, for they can't be said as rules of one site: {left_out}")
    return console.status()


def learn(
    settings: Settings,
    console: Console,
    *,
    sources: Sequence[str],
    output: str | None,
    into: str | None,
) -> int:
    """Learn from verdict logs; write the rules to a file or stdout, or add them to a store."""
    check_output(output)
    learner = Learner(settings.url_bound)
    lines = 0
    for path in sources:
        for place, line in console.bar(json_objects(path, console.complain, _EXAMPLE)):
            if _looked_at_distance(line):
                console.complain(place, "nothing to learn: VERIFY was 'distance'")
                break
            url = line.get("url")
            if isinstance(url, str) and host_of(url):
                learn_line(learner, settings.policies.site_of(url).scope, line)
                lines += 1
    entries = [entry for rules in entries_of(learner).values() for entry in rules]
    if into is not None:
        with closing(open_store(into)) as opened:
            _add(opened, entries)
    else:
        _write(console, to_json(entries), output)
    active = sum(entry["state"] == "active" for entry in entries)
    console.say(f"{how_many(lines, 'verdict')}, {how_many(len(entries), 'rule')}, {active} active")
    return console.status()


def _looked_at_distance(line: dict[str, Any]) -> bool:
    """Tell whether the first verdict of a crawl says that nothing but distances was compared."""
    crawl = line.get("crawl")
    said = crawl.get("settings") if isinstance(crawl, dict) else None
    return isinstance(said, dict) and said.get("SIMHASH_GATE_VERIFY") == "distance"


def _read(source: str) -> list[dict[str, Any]]:
    """Return the rules of a store or of a file. Raises click.ClickException and StoreError."""
    try:
        if not names_store(source):
            with disk(source):
                return from_json(Path(source).read_bytes(), source)
        with open_kept(source) as store:
            return [
                entry
                for scope, rules in sorted(store.all_url_rules())
                for entry in from_json(rules, f"{shown(source)}: rules of {scope}")
            ]
    except RulesError as error:
        raise click.ClickException(str(error)) from None


def _add(store: Store, entries: Iterable[dict[str, Any]]) -> None:
    added: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in entries:
        added[entry["scope"]].append(entry)
    for scope, rules in added.items():
        known = {_key(entry): entry for entry in from_json(store.url_rules(scope) or b"[]", scope)}
        known |= {_key(entry): entry for entry in rules}
        told = [known[key] for key in sorted(known)]
        store.keep_url_rules(scope, json.dumps(told, ensure_ascii=False).encode("utf-8", "replace"))


def _key(entry: dict[str, Any]) -> tuple[str, str, str, str]:
    return (entry["shape"], entry["kind"], entry.get("name", ""), entry.get("value", ""))


def _write(console: Console, text: str, output: str | None) -> None:
    data = text.encode("utf-8", "replace")
    if output is None:
        console.write_raw(data)
        return
    with disk(output), whole_file(output, private=False) as file:
        file.write(data)
