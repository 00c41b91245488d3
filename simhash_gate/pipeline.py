"""Bytes -> `Page` with its fingerprint: all that a worker, a notebook or an executor needs."""

from __future__ import annotations

import hashlib
import importlib
import json
import math
from collections.abc import Mapping
from dataclasses import InitVar, asdict, dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast
from urllib.parse import urljoin

import mmh3

from simhash_gate.fingerprints.features import (
    count_words,
    each_shingle,
    features,
    without,
    words,
    words_of_each,
)
from simhash_gate.fingerprints.simhash import simhash, simhash_of_set
from simhash_gate.fingerprints.volatile import is_of_page, is_volatile
from simhash_gate.page import Article, Draft, Extractor, blocks, clean, flow, parse
from simhash_gate.page.blocks import captions
from simhash_gate.page.identity import find_identity
from simhash_gate.page.title import text_of
from simhash_gate.sketch import Sketch, sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.html import HtmlElement

    from simhash_gate.fingerprints.features import Shingle
    from simhash_gate.page import Block, Cleaned
from simhash_gate.page.identity import Identity

ALGORITHM = 2  # raise it with every change that moves fingerprints
STEADY = "simhash_gate.page.extract.SteadyExtractor"
READABILITY = "simhash_gate.page.extract.ReadabilityExtractor"

_UNREADABLE = "unreadable:"
_UNDECIDED = ("sketch", "markdown")  # options that fingerprints do not depend on


def _invalid(name: str, value: object, allowed: str) -> ValueError:
    return ValueError(f"{name} = {value!r}: expected {allowed}")


