"""`python -m benchmarks.quality.archives RECIPE FOLDER`: real pages from public archives.

A recipe names pages by repository and commit, or by URL in a crawl of Common Crawl; nothing of them
is shipped. Whoever runs this fetches them. Into `pairs` and `sites` come pages whose labels are the
words in the element that the recipe calls the article of a site: the same words are a copy, others
an update; two pages that come one after the other in one place are different pages. Into `text`
come those whose main content people have marked (the format of WCXB), into `captures` snapshots of
one page after the other (that of Open Terms Archive).
"""

from __future__ import annotations

import gzip
import io
import json
import re
import subprocess
import sys
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import quote
from urllib.request import Request, urlopen

from fastwarc.warc import ArchiveIterator

from benchmarks.quality.generated import Maker
from benchmarks.quality.methods import texts
from benchmarks.quality.sets import REAL_CHANGE
from benchmarks.speed.measure import options_of, say
from crawler.truth import changed_fraction, words
from simhash_gate.page.parse import parse

DIFFERENT = 0.5
"""The share of words that differs on pages of which nobody doubts that they are two."""
MOST_SAME = 900
_OTHER_SELECTOR = re.compile("Refilter|Apply ")


class Capture(NamedTuple):
    """A page as it was at one place: a folder of a commit, or a time."""

    name: str
    url: str
    body: bytes


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch the pages of a recipe, and write them with their labels."""
    recipe = (Path, "such as benchmarks/quality/archives.json")
    options = options_of(__doc__, arguments, {"recipe": recipe, "folder": (Path, "to write to")})
    fetch(options.recipe, options.folder)
    return 0


def fetch(recipe: Path, folder: Path) -> None:
    """Fetch the pages of a recipe into folders of a folder."""
    maker = Maker(folder / "pairs")
    sites, pairs = list[dict[str, Any]](), list[dict[str, Any]]()
    for site in json.loads(recipe.read_text("utf-8")):
        say(f"fetching {site['site']}")
        try:
            if "article" in site:
                places = git(site) if "git" in site else warc(site)
                sites += add(maker, site["site"], site["article"], places)
            elif "snapshots" in site:
                pairs += captures(site, folder / "captures")
            else:
                marked(site, folder / "text")
        except (OSError, subprocess.CalledProcessError) as error:
            say(f"{site['site']}: left out: {error}")
    if sites:
        maker.write()
        write(folder / "sites/pages.jsonl", sites)
    if pairs:
        write(folder / "captures/pairs.jsonl", pairs)


def files(site: dict[str, Any]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield the files of each place of a repository: a commit, and a folder of it."""
    with TemporaryDirectory() as folder:
        run = ["git", "-C", folder]
        subprocess.run([*run, "init", "--quiet", "--bare"], check=True)
        for commit, inside in site["places"]:
            fetched = [*run, "fetch", "--quiet", "--depth=1", site["git"], commit]
            subprocess.run(fetched, check=True)
            packed = said_by([*run, "archive", commit, "--", inside])
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                found = {file.name: archive.extractfile(file) for file in archive if file.isfile()}
                yield inside, {name: body.read() for name, body in sorted(found.items()) if body}


def git(site: dict[str, Any]) -> Iterator[list[Capture]]:
    """Yield the pages of each place of a repository."""
    for inside, found in files(site):
        yield [
            Capture(name.removeprefix(inside), f"http://{site['site']}/{name}", body)
            for name, body in found.items()
            if re.search(site.get("pages", r"\.html$"), name)
        ]


def marked(site: dict[str, Any], folder: Path) -> None:
    """Write pages whose main content people have marked."""
    lines = []
    for inside, found in files(site):
        for name, told in found.items():
            id_ = Path(name).stem
            if name.endswith(".json") and (page := found.get(f"{inside}html/{id_}.html.gz")):
                label = json.loads(told)
                truth, kind = label["ground_truth"], label["_internal"]["page_type"]["primary"]
                line = {"id": id_, "path": f"pages/{id_}.html", "url": label["url"], "kind": kind}
                lines.append(
                    line | {"title": truth.get("title"), "text": truth.get("main_content")}
                )
                put(folder / line["path"], gzip.decompress(page))
    write(folder / "pages.jsonl", lines)


