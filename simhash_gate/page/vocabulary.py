"""The words of HTML, of classes and of ids that tell an article from what stands around it."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import pairwise, takewhile


def word_set(names: str) -> frozenset[str]:
    """Return the words of a text, which white space separates."""
    return frozenset(names.split())


HEADINGS = word_set("h1 h2 h3 h4 h5 h6")
CELLS = word_set("td th")
MEDIA = word_set("audio video iframe object embed")
INLINE = MEDIA | word_set("""
    a abbr acronym b bdi bdo big button cite code data del dfn em font i img ins kbd label mark math
    nobr picture q rp rt ruby s samp small source span strike strong sub sup time tt u var wbr
""")
INVISIBLE = word_set("""
    script style noscript template svg select textarea applet
    canvas dialog datalist map frame link meta
""")

BOILERPLATE_TAGS = word_set("nav aside form header footer")
BOILERPLATE_ROLES = word_set("navigation complementary banner contentinfo search alert")
# Words of classes and ids, and of custom tags: places around an article,
PLACE_TOKENS = word_set("""
    sidebar sidebars widgetarea sphinxsidebar rightcol rightcolumn rightrail footer colophon
    masthead ccbanner ccdiv ccwindow
""")
_MENUS = word_set("""
    nav navbar navigation subnav sitenav topnav menu submenu breadcrumb breadcrumbs offcanvas
    toolbar topbar skip skiplink pagination pager paginator pagenav copyright gutter linenos
""")
BOILERPLATE_TOKENS = PLACE_TOKENS | _MENUS
# and what does something. Where paragraphs are in one of these, its name is that of a part.
MENU_TOKENS = _MENUS | word_set("""
    share shares sharing sharebar social socials promo promos promotion readmore
    signup subscription newsletter newsletters
""")
# What is another at each visit.
AD_TOKENS = word_set("""
    ad ads adbox adslot adunit advert adverts advertisement advertisements advertising adsbygoogle
    adsense dfp gpt sponsor sponsors sponsored promo promos promotion outbrain taboola
""")
# What stands between the parts of an article as well: no part of it, in whatever wrapper.
EXTRA_TOKENS = (
    AD_TOKENS
    | MENU_TOKENS
    | word_set("""
    cookie cookies consent gdpr popup popups modal lightbox overlay addthis addtoany sharethis
    subscribe related recommended recommendations recommends
    comment comments disqus respond commentlist commentform
    aboutauthor authorabout authorbio authorbox authorcard authordetails authorinfo authorprofile
""")
) - _MENUS
# What is short: with more text, it is a box beside which there is such a thing.
SHORT_TOKENS = word_set("skip skiplink gutter linenos readmore")
CONSENT_TOKENS = word_set("cookie cookies consent gdpr ccbanner ccdiv ccwindow")
# What no article stands in, however large: a footer, what lies over a page.
OUTSIDE_TOKENS = CONSENT_TOKENS | word_set("popup popups modal footer colophon")
# Of boilerplate, what the readers of a page write: it may be all of a page, and is on no other.
POST_TOKENS = word_set("comment comments commentlist")
# Well-known software of forums: in its generator, or as the class or id of a page.
FORUMS = word_set("""
    discourse flarum fluxbb invision ipsapp ipslayout mybb nodebb phpbb punbb simplemachines smf
    vanilla vbulletin woltlab xenforo
""")
# `article-nav-title` and `has-sidebar` speak of an article that has such things.
CONTENT_HEADS = word_set("""
    article body content contents main title heading headline text page layout entry post posts
    story wrapper wrap container code block highlight section
""")
PAGE_HEADS = word_set("page layout main title heading headline text")
CONTENT_STARTS = word_set("is not hide show category tag")
# `td-no-pagination`, `body-and-footer` and `sidebar-off` speak of what the page has, or has not.
HAVING = word_set("has with no without and")
STATES = word_set("off none enabled disabled false")
LINK_LISTS = word_set("ul ol dl div section")
# What no cell of a table of data holds.
LAYOUT = HEADINGS | word_set("table pre blockquote")
LISTS = word_set("ul ol dl")
# What text flows in: the container of these is an article, they are none.
FLOW = word_set("p pre ul ol table dl blockquote figure")
LEAVES = FLOW | HEADINGS | INLINE | word_set("header footer hgroup")

# The five characters that CSS modules end a name with are a hash: `table__adKqa`.
_PIECE = re.compile(
    r"(?<![A-Za-z0-9])(?!(?<=__)(?=\w{0,4}[A-Z])\w{5}$)[A-Za-z]+(?=[0-9]*(?![A-Za-z0-9]))"
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_MEAN_WORD = 2.5  # letters: `topAd` is a name
_CODE = frozenset("])")  # `top-[var(--nav-height)]` is a style, and no name
_BY_CHANCE = 2  # letters of a word that a hash may well have in it


@lru_cache(maxsize=16_384)  # the names of some dozens of sites
def speaks_of_boilerplate(names: str) -> bool:
    """Tell if a class or id names boilerplate, by whole words: `nav-bar` does, not `canvas`."""
    return any(_boilerplate_words(name) for name in names.split())


@lru_cache(maxsize=16_384)
def speaks_only_of(tokens: frozenset[str], names: str) -> bool:
    """Tell if all boilerplate that a class or id names, if any, is among some words."""
    return all(_boilerplate_words(name) <= tokens for name in names.split())


def has_word(names: str, words: AbstractSet[str]) -> bool:
    """Tell if a class or id, or one of several, has one of some words in it."""
    return any(not words.isdisjoint(_with_pairs(name_words(name))) for name in names.split())


@lru_cache(maxsize=16_384)
def name_words(name: str) -> list[str]:
    """Return the words of one class or id.

    A piece with digits inside is a hash, and has none; of what looks like one only longer words
    count: `gNav` is a name, `kKBcAd` is not.
    """
    words: list[str] = []
    for piece in _PIECE.findall(name):
        found = [piece] if piece.islower() else _WORD.findall(piece)
        hashed = len(found) > 1 and sum(map(len, found)) < _MEAN_WORD * len(found)
        words += [word.lower() for word in found if len(word) > _BY_CHANCE or not hashed]
    return words


@lru_cache(maxsize=16_384)
def _boilerplate_words(name: str) -> frozenset[str]:
    """Return the words of one class or id that name boilerplate, if it is what they name."""
    if not name[-1].isalnum() and name[-1] in _CODE:
        return frozenset()
    words = list(takewhile(lambda word: word not in HAVING, name_words(name)))
    if not words or words[0] in CONTENT_STARTS or words[-1] in STATES:
        return frozenset()
    tokens = _with_pairs(words)
    extra = EXTRA_TOKENS & tokens
    if extra:
        return extra if words[-1] not in PAGE_HEADS else frozenset()
    return frozenset() if words[-1] in CONTENT_HEADS else BOILERPLATE_TOKENS & tokens


def _with_pairs(words: list[str]) -> set[str]:
    """Return words, and those that two of them make: `read-more` is `readmore`."""
    return {*words, *map("".join, pairwise(words))}