@lru_cache(maxsize=8)
def _load_idf(source: str | tuple[tuple[str, float], ...]) -> dict[str, float]:
    table: Any = source
    if isinstance(source, str):
        try:
            table = json.loads(Path(source).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise _invalid("idf", source, f"a readable JSON file ({error})") from error
        table = table.items() if isinstance(table, dict) else None
    try:
        weights = {str(name): float(weight) for name, weight in table}
    except (TypeError, ValueError):
        weights = {"": math.nan}
    if not all(0 <= weight < math.inf for weight in weights.values()):
        raise _invalid("idf", source, "words or shingles with weights of 0 or more")
    return weights


@lru_cache(maxsize=8)
def _load_stop_words(source: str | tuple[str, ...]) -> frozenset[str]:
    lines: Any = source
    if isinstance(source, str):
        try:
            lines = Path(source).read_text(encoding="utf-8").split()
        except (OSError, ValueError) as error:
            raise _invalid("stop_words", source, f"a readable text file ({error})") from error
    if not isinstance(lines, (tuple, list)) or not all(isinstance(word, str) for word in lines):
        raise _invalid("stop_words", source, "a text file, or words")
    return frozenset(word for line in lines for word in words(line))


@lru_cache(maxsize=8)
def _load_extractor(path: str) -> Extractor:
    try:
        module, _, name = path.rpartition(".")
        return cast("Extractor", getattr(importlib.import_module(module), name)())
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise _invalid("extractor", path, f"the path of a class ({error})") from error


@dataclass(frozen=True)
class Options:
    """What decides the fingerprint of a page besides its bytes and its URL.

    `shingle` is `auto`, `word` or `char`; `shingle_size` counts words, `char_shingle_size`
    characters. `idf` is a JSON file or a mapping of word or shingle -> weight, `stop_words` a text
    file, or the words. `extractor` is the path of a class that finds the article. Mappings and
    lists are frozen into tuples. Raises ValueError for a value that is not allowed.

    `sketch` asks for `Page.sketch`; `markdown` asks for `Page.markdown` to be rendered where the
    page is read, not where it is first asked for. Neither decides a fingerprint.
    """

    shingle: Shingle = "auto"
    shingle_size: int = 3
    char_shingle_size: int = 5
    idf: str | tuple[tuple[str, float], ...] = ()
    stop_words: str | tuple[str, ...] = ()
    extractor: str = STEADY
    sketch: bool = False
    markdown: bool = False

    def __post_init__(self) -> None:
        given = cast("Any", self)
        if isinstance(given.idf, Mapping):
            object.__setattr__(self, "idf", tuple(sorted(given.idf.items())))
        if isinstance(given.idf, Path):
            object.__setattr__(self, "idf", str(given.idf))
        if isinstance(given.stop_words, (list, set, frozenset)):
            object.__setattr__(self, "stop_words", tuple(sorted(given.stop_words)))
        if isinstance(given.stop_words, Path):
            object.__setattr__(self, "stop_words", str(given.stop_words))
        if self.shingle not in ("auto", "word", "char"):
            raise _invalid("shingle", self.shingle, "'auto', 'word' or 'char'")
        for name in ("shingle_size", "char_shingle_size"):
            size = getattr(self, name)
            if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= 20:
                raise _invalid(name, size, "a whole number from 1 to 20")
        _load_idf(self.idf)
        _load_stop_words(self.stop_words)
        _load_extractor(self.extractor)


class Renderer(Protocol):
    """Anything that makes Markdown."""

    def render(self) -> str:
        """Return the Markdown."""


@dataclass(frozen=True)
class Page:
    """What the pipeline makes of one response.

    `words` is a count, without the lines that tell of the page itself (clocks, counters), unless
    there is nothing else; `fingerprint` 64 bits unsigned, or None, and then `reason` says why;
    `digest` an unsigned 64-bit hash of the words that last, on a short page with its dates, 0 for
    none;
    `listing` tells that the page is mostly links to others. `sketch` is what `Sketch.encode` makes
    of it, if the options ask for one. With a `draft`, `markdown` is rendered when it is first asked
    for; a page that is pickled before takes its draft along.
    """

    title: str
    markdown: str
    words: int
    fingerprint: int | None
    digest: int
    listing: bool
    reason: str | None
    sketch: bytes = b""
    draft: InitVar[Renderer | None] = None

    def __post_init__(self, draft: Renderer | None) -> None:
        if draft is not None:
            vars(self)["_draft"] = draft
            del vars(self)["markdown"]

    def __getattr__(self, name: str) -> Any:
        if name != "markdown" or "_draft" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        vars(self)["markdown"] = text = vars(self).pop("_draft").render()
        return text

    def drafted(self, draft: Renderer | None) -> Page:
        """Return this page with Markdown that `draft` renders when it is first asked for.

        With None it has no Markdown, and nobody may ask for it.
        """
        page = object.__new__(Page)
        vars(page).update(vars(self))
        vars(page).pop("markdown", None)
        vars(page).pop("_draft", None)
        if draft is not None:
            vars(page)["_draft"] = draft
        return page

    @property
    def is_rendered(self) -> bool:
        """Whether the Markdown is there already."""
        return "markdown" in vars(self)

    @property
    def unreadable(self) -> bool:
        """Whether reading failed, which an empty page is no case of."""
        return (self.reason or "").startswith(_UNREADABLE)


@dataclass(frozen=True)
class Reading:
    """A page with what it was made from: its normalised words, and those that were hashed."""

    page: Page
    words: list[str]
    hashed: list[str]
    options: Options

    @property
    def features(self) -> dict[str, float]:
        """The features that were hashed: each shingle, and its weight."""
        return _features(self.hashed, self.options)


def read_page(
    body: bytes, *, url: str = "", encoding: str | None = None, options: Options = Options()
) -> Page:
    """Read a page's article from its bytes. `encoding` is what the HTTP header says.

    Never raises on bad HTML: a page that can't be read has no fingerprint, and a reason.
    """
    return read_closely(body, url=url, encoding=encoding, options=options).page


def read_closely(
    body: bytes, *, url: str = "", encoding: str | None = None, options: Options = Options()
) -> Reading:
    """Read a page as `read_page` does, and return it with its words and features."""
    try:
        return _read(body, url, encoding, options)
    except Exception as error:  # a parser or a user's extractor may do anything to one page
        return _without(f"{_UNREADABLE} {type(error).__name__}: {error}", options)


def pipeline_version(options: Options = Options()) -> str:
    """Return a short digest of all that decides fingerprints; two versions never compare."""
    parts = {name: value for name, value in asdict(options).items() if name not in _UNDECIDED} | {
        "algorithm": ALGORITHM,
        "idf": sorted(_load_idf(options.idf).items()),
        "stop_words": sorted(_load_stop_words(options.stop_words)),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


def _read(body: bytes, url: str, encoding: str | None, options: Options) -> Reading:
    root = parse(body, encoding)
    if root is None:
        return _without("empty page", options)
    base = _base(root, url)
    identity = find_identity(root, url) if options.sketch else None
    cleaned = clean(root, whole=options.sketch)
    article = _load_extractor(options.extractor)(cleaned)
    content = flow(article.element)
    found = blocks(content)
    if not found:
        # Chrome is all there is: then that is what the page says.
        root = cast("HtmlElement", parse(body, encoding))
        article = Article(root if root.find("body") is None else root.find("body"), True)
        content = flow(article.element)
        found = blocks(content)
    title = cleaned.titles.title
    if not found:
        return _without("no text", options, title)
    tokens = words_of_each([block.text for block in found])
    every = list(chain.from_iterable(tokens))
    fleeting = [_is_fleeting(*pair, article) for pair in zip(found, tokens, strict=True)]
    said = [own for own, gone in zip(tokens, fleeting, strict=True) if not gone]
    lasting = _lasting(found, tokens, fleeting)
    hashed = lasting or every
    draft = Draft(content, base)
    page = Page(
        title=title,
        markdown=draft.render() if options.markdown else "",
        words=count_words(list(chain.from_iterable(said)) or every),
        fingerprint=_fingerprint(hashed, options) if hashed else None,
        digest=_digest(lasting, found, tokens, fleeting),
        listing=article.listing,
        reason=None if hashed else "no words",
        sketch=_sketch(found, fleeting, article, cleaned, identity).encode() if identity else b"",
        draft=None if options.markdown else draft,
    )
    return Reading(page, every, hashed, options)


def _fingerprint(tokens: list[str], options: Options) -> int:
    if _load_idf(options.idf):
        return simhash(_features(tokens, options))
    said = without(_load_stop_words(options.stop_words), tokens)
    sizes = options.shingle_size, options.char_shingle_size
    return simhash_of_set(each_shingle(said, options.shingle, *sizes))


def _features(tokens: list[str], options: Options) -> dict[str, float]:
    return features(
        tokens,
        kind=options.shingle,
        size=options.shingle_size,
        char_size=options.char_shingle_size,
        idf=_load_idf(options.idf),
        stop_words=_load_stop_words(options.stop_words),
    )


_FLEETING = frozenset({"text", "heading"})
_LONG = 40  # words
_FLEETING_LINES = 10


def _is_fleeting(block: Block, tokens: list[str], article: Article) -> bool:
    return block.kind in _FLEETING and (
        (block.linked and not article.listing) or is_volatile(block.text, len(tokens))
    )


def _digest(
    lasting: list[str], found: list[Block], tokens: list[list[str]], fleeting: list[bool]
) -> int:
    """Hash what the page says; on a page of few words, a date may be all that tells it apart."""
    said = lasting
    if len(lasting) <= _LONG:
        said = [
            word
            for block, own, gone in zip(found, tokens, fleeting, strict=True)
            if not (gone and is_of_page(block.text))
            for word in own
        ]
    text = " ".join(said)
    return mmh3.hash64(text, signed=False)[0] if text else 0


def _lasting(found: list[Block], tokens: list[list[str]], fleeting: list[bool]) -> list[str]:
    """The words that both copies of a page have, wherever and whenever they were fetched.

    Templates write the headline in several ways, with the site's name or the section's; a page with
    enough other words is known by these.
    """
    kept = [[] if gone else own for own, gone in zip(tokens, fleeting, strict=True)]
    if found[0].kind == "heading" and sum(map(len, kept[1:])) > _LONG:
        kept[0] = []
    return list(chain.from_iterable(kept))


def _sketch(
    found: list[Block],
    fleeting: list[bool],
    article: Article,
    page: Cleaned,
    identity: Identity,
) -> Sketch:
    headline = found[0].text if found[0].kind == "heading" else ""
    rest = list(zip(found, fleeting, strict=True))[1 if headline else 0 :]
    above, place = article.above, ""
    if above is not None:
        place = " ".join(f"{e.tag} {e.get('class', '')}" for e in (above.getparent(), above))
    return Sketch(
        headline="" if article.titled else headline,
        title=page.titles.title,
        canonical=identity.canonical,
        identifiers=identity.identifiers,
        sentences=tuple(_sentences(block for block, gone in rest if not gone)),
        fleeting=tuple(block.text for block, gone in rest if gone)[:_FLEETING_LINES],
        outer_headline="" if above is None else text_of(above),
        outer_place=place,
    ).within(_sentences(page.whole), _sentences(captions(article.element)))


def _sentences(found: Iterable[Block]) -> Iterator[str]:
    for block in found:
        yield from [block.text] if block.kind == "code" else sentences(block.text)


def _without(reason: str, options: Options, title: str = "") -> Reading:
    return Reading(Page(title, "", 0, None, 0, False, reason), [], [], options)


def _base(root: HtmlElement, url: str) -> str:
    href = next((base.get("href") for base in root.iter("base") if "href" in base.attrib), None)
    try:
        return url if href is None else urljoin(url, href.strip())
    except ValueError:
        return url
