"""`python -m benchmarks.quality.archives RECIPE FOLDER`: pairs of real pages from public archives.

A recipe names pages by repository and commit, or by URL in a crawl of Common Crawl; nothing of them
is shipped. Whoever runs this fetches them. The labels come from the words in the element that the
recipe calls the article of a site: the same words are a copy, others an update. Two pages that come
one after the other in one place are different pages.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tarfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import quote
from urllib.request import Request, urlopen

from fastwarc.warc import ArchiveIterator

from benchmarks.quality.generated import Maker
from benchmarks.quality.methods import texts
from benchmarks.speed.measure import options_of
from crawler.truth import changed_fraction, words
from simhash_gate.page.parse import parse

DIFFERENT = 0.5
"""The share of words that differs on pages of which nobody doubts that they are two."""


class Capture(NamedTuple):
    """A page as it was at one place: a folder of a commit, or a time."""

    name: str
    url: str
    body: bytes


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch the pages of a recipe, and write pages and pairs."""
    recipe = (Path, "such as benchmarks/quality/archives.json")
    options = options_of(__doc__, arguments, {"recipe": recipe, "folder": (Path, "to write to")})
    maker = Maker(options.folder)
    for site in json.loads(options.recipe.read_text("utf-8")):
        add(maker, site["site"], site["article"], git(site) if "git" in site else warc(site))
    maker.write()
    return 0


def git(site: dict[str, Any]) -> Iterator[list[Capture]]:
    """Yield the pages of each place of a repository: a commit, and a folder of it."""
    with TemporaryDirectory() as folder:
        run = ["git", "-C", folder]
        subprocess.run([*run, "init", "--quiet", "--bare"], check=True)
        for commit, inside in site["places"]:
            fetch = [*run, "fetch", "--quiet", "--depth=1", site["git"], commit]
            subprocess.run(fetch, check=True)
            packed = subprocess.run(
                [*run, "archive", commit, "--", inside], check=True, stdout=subprocess.PIPE
            ).stdout
            with tarfile.open(fileobj=io.BytesIO(packed)) as files:
                found = {file.name: files.extractfile(file) for file in files if file.isfile()}
                yield [
                    Capture(name.removeprefix(inside), f"http://{site['site']}/{name}", body.read())
                    for name, body in sorted(found.items())
                    if body and re.search(site.get("pages", r"\.html$"), name)
                ]


def warc(site: dict[str, Any]) -> Iterator[list[Capture]]:
    """Yield the captures of URLs in each of some crawls: an index, and where its files are."""
    for index in site["indexes"]:
        found: list[Capture] = []
        for url in site["urls"]:
            asked = f"{index}?url={quote(url, safe='')}&output=json&filter=status:200"
            for line in urlopen(asked).read().splitlines()[: site.get("most", 1)]:
                at = json.loads(line)
                start = int(at["offset"])
                part = f"bytes={start}-{start + int(at['length']) - 1}"
                where = Request(site["files"] + at["filename"], headers={"Range": part})
                records = ArchiveIterator(io.BytesIO(urlopen(where).read()))
                page = at.get("url", url)
                found += [Capture(page, page, record.reader.read()) for record in records]
        yield found


def add(maker: Maker, site: str, article: str, places: Iterable[list[Capture]]) -> None:
    """Note the pages of each place, and what is true of those with one name, and of neighbours."""
    captures: defaultdict[str, list[tuple[str, list[str]]]] = defaultdict(list)
    for place in places:
        neighbours = []
        for capture in place:
            said = words_of(capture.body, article)
            if said:
                page = maker.page(capture.body, capture.url, len(said)), said
                captures[capture.name].append(page)
                neighbours.append(page)
        for (a, one), (b, other) in pairwise(neighbours):
            if changed_fraction(one, other) >= DIFFERENT:
                maker.pair(a, b, "diff", "neighbour", site)
    for pages in captures.values():
        for (a, one), (b, other) in pairwise(pages):
            label = "dup" if one == other else "update"
            maker.pair(a, b, label, "version", site, changed=changed_fraction(one, other))


def words_of(body: bytes, article: str) -> list[str]:
    """Return the words of the first element that an XPath expression finds; none for nothing."""
    root = parse(body)
    found = root.xpath(article) if root is not None else []
    return words("".join(texts(found[0]))) if found else []


if __name__ == "__main__":
    sys.exit(main())
