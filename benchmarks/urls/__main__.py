"""`python -m benchmarks.urls [SITE...]`: what rules of `simhash-gate urls` do to a crawl.

A first crawl of a site leaves a verdict log, from which the command suggests rules. A second crawl
finds other pages there, of another seed. It sends its requests as Scrapy does: by fingerprints of
duplicate-url-discarder with these rules, and of the gate.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

from scrapy import Request, Spider
from scrapy.utils.request import RequestFingerprinter
from scrapy.utils.test import get_crawler

from benchmarks.speed.measure import options_of, table
from benchmarks.urls.sites import SCENES, Site, made
from simhash_gate.cli import main as command
from simhash_gate.plugin.page_keys import PageKeyFingerprinter

SITES = ("forum", *SCENES, "demonstration")
Fingerprint = Callable[[Request], bytes]
Line = dict[str, Any]
Visit = tuple[str, str]
"""An address, and the content that it shows."""


def crawl(home: str, site: Site, fingerprint: Fingerprint) -> Iterator[Visit]:
    """Yield the address and the content of each page of a site, as its links lead to it."""
    waiting, met, requested = deque([home]), {home}, set[bytes]()
    while waiting:
        url = waiting.popleft()
        name = fingerprint(Request(url))
        if name not in requested and (shown := site(url)):
            yield url, shown.content
            waiting.extend(link for link in shown.links if link not in met)
            met.update(shown.links)
        requested.add(name)


def log_of(pages: Iterable[Visit]) -> Iterator[Line]:
    """Yield the lines of a verdict log in which the gate is always right."""
    first: dict[str, str] = {}
    for url, content in pages:
        kept = first.setdefault(content, url)
        copy = {"outcome": "duplicate", "matched_url": kept}
        yield {"url": url, **(copy if kept != url else {"outcome": "new", "matched_url": None})}


def failing(site: Site, home: str) -> Site:
    """Return a site where one address in 25 fails for ever, but not the first one."""
    return lambda url: None if url != home and crc32(url.encode()) % 25 == 0 else site(url)


def rules_of(lines: Iterable[Line], folder: Path) -> Path:
    """Return the file of the rules that the command suggests."""
    log, rules = folder / "verdicts.jsonl", folder / "rules.json"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    if command(["urls", str(log), "-o", str(rules)]):
        raise SystemExit("the command has failed")
    return rules


def fingerprint_of(rules: Path | None = None) -> Fingerprint:
    """Return what gives requests the fingerprints of the gate, with or without rules."""
    import tldextract.tldextract

    # The package asks for the domains of URLs. This one would first ask the network for a list.
    offline = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
    tldextract.tldextract.TLD_EXTRACTOR = offline
    settings: dict[str, Any] = {"REQUEST_FINGERPRINTER_CLASS": PageKeyFingerprinter}
    if rules is not None:
        settings = {
            "REQUEST_FINGERPRINTER_CLASS": "duplicate_url_discarder.Fingerprinter",
            "DUD_FALLBACK_REQUEST_FINGERPRINTER_CLASS": PageKeyFingerprinter,
            "DUD_LOAD_RULE_PATHS": [str(rules)],
        }
    fingerprinter = get_crawler(Spider, settings).request_fingerprinter
    assert fingerprinter is not None
    return fingerprinter.fingerprint


def row(name: str, run: Callable[[Fingerprint], Iterator[Visit]], rules: Path) -> Line:
    """Return what rules do to a crawl, beside the fingerprints of Scrapy and of the gate alone."""
    fingerprints = RequestFingerprinter().fingerprint, fingerprint_of(), fingerprint_of(rules)
    fetched = [[*run(fingerprint)] for fingerprint in fingerprints]
    contents = [{content for _, content in visits} for visits in fetched]
    copies = [len(visits) - len(own) for visits, own in zip(fetched, contents, strict=True)]
    by_names, by_rules = (
        f"{1 - left / copies[0]:.1%}" if copies[0] else "–" for left in copies[1:]
    )
    return {
        "site": name,
        "fetches": len(fetched[0]),
        "avoidable": copies[0],
        "avoided by names": by_names,
        "by names and rules": by_rules,
        "contents": len(contents[0]),
        "lost": len(contents[0] - contents[2]),
        "rules": len(json.loads(rules.read_text("utf-8"))),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print two rows for each site."""
    flags: dict[str, tuple[Any, ...]] = {
        "sites": (SITES, f"those that are made: {', '.join(SITES)}", {"nargs": "*"}),
        "--articles": (200, "articles or topics of a site"),
        "--seed": (1, "of the first crawl; the second one has the next"),
    }
    options = options_of(__doc__, arguments, flags)
    rows = []
    with TemporaryDirectory() as folder:
        for name in options.sites:
            home, first = made(name, options.articles, options.seed)
            plain = RequestFingerprinter().fingerprint
            rules = rules_of(log_of(crawl(home, first, plain)), Path(folder))
            home, second = made(name, options.articles, options.seed + 1)
            rows.append(row(name, partial(crawl, home, second), rules))
            broken = partial(crawl, home, failing(second, home))
            rows.append(row(f"{name}, 1 address in 25 fails", broken, rules))
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