def captures(site: dict[str, Any], folder: Path) -> list[dict[str, Any]]:
    """Return pairs of snapshots of one page, labelled by the texts that a selector took from them.

    Snapshots and texts have a repository each, with a commit for each that is new. Pairs between
    which the selector changed are left out, and of those that are the same all but some.
    """
    with TemporaryDirectory() as made:
        snapshots, texts_ = (f"{made}/{name}" for name in ("snapshots", "versions"))
        for name, at in (("snapshots", snapshots), ("versions", texts_)):
            subprocess.run(["git", "clone", "--quiet", "--bare", site[name], at], check=True)
        versions = history(texts_, ".md")
        pairs = []
        for path, visits in history(snapshots, ".html").items():
            known = versions.get(path, [])
            url = f"https://{site['site']}.example/{quote(path)}"
            for (before, a, _), (after, b, _) in pairwise(visits):
                old = [v for v in known if v[0] <= before][-1:]
                new = [v for v in known if before < v[0] <= after]
                if a == b or not old or any(_OTHER_SELECTOR.match(v[2]) for v in new):
                    continue
                label, changed = "same", 0.0
                if new:
                    said = [
                        plain(said_by(["git", "-C", texts_, "show", v[1]])) for v in (*old, new[-1])
                    ]
                    changed = changed_fraction(*said)
                    label = "changed" if changed else "format"
                told = {"url": url, "label": label, "changed": changed, "collection": site["site"]}
                pairs.append({"a": a, "b": b, "before": before, "after": after, **told})
        same = [pair for pair in pairs if pair["label"] == "same"]
        left = {id(pair) for pair in Random(1).sample(same, max(0, len(same) - MOST_SAME))}
        pairs = [pair for pair in pairs if id(pair) not in left]
        for pair in pairs:
            for side in ("a", "b"):
                blob, pair[side] = pair[side], f"pages/{pair[side]}.html"
                put(folder / pair[side], said_by(["git", "-C", snapshots, "show", blob]))
    return pairs


def history(repository: str, suffix: str) -> dict[str, list[tuple[int, str, str]]]:
    """Return by path, without its suffix, when it was written, its blob, and the subject."""
    log = ["git", "-C", repository, "-c", "core.quotePath=false", "log", "--reverse", "--raw"]
    log += ["--format=%x00%at %s", "--no-abbrev", "--no-renames", "--diff-filter=AM"]
    found: defaultdict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for entry in said_by(log).decode().split("\0")[1:]:
        head, *changed = entry.splitlines()
        at, _, subject = head.partition(" ")
        for line in filter(None, changed):
            about, _, path = line.partition("\t")
            if path.endswith(suffix):
                found[path.removesuffix(suffix)].append((int(at), about.split()[3], subject))
    return found


def plain(text: bytes) -> list[str]:
    """Return the words of Markdown without its links and marks."""
    return words(re.sub(r"\]\([^)\s]*\)", "", text.decode()))


def said_by(command: Sequence[str]) -> bytes:
    """Return what a command prints."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def put(path: Path, body: bytes) -> None:
    """Write a file, and the folders that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)


def write(path: Path, lines: Iterable[Any]) -> None:
    """Write JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


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


def add(
    maker: Maker, site: str, article: str, places: Iterable[list[Capture]]
) -> Iterator[dict[str, Any]]:
    """Note the pages of each place, and what is true of those with one name, and of neighbours.

    Yields the lines of its pages as those of a whole site.
    """
    captures: defaultdict[str, list[tuple[str, list[str]]]] = defaultdict(list)
    known: list[tuple[str, Counter[str]]] = []
    for place in places:
        neighbours = []
        for capture in place:
            said = words_of(capture.body, article)
            if said:
                page = maker.page(capture.body, capture.url, len(said)), said
                captures[capture.name].append(page)
                neighbours.append(page)
                yield of_site(page, capture.url, site, known)
        for (a, one), (b, other) in pairwise(neighbours):
            if changed_fraction(one, other) >= DIFFERENT:
                maker.pair(a, b, "diff", "neighbour", site)
    for pages in captures.values():
        for (a, one), (b, other) in pairwise(pages):
            label = "dup" if one == other else "update"
            maker.pair(a, b, label, "version", site, changed=changed_fraction(one, other))


def of_site(
    page: tuple[str, list[str]], url: str, site: str, known: list[tuple[str, Counter[str]]]
) -> dict[str, Any]:
    """Return the line of a page: is it like an earlier one of its site, or does it say the same?"""
    id_, said = page[0], Counter(page[1])
    copies = [other for other, its in known if its == said]
    alike = (2 * (its & said).total() / (its.total() + said.total()) for _, its in known)
    line: dict[str, Any] = {"id": id_, "path": f"../pairs/pages/{id_}.html", "url": url}
    fresh = max(alike, default=0) <= 1 - REAL_CHANGE
    line |= {"domain": site, "kind": "site", "scored": True, "fresh": fresh}
    known.append((id_, said))
    return line | ({"copies": copies} if copies else {})


def words_of(body: bytes, article: str) -> list[str]:
    """Return the words of the first element that an XPath expression finds; none for nothing."""
    root = parse(body)
    found = root.xpath(article) if root is not None else []
    return words("".join(texts(found[0]))) if found else []


if __name__ == "__main__":
    sys.exit(main())
