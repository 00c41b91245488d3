"""python hive.py: files for the examples of docs/commands.md, in the folder `hive`.

Pages, a manifest, a store of two pages with their past, a journal, and the verdict log of a crawl.
"""

import json
from contextlib import closing
from pathlib import Path

from simhash_gate import open_store
from simhash_gate.history.texts import pack as pack_text
from simhash_gate.history.versions import History, Version
from simhash_gate.journal.warc import Drop, Stored, pack, warcinfo
from simhash_gate.stores import Blob, Record
from simhash_gate.stores.base import KEPT_TEXT
from simhash_gate.stores.histories import PageHistory

PAGE = """<!doctype html><html><head><title>Bees in summer | The Hive</title></head><body>
<nav><a href="/">Home</a> <a href="/n">News</a></nav>
<main><article><h1>Bees in summer</h1><p class="date">Updated {clock}</p><p>A worker bee lives six
weeks in summer, and most of that time inside. She cleans cells, feeds larvae, builds comb and
guards the door before she ever sees a flower.</p><p>Only in her last {weeks} weeks does she fly
out for nectar. On a good day she visits two thousand flowers, and brings home a twelfth of a
teaspoon of honey in her whole life.</p></article></main><aside class="ad">{ad}</aside></body>
</html>"""
PAGES = {
    "bees": ("12:04", "two", "Buy our boots."),
    "bees-print": ("12:31", "two", "Win a car today."),
    "bees-2024": ("09:00", "three", "Win a car today."),
}
MANIFEST = """\
{"path": "bees.html", "url": "https://hive.example/bees", "id": 1}
{"path": "bees-print.html", "url": "https://hive.example/bees?print=1", "id": 2}
{"path": "missing.html", "url": "https://hive.example/missing", "id": 3}
{"path": "error.html", "url": "https://hive.example/error", "id": 4}
"""
NOON = 1717243200.0  # of 1 June 2024
DAYS = [NOON + days * 86_400 for days in (0, 2, 5, 8)]
TWO, THREE, WASPS = 0xB0621B61D9D51AD2, 0xB4200B61D8D55AD2, 0x4FF29D1E2A36E52D
"""Fingerprints."""
KEPT = (  # name, title, words, first and last seen, and what visits found
    ("bees", "Bees in summer", 72, NOON, NOON + 73_800, [TWO, TWO, THREE, THREE]),
    ("wasps", "Wasps in autumn", 80, NOON + 300, NOON + 300, [WASPS] * 4),
)


def past(title, fingerprints):
    """Return the history of a page in which visits found these."""
    history = History()
    for at, found in zip(DAYS, fingerprints, strict=True):
        again = history.last if history.last and history.last.fingerprint == found else None
        run = again.run if again else f"run-{at:.0f}"[-6:]
        version = Version(at, at, found, found, 72, title, run)
        history = history.visited(version, again=again, most=10)
    return history


def fill(store):
    """Keep two pages, and what they said."""
    store.begin("monday")
    for name, title, words, first, last, found in KEPT:
        url, history = f"https://hive.example/{name}", past(title, found)
        prints = found[0], found[0]
        page = Record(
            "hive.example", url, name, *prints, words, title, "9c1f", "monday", first, last
        )
        store.check_and_add(page, 3)
        for version in history.versions:
            weeks = "two" if version.fingerprint == TWO else "three"
            said = f"# {title}\n\nOnly in her last {weeks} weeks does she fly out for nectar."
            text = pack_text(url=url, title=title, markdown=said, time=NOON)
            store.put(Blob(KEPT_TEXT, "hive.example", f"{version.digest:016x}", text, NOON))
        known = PageHistory("hive.example", name, url, "monday", DAYS[-1], history.encode())
        store.put(known.blob)
    store.end("monday")


def dropped(number, distance, threshold):
    """Return a page of a journal."""
    drop = Drop(
        url="https://hive.example/bees?print=1",
        time=NOON + number,
        spider="hive",
        pipeline="9c1f",
        outcome="duplicate",
        reason=f"distance {distance}, threshold {threshold}",
        matched_url="https://hive.example/bees",
        distance=distance,
        threshold=threshold,
        title="Bees in summer",
        words=69,
        fingerprint=f"{THREE:016x}",
    )
    body = PAGE.format(clock="12:31", weeks="three", ad=f"Number {number}").encode()
    return pack(drop, Stored(200, [(b"Content-Type", b"text/html")], body))


def verdicts():
    """Yield the lines of a crawl that met each of 40 pages by two URLs."""
    for number in range(40):
        url = f"https://hive.example/bees/{number}"
        yield {"url": url, "outcome": "new"}
        yield {"url": f"{url}?from=mail", "outcome": "duplicate", "matched_url": url}


def main():
    """Write everything to the folder `hive`."""
    folder = Path("hive")
    journal = folder / "dropped"
    journal.mkdir(parents=True)
    for name, (clock, weeks, ad) in PAGES.items():
        (folder / f"{name}.html").write_text(PAGE.format(clock=clock, weeks=weeks, ad=ad))
    (folder / "error.html").write_text("<html><body></body></html>")
    (folder / "pages.jsonl").write_text(MANIFEST)
    (folder / "verdicts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in verdicts()))
    with closing(open_store(f"sqlite:///{folder.absolute()}/hive.sqlite")) as store:
        fill(store)
    file = journal / "dropped-20240601T120000000000Z-0badcafe.warc.gz"
    file.write_bytes(warcinfo() + dropped(1, 2, 3) + dropped(2, 6, 12))


if __name__ == "__main__":
    main()
