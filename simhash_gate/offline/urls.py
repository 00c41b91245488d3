"""`simhash-gate urls`: the rules about URLs that a store keeps, or a file has."""

from __future__ import annotations

from collections import defaultdict
from contextlib import closing, contextmanager
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simhash_gate.common.files import whole_file
from simhash_gate.common.urls import host_of
from simhash_gate.common.wording import how_many
from simhash_gate.gate.policy import Policy
from simhash_gate.offline.console import check_output, disk
from simhash_gate.sources.find import names_store, shown
from simhash_gate.sources.jsonl import json_objects
from simhash_gate.sources.open import open_kept
from simhash_gate.stores import Blob, StoreError, open_store
from simhash_gate.stores.base import URL_RULES
from simhash_gate.urls.formats import from_clearurls, from_discarder, to_discarder
from simhash_gate.urls.learn import learn_line
from simhash_gate.urls.learner import Learner
from simhash_gate.urls.saved import RulesError, entries_of, from_json, load, merged, to_json
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simhash_gate.offline.console import Console
    from simhash_gate.settings import Settings

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
    with _wrong_rules():
        if form == "json":
            entries = from_json(data, path)
        else:
            read = from_discarder if form == "discarder" else from_clearurls
            entries, left_out = read(
                data, path, lambda domain: settings.policies.site_of(f"http://{domain}/").scope
            )
    _add(store, entries)
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
    if into is not None:
        _check_lasts(into)
    learner = Learner(settings.url_bound)
    lines = 0
    for path in sources:
        looked = _CloserLook(settings)
        for place, line in console.bar(json_objects(path, console.complain, _EXAMPLE)):
            looked.at(line.get("crawl"))
            url = line.get("url")
            if not isinstance(url, str) or not (host := host_of(url)):
                continue
            if (blind := looked.was_not_at(host)) is not None:
                if blind not in looked.told:
                    looked.told.add(blind)
                    of = f" of {blind}" if blind else ""
                    console.complain(place, f"nothing to learn{of}: VERIFY was off")
                continue
            learn_line(learner, settings.policies.site_of(url).scope, line)
            lines += 1
    entries = [entry for rules in entries_of(learner).values() for entry in rules]
    if into is not None:
        _add(into, entries)
    else:
        _write(console, to_json(entries), output)
    active = sum(entry["state"] == "active" for entry in entries)
    console.say(f"{how_many(lines, 'verdict')}, {how_many(len(entries), 'rule')}, {active} active")
    return console.status()


class _CloserLook:
    """Where the pages of a crawl were compared by nothing but distances."""

    def __init__(self, settings: Settings) -> None:
        policies = settings.policies
        self._verify = {"": policies.default.verify}
        self._verify |= {domain: policy.verify for domain, policy in policies.of_domains.items()}
        self.told: set[str] = set()

    def at(self, crawl: Any) -> None:
        """Take over what the first verdict of a crawl says of its settings."""
        said, domains = (_object(_object(crawl).get(key)) for key in ("settings", "domains"))
        if not _object(crawl):
            return
        general = said.get(f"{PREFIX}VERIFY", Policy().verify)
        self._verify = {"": general}
        for domain, own in domains.items():
            self._verify[domain] = _object(own).get("verify", general)
        self.told.clear()

    def was_not_at(self, host: str) -> str | None:
        """Return the domain of a host whose pages were not looked at; "" if no page was."""
        labels = host.lower().removeprefix("www.").split(".")
        names = [".".join(labels[start:]) for start in range(len(labels))]
        domain = next((name for name in names if name in self._verify), "")
        return None if self._verify[domain] else domain


def _object(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


@contextmanager
def _wrong_rules() -> Iterator[None]:
    """Name what is wrong with rules. Raises click.ClickException."""
    try:
        yield
    except RulesError as error:
        raise click.ClickException(str(error)) from None


def _check_lasts(url: str) -> None:
    """Raise StoreError for a store that ends with this command."""
    if url.partition(":")[0].lower() == "memory":
        raise StoreError(f"store URL {url!r}: a store in memory ends with this command")


def _read(source: str) -> list[dict[str, Any]]:
    """Return the rules of a store or of a file. Raises click.ClickException and StoreError."""
    with _wrong_rules():
        if not names_store(source):
            with disk(source):
                return from_json(Path(source).read_bytes(), source)
        with open_kept(source) as store:
            return [
                entry
                for blob in sorted(store.blobs(URL_RULES), key=attrgetter("scope"))
                for entry in from_json(blob.data, f"{shown(source)}: rules of {blob.scope}")
            ]


def _add(url: str, entries: Iterable[dict[str, Any]]) -> None:
    """Add rules to a store. Raises click.ClickException and StoreError."""
    _check_lasts(url)
    added: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in entries:
        added[entry["scope"]].append(entry)
    with closing(open_store(url)) as store, _wrong_rules():
        for scope, rules in added.items():
            where = f"{shown(url)}: rules of {scope}"
            known = store.get(URL_RULES, scope)
            store.put(Blob(URL_RULES, scope, "", merged(known, rules, where)))


def _write(console: Console, text: str, output: str | None) -> None:
    data = text.encode("utf-8", "replace")
    if output is None:
        console.write_raw(data)
        return
    with disk(output), whole_file(output, private=False) as file:
        file.write(data)
