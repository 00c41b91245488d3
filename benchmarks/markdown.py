"""`python -m benchmarks.markdown FOLDER`: does Markdown say what the article says that it is of?

Each method gives the HTML of an article, and Markdown. A CommonMark parser with the tables and the
strikethrough of GFM, and with formulas in dollar signs, makes HTML of the Markdown, and both are
compared: seven properties, and for each the share of pages on which it holds.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urljoin

from lxml import etree, html
from lxml.html import HtmlElement
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from benchmarks.quality.methods import texts
from benchmarks.speed.measure import options_of, say, table
from simhash_gate.page.address import is_address, joined
from simhash_gate.page.document import read_document
from simhash_gate.page.extract import SteadyExtractor
from simhash_gate.page.flow import is_layout
from simhash_gate.page.markdown import write
from simhash_gate.page.parse import in_utf8
from simhash_gate.page.vocabulary import INLINE

HEADINGS = {f"h{level}" for level in range(1, 7)}
CODE = {"code", "kbd", "samp", "tt"}
LISTS = {"ul", "ol", "dl"}
ITEMS = {"li", "dt", "dd"}
ALL_CODE = {"pre", *CODE}
_CANDIDATE = re.compile(r"([^\s,]\S*?)(?:(?<!,),+(?=\s|$)|\s[^,]*|$)")  # of a `srcset`
AS_BLOCK = re.compile(r"display\s*:\s*block")
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PARSER.use(dollarmath_plugin, allow_digits=False, allow_space=False, double_inline=True)
PARSER.validateLink = bool  # type: ignore[method-assign, assignment]  # nobody follows a link


class View(NamedTuple):
    """What a tree says, as it is compared.

    `words` are those of its text in their order. `code` is verbatim for each block, and for what
    is within lines one text without white space. `tables` have rows of cells with their words.
    `links` and `images` are where they lead, an image to one of several addresses. `lists` have
    depth and number of each item, and `headings` level and words.
    """

    words: list[str]
    code: list[str]
    tables: list[list[list[str]]]
    links: list[str]
    images: list[set[str]]
    lists: list[tuple[int, int | None]]
    headings: list[tuple[str, str]]


PROPERTIES = View._fields


def view(root: HtmlElement, base: str = "") -> View:
    """Return what a tree says. The spans of its tables are filled, and its boxes are written."""
    root = deepcopy(root)
    for grid in root.iter("table"):
        if not is_layout(grid):
            fill(grid)
    for box in root.iter("input"):
        if box.get("type") == "checkbox":
            box.tail = f"[{'x' if 'checked' in box.attrib else ' '}] {box.tail or ''}"
    within = [e for e in root.iter(*CODE) if nearest(e, ALL_CODE) is None]
    code = [text for e in root.iter("pre") if (text := code_of(e))]
    anchors = (e for e in root.iter("a") if leads(e, base) and nearest(e, {"pre"}) is None)
    headings = (e for e in root.iter(*HEADINGS) if nearest(e, HEADINGS) is None)
    images = (e for e in root.iter("img") if nearest(e, {"pre"}) is None)
    return View(
        words_in(root),
        [*code, "".join(chain.from_iterable(map(words_in, within)))],
        [rows for e in root.iter("table") if not is_layout(e) and (rows := rows_of(e))],
        [link for e in anchors if (link := absolute(base, e.get("href")))],
        [found for e in images if (found := sources(e, base))],
        list(items_of(root, base)),
        [(e.tag, " ".join(said)) for e in headings if (said := words_in(e))],
    )


def rendered(markdown: str) -> HtmlElement:
    """Return the tree of what a reader of Markdown sees."""
    return html.fromstring(f"<div>{PARSER.render(markdown)}</div>")


def kept(article: View, found: View) -> list[bool]:
    """Tell of each property if what an article says is found; tables may stand among others."""
    rest = iter(found.tables)
    equal = [mine == theirs for mine, theirs in zip(article, found, strict=True)]
    equal[PROPERTIES.index("tables")] = all(rows in rest for rows in article.tables)
    equal[PROPERTIES.index("images")] = len(article.images) == len(found.images) and all(
        mine & theirs for mine, theirs in zip(article.images, found.images, strict=True)
    )
    return equal


def nearest(element: HtmlElement, tags: set[str]) -> HtmlElement | None:
    """Return the innermost of the elements around one that has one of the tags."""
    return next((e for e in element.iterancestors() if e.tag in tags), None)


def words_in(element: HtmlElement) -> list[str]:
    """Return the words of an element; a dollar sign may be a mark."""
    return "".join(texts(element)).replace("$", "").split()


def shows(element: HtmlElement, base: str) -> bool:
    """Tell if a reader sees a text or an image in an element."""
    return bool("".join(texts(element)).strip()) or any(
        sources(e, base) for e in element.iter("img")
    )


def leads(anchor: HtmlElement, base: str) -> bool:
    """Tell if a link shows anything outside of others in it, which no browser has there."""
    inner = deepcopy(anchor)
    for other in list(inner.iterdescendants("a")):
        other.drop_tree()
    return shows(inner, base)


def code_of(pre: HtmlElement) -> str:
    """Return the lines of a block of code; white space around them shows nothing."""
    parts: list[str] = []
    for event, element in etree.iterwalk(pre, events=("start", "end")):
        is_line = element.tag not in INLINE or AS_BLOCK.search(element.get("style", ""))
        if element.tag == "br":
            parts += ["\n"] if event == "start" else []
        elif is_line and element is not pre and parts and not parts[-1].endswith("\n"):
            parts.append("\n")
        text = element.text if event == "start" else element.tail
        if text and (event == "start" or element is not pre):
            parts.append(text)
    lines = "".join(parts).replace("\r\n", "\n").replace("\r", "\n")
    return lines.strip("\n").rstrip() if lines.strip() else ""


def absolute(base: str, href: str | None) -> str | None:
    """Return where an address leads, None if nowhere, in one of the ways to write it."""
    if href is None or not is_address(href):
        return None
    return unquote(PARSER.normalizeLink(urljoin(base, href.strip())))


def sources(image: HtmlElement, base: str) -> set[str]:
    """Return the addresses that an image has, for any screen and script."""
    found = []
    picture = next(image.iterancestors("picture"), None)
    for element in [image] if picture is None else picture.iter("img", "source"):
        for name, value in element.items():
            if name.endswith("srcset"):
                found += _CANDIDATE.findall(value)
            elif "src" in name or (name.startswith("data-") and "/" in value):
                found.append(value)
    return set(filter(None, (absolute(base, address) for address in found)))


def items_of(root: HtmlElement, base: str) -> Iterator[tuple[int, int | None]]:
    """Yield depth and number of each item that a reader sees.

    A definition list is one of items that a term begins, or a definition without one.
    """
    last: dict[HtmlElement | None, int] = {}
    begun: dict[HtmlElement | None, bool] = {}  # a list is in the item before it, if that shows
    terms: dict[HtmlElement | None, HtmlElement | None] = {}  # of lists: what can be defined
    for item in root.iter(*ITEMS):
        holder = nearest(item, LISTS)
        number = None
        if item.tag == "li" and holder is not None and holder.tag == "ol":
            start, value = holder.get("start", ""), item.get("value", "")
            number = last.get(holder, int(start) - 1 if start.isdecimal() else 0) + 1
            last[holder] = number = int(value) if value.isdecimal() else number
        if not shows(item, base) or (item.tag != "li" and holder is None):
            if item.tag != "dd" or terms.get(holder) is None:
                begun[holder], terms[holder] = False, None
            continue
        if item.tag != "li":
            term, terms[holder] = terms.get(holder), item if item.tag == "dt" else None
            if item.tag == "dd" and term is not None:
                terms[holder] = term
                continue
        around = item.iterancestors(*LISTS)
        yield 1 + sum(begun.get(outer, False) for outer in around if outer is not holder), number
        begun[holder] = True


def fill(grid: HtmlElement) -> None:
    """Put a copy of a cell into each place that it spans; columns where none begins are no more."""
    rows = [row for row in grid.iter("tr") if nearest(row, {"table"}) is grid]
    places: dict[tuple[int, int], HtmlElement] = {}
    begun = set()
    for y, row in enumerate(rows):
        x = 0
        below = 1 + sum(1 for _ in row.itersiblings("tr"))
        for cell in row.iterchildren("td", "th"):
            while (y, x) in places:
                x += 1
            begun.add(x)
            wide, high = (int(v) if (v := cell.get(n, "")).isdecimal() else 1 for n in SPANS)
            for down in range(min(high or below, below)):
                for right in range(max(1, min(wide, 1000))):
                    places.setdefault((y + down, x + right), cell)
            x += 1
    for y, row in enumerate(rows):
        cells = [places.get((y, x)) for x in sorted(begun)]
        for cell in list(row.iterchildren("td", "th")):
            row.remove(cell)
        for cell in cells:
            copy = html.Element("td") if cell is None else deepcopy(cell)
            for name in SPANS:
                copy.attrib.pop(name, None)
            row.append(copy)


SPANS = ("colspan", "rowspan")


def rows_of(grid: HtmlElement) -> list[list[str]]:
    """Return the words of the cells of each row that says something."""
    rows = []
    for row in grid.iter("tr"):
        cells = [" ".join(words_in(cell)) for cell in row.iterchildren("td", "th")]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            rows.append(cells)
    return rows


Read = tuple[HtmlElement, str, str]
"""An article, the address that its links are relative to, and its Markdown."""


@cache
def _ours(body: bytes, url: str) -> Read | None:
    document = read_document(body, url, None, SteadyExtractor())
    if document is None:
        return None
    base = joined(url, document.flow.base)
    return document.article.element, base, write(document.flow, url)


def _of_ours(convert: Callable[[str], str], body: bytes, url: str) -> Read | None:
    """Give what converts HTML the article that we found."""
    ours = _ours(body, url)
    if ours is None:
        return None
    return ours[0], ours[1], convert(html.tostring(ours[0], encoding="unicode", with_tail=False))


def _markdownify(source: str) -> str:
    from markdownify import markdownify

    return markdownify(source, heading_style="ATX")


def _html_to_markdown(source: str) -> str:
    from html_to_markdown import convert

    return convert(source).content or ""


def _readability(body: bytes, url: str) -> Read:
    from readability import Document

    summary = Document(in_utf8(body).decode()).summary(html_partial=True)
    return html.fragment_fromstring(summary, create_parent=True), url, _markdownify(summary)


def _trafilatura(body: bytes, url: str) -> Read | None:
    from trafilatura import extract

    text = in_utf8(body).decode()
    told = {"include_links": True, "include_images": True, "include_formatting": True, "url": url}
    article = extract(text, output_format="html", **told)
    markdown = extract(text, output_format="markdown", **told)
    return (html.fromstring(article), url, markdown or "") if article else None


METHODS: dict[str, tuple[str, Callable[[bytes, str], Read | None]]] = {
    "ours": ("**simhash_gate**", _ours),
    "html-to-markdown": ("html-to-markdown", partial(_of_ours, _html_to_markdown)),
    "markdownify": ("markdownify", partial(_of_ours, _markdownify)),
    "readability": ("markdownify on readability-lxml's article", _readability),
    "trafilatura": ("trafilatura, its own article", _trafilatura),
}


def measure(names: Sequence[str], page: tuple[Path, str]) -> dict[str, list[bool] | str | None]:
    """Tell what each method keeps on a page: None without an article, a text where it fails."""
    path, url = page
    body, told = path.read_bytes(), dict[str, Any]()
    for name in names:
        try:
            read = METHODS[name][1](body, url)
            told[name] = read and kept(view(read[0], read[1]), view(rendered(read[2]), read[1]))
        except ModuleNotFoundError:
            raise
        except Exception as error:  # of other people's programs
            told[name] = repr(error)
    _ours.cache_clear()
    return told


def pages_of(folder: Path) -> list[tuple[Path, str]]:
    """Return the pages of a corpus and their URLs, by `pages.jsonl` or `pairs.jsonl`."""
    urls: dict[str, str] = {}
    for name, keys in (("pages.jsonl", ("path",)), ("pairs.jsonl", ("a", "b"))):
        if (folder / name).exists():
            for line in map(json.loads, (folder / name).open(encoding="utf-8")):
                urls.update({str(line[key]): line["url"] for key in keys if line.get("url")})
    paths = sorted(folder.rglob("*.html"))
    known = ((path, str(path.relative_to(folder))) for path in paths)
    return [(path, urls.get(name, f"https://pages.example/{name}")) for path, name in known]


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, print the table, and say on which pages the gate loses what."""
    flags: dict[str, tuple[Any, ...]] = {
        "folder": (Path, "of pages, with their URLs in pages.jsonl or pairs.jsonl"),
        "--methods": (",".join(METHODS), "which, by commas"),
        "--workers": (os.cpu_count() or 1, "processes"),
    }
    options = options_of(__doc__, arguments, flags)
    pages = pages_of(options.folder)
    names = options.methods.split(",")
    with ProcessPoolExecutor(options.workers) as pool:
        told = list(pool.map(partial(measure, names), pages, chunksize=8))
    rows = []
    for name in names:
        found = [(path, each[name]) for (path, _), each in zip(pages, told, strict=True)]
        read = [(path, holds) for path, holds in found if isinstance(holds, list)]
        errors = [f"{path.name}: {holds}" for path, holds in found if isinstance(holds, str)]
        columns = zip(*(holds for _, holds in read), strict=True)
        shares = [f"{sum(column) / len(column):.2%}" for column in columns]
        told_of = dict(zip(PROPERTIES, shares, strict=True)) if read else {}
        rows.append({"method": METHODS[name][0], "pages": len(read), **told_of})
        if errors:
            say(f"{name}: failed on pages: {len(errors)}, the first {errors[0]}")
        for path, holds in read if name == "ours" else ():
            if lost := [each for each, held in zip(PROPERTIES, holds, strict=True) if not held]:
                say(f"lost: {', '.join(lost)}: {path}")
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
