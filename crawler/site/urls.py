"""Which URLs an article has: one for each version, and the copies of it that real sites make."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from crawler.site.articles import Article

# (encoding of the bytes, charset in the header, charset in the page); some of them contradict.
Charset = tuple[str, str, str]
PLAIN: Charset = ("utf-8", "utf-8", "utf-8")
CHARSETS: dict[str, list[Charset]] = {
    "en": [("cp1252", "iso-8859-1", ""), ("utf-8", "", ""), ("utf-8", "iso-8859-1", "utf-8")],
    "de": [("cp1252", "iso-8859-1", ""), ("cp1252", "", "iso-8859-1"), ("cp1252", "utf-8", "")],
    "ar": [("cp1256", "windows-1256", ""), ("utf-8", "", "utf-8")],
    "zh": [("gb18030", "gb2312", ""), ("gb18030", "", "gbk"), ("utf-8", "", "")],
}
CAMPAIGNS = ["spring", "brand", "retarget", "evening", "push"]
SOURCES = ["newsletter", "twitter", "facebook", "rss", "partner"]


class View(NamedTuple):
    """One URL under which a version of an article can be seen."""

    article: Article
    version: int
    href: str
    kind: str
    design: str
    charset: Charset = PLAIN


def base_path(article: Article, version: int) -> str:
    """Return the main URL of a version: later ones live at their own, or are a revision."""
    first = f"/{article.section}/{article.published:%Y/%m}/{article.slug}"
    if version == 1:
        return first
    return f"/live/{article.slug}/{version}" if article.number % 2 else f"{first}?rev={version}"


def views(article: Article, version: int, design: str) -> list[View]:
    """Return all views of a version, its main one first.

    `design` is that of the article's section; a copy in another one is what a redesign half-way
    through makes.
    """
    rng = Random(f"{article.seed}/views/{article.number}/{version}")
    base = base_path(article, version)
    also = "&" if "?" in base else "?"
    found: list[View] = []

    def add(kind: str, href: str, look: str) -> None:
        strange = rng.random() < 0.05
        charset = rng.choice(CHARSETS[article.language]) if strange else PLAIN
        found.append(View(article, version, href, kind, look, charset))

    add("main", base, design)
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        source, campaign = rng.choice(SOURCES), rng.choice(CAMPAIGNS)
        query = f"utm_source={source}&utm_medium=link&utm_campaign={campaign}-{rng.randint(1, 99)}"
        if rng.random() < 0.4:
            query = f"fbclid=IwAR{rng.getrandbits(96):024x}"
        add("tracking", f"{base}{also}{query}", design)
    if rng.random() < 0.3:
        add("print", f"/print/{article.number}?version={version}", "print")
    if rng.random() < 0.3:
        add("amp", f"/amp{base}", "amp")
    if rng.random() < 0.3:
        add("redesign", f"/{'beta' if design == 'table' else 'classic'}{base}", other(design))
    if rng.random() < 0.12:
        add("comments", f"{base}{also}comments=all", design)
    if rng.random() < 0.08:
        add("mobile", f"/m{base}", "hashed")
    return found


def other(design: str) -> str:
    """Return the design on the other side of the redesign."""
    return "semantic" if design == "table" else "table"
