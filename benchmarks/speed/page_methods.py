"""What is done to a page, by name: our two ways, their stages, and our peers."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable

from lxml import html

from simhash_gate import read_page
from simhash_gate.page.blocks import blocks
from simhash_gate.page.clean import clean
from simhash_gate.page.extract import SteadyExtractor
from simhash_gate.page.flow import flow
from simhash_gate.page.markdown import write
from simhash_gate.page.parse import parse

Method = Callable[[bytes], object]

BARE = "lxml.html parse"
FINGERPRINT = "page to fingerprint"
MARKDOWN = "page to fingerprint and Markdown"
OURS: dict[str, Method] = {
    BARE: html.document_fromstring,
    FINGERPRINT: read_page,
    MARKDOWN: lambda body: read_page(body).markdown,
}
STAGES = ("parse", "clean", "extract", "flow", "blocks", "Markdown")

URL = "http://site.example/a/page.html"


def peers() -> tuple[dict[str, Method], list[str]]:
    """Return the peers that are installed, and a line for each that is not."""
    found, missing = {}, []
    for name, load in _PEERS.items():
        try:
            found[name] = load()
        except ModuleNotFoundError as error:
            missing.append(f"{name}: left out: needs {error.name}: pip install --group peers")
    return found, missing


def stages(body: bytes) -> dict[str, float]:
    """Read a page step by step; return the CPU seconds of each, without those of the features."""
    laps = [time.process_time()]

    def lap() -> None:
        laps.append(time.process_time())

    root = parse(body)
    lap()
    if root is None:
        return dict.fromkeys(STAGES, 0.0)
    cleaned = clean(root)
    lap()
    article = SteadyExtractor()(cleaned)
    lap()
    content = flow(article.element)
    lap()
    blocks(content)
    lap()
    write(content, URL)
    lap()
    return {name: b - a for name, a, b in zip(STAGES, laps, laps[1:], strict=False)}


def _plain_recipe() -> Method:
    recipe = importlib.import_module("benchmarks.quality.methods.plain").PlainRecipe()
    return lambda body: recipe.fingerprint(body, URL)


def _trafilatura(*, fast: bool) -> Method:
    extract = importlib.import_module("trafilatura").extract
    return lambda body: extract(body, output_format="markdown", fast=fast)


def _resiliparse() -> Method:
    extract = importlib.import_module("resiliparse.extract.html2text").extract_plain_text
    return lambda body: extract(body.decode("utf-8", "replace"), main_content=True)


def _selectolax() -> Method:
    parser: Method = importlib.import_module("selectolax.lexbor").LexborHTMLParser
    return parser


_PEERS: dict[str, Callable[[], Method]] = {
    "plain recipe: BeautifulSoup, readability-lxml, markdownify": _plain_recipe,
    "trafilatura": lambda: _trafilatura(fast=False),
    "trafilatura, fast": lambda: _trafilatura(fast=True),
    "resiliparse, main content": _resiliparse,
    "selectolax, parse alone": _selectolax,
}
