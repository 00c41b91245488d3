"""The examples of docs/commands.md, run: what they show is what comes out."""

import gzip
import json
import re
import shlex
import shutil
from contextlib import closing

import pytest

from simhash_gate.cli import COMMANDS
from simhash_gate.history.texts import pack
from simhash_gate.history.versions import History, Version
from simhash_gate.journal.warc import warcinfo
from simhash_gate.stores import Record, open_store
from simhash_gate.stores.base import URL_RULES
from tests.crawls.harness import ROOT
from tests.journal.pages import packed
from tests.offline.test_replay_warc import record
from tests.stores.kept import PageHistory, keep, keep_history, keep_text

DOCS = (ROOT / "docs/commands.md").read_text("utf-8")
CONSOLES = re.findall(r"```console\n(.*?)```", DOCS, re.DOTALL)
EXAMPLES = [
    example
    for console in CONSOLES
    for example in re.findall(r"^\$ simhash-gate (.*)\n((?:(?!\$).*\n)*)", console, re.MULTILINE)
]
PAGE = """<!doctype html><html><head><title>Bees in summer | The Hive</title></head><body>
<nav><a href="/">Home</a> <a href="/n">News</a></nav>
<main><article><h1>Bees in summer</h1><p class="date">Updated {clock}</p><p>A worker bee lives six
weeks in summer, and most of that time inside. She cleans cells, feeds larvae, builds comb and
guards the door before she ever sees a flower.</p><p>Only in her last {weeks} weeks does she fly
out for nectar. On a good day she visits two thousand flowers, and brings home a twelfth of a
teaspoon of honey in her whole life.</p></article></main><aside class="ad">{ad}</aside></body>
</html>"""
MANIFEST = """\
{"path": "bees.html", "url": "https://hive.example/bees", "id": 1}
{"path": "bees-print.html", "url": "https://hive.example/bees?print=1", "id": 2}
{"path": "missing.html", "url": "https://hive.example/missing", "id": 3}
{"path": "error.html", "url": "https://hive.example/error", "id": 4}
"""


NOON = 1717243200.0  # of 1 June 2024
VERDICT = {
    "url": "https://hive.example/bees?print=1",
    "outcome": "duplicate",
    "reason": "distance 2, threshold 3",
    "distance": 2,
    "matched_url": "https://hive.example/bees",
    "title": "Print: Bees in summer",
    "words": 69,
    "matched_title": "Bees in summer",
    "matched_words": 69,
    "dropped": True,
    "time": NOON,
}
KEPT = [
    Record("hive.example", f"https://hive.example/{name}", name, fingerprint, fingerprint, words,
           title, "9c1f", "monday", first_seen, last_seen)
    for name, title, fingerprint, words, first_seen, last_seen in (
        ("bees", "Bees in summer", 0xB0621B61D9D51AD2, 72, NOON, NOON + 73_800),
        ("wasps", "Wasps in autumn", 0x4FF29D1E2A36E52D, 80, NOON + 300, NOON + 300),
    )
]  # fmt: skip


def _past(times: tuple[float, ...], *fingerprints: int) -> History:
    """The history of a page that said this at these times."""
    history = History()
    for at, fingerprint in zip(times, fingerprints, strict=True):
        title = "Bees in summer" if fingerprint > 1 << 63 else "Wasps in autumn"
        last = history.last
        again = last if last is not None and last.digest == fingerprint else None
        run = again.run if again else f"run-{at:.0f}"[-6:]
        found = Version(at, at, fingerprint, fingerprint, 72, title, run)
        history = history.visited(found, again=again, most=10)
    return history


def _said(version: Version) -> str:
    weeks = "two" if version.fingerprint == 0xB0621B61D9D51AD2 else "three"
    return f"# {version.title}\n\nOnly in her last {weeks} weeks does she fly out for nectar."


DAYS = (NOON, NOON + 2 * 86_400, NOON + 5 * 86_400, NOON + 8 * 86_400)
PASTS = {
    "bees": _past(DAYS, *[0xB0621B61D9D51AD2] * 2, *[0xB4200B61D8D55AD2] * 2),
    "wasps": _past(DAYS, *[0x4FF29D1E2A36E52D] * 4),
}


RULE = (
    '{"scope": "hive.example", "urls": "hive.example/bees", "kind": "default", "name": "print", '
    '"value": "1", "contents": 41, "acts": true}'
)


@pytest.fixture
def hive(tmp_path) -> None:
    for name, clock, weeks, ad in (
        ("bees", "12:04", "two", "Buy our boots."),
        ("bees-print", "12:31", "two", "Win a car today."),
        ("bees-2024", "09:00", "three", "Win a car today."),
    ):
        page = PAGE.format(clock=clock, weeks=weeks, ad=ad)
        (tmp_path / f"{name}.html").write_text(page)
    (tmp_path / "error.html").write_text("<html><body></body></html>")
    (tmp_path / "site").mkdir()
    shutil.copy(tmp_path / "bees-2024.html", tmp_path / "site")
    (tmp_path / "site/style.css").touch()
    bees = record((tmp_path / "bees.html").read_bytes(), url="https://hive.example/bees")
    (tmp_path / "crawl.warc.gz").write_bytes(gzip.compress(bees))
    (tmp_path / "pages.jsonl").write_text(MANIFEST)
    with closing(open_store(f"sqlite:///{tmp_path}/hive.sqlite")) as store:
        store.begin("monday")
        for kept in KEPT:
            store.check_and_add(kept, 3)
            history, url = PASTS[kept.request], kept.url
            for version in history.versions:
                text = pack(url=url, title=version.title, markdown=_said(version), time=NOON)
                keep_text(store, kept.scope, version.digest, text, NOON, 1 << 20)
            whose = (kept.scope, kept.request, url)
            keep_history(store, PageHistory(*whose, kept.run, DAYS[-1], history.encode()))
        keep(store, URL_RULES, "hive.example", f"[{RULE}]".encode())
        store.end("monday")
    (tmp_path / "verdicts.jsonl").write_text(json.dumps(VERDICT))
    (tmp_path / "dropped").mkdir()
    copy = {
        "url": "https://hive.example/bees?print=1",
        "words": 69,
        "fingerprint": "b4200b61d8d55ad2",
    }
    far = {"distance": 6, "threshold": 12, "reason": "distance 6, threshold 12"}
    (tmp_path / "dropped/dropped-20240601T120000000000Z-0badcafe.warc.gz").write_bytes(
        warcinfo() + packed(1, **copy) + packed(2, **copy, **far)
    )


@pytest.mark.usefixtures("hive")
@pytest.mark.parametrize(("command", "shown"), EXAMPLES)
def test_an_example_shows_what_comes_out(run, command: str, shown: str) -> None:
    result = run(*shlex.split(command))
    assert result.out + result.err == shown


def test_every_command_has_an_example() -> None:
    crawls = {"crawl"}  # its example is compared where there is a site to crawl
    assert {command.split()[0] for command, _ in EXAMPLES} == set(COMMANDS) - crawls
