"""Blocks of text -> words and signs, normalised.

Words are Unicode NFKC, case-folded. In scripts that have no spaces between words (Chinese,
Japanese, Thai, Lao, Burmese, Khmer), each character is a word. A sign is a symbol with a meaning: a
currency, an operator, a degree, a star, a check mark. Each sign is a token of its own, with or
without spaces around it. Punctuation, white space and typographic symbols are left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import chain, groupby

UNSEGMENTED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003134f"
)
"""The characters of scripts without spaces between words, for a set in a pattern."""
# Vowel signs and points are part of their word, though `re` does not count them as \w.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u0900-\u0963\u0966-\u0dff\u0f18-\u0f39"
    "\u0f3e-\u0f84\u0f86-\u0fbc"
)
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_FORMAT = re.compile(f"[{_INVISIBLE}]")
# No letter has so many marks. Sorting them for NFKC takes time by the square of their number.
_MARKED = re.compile(r"[^\w\s]{30}")
_UNUSUAL = re.compile(f"[{UNSEGMENTED}{_MARKS}{_INVISIBLE}]")

# Symbols that never tell pages apart: separators, bullets, box drawing, marks of rights, arrows.
_TYPOGRAPHY = re.compile(
    "[|~\u00a6\u00a9\u00ae\u2044\u2190-\u21ff\u2215\u2217-\u2219\u2223\u2225\u2236\u223c\u22c5"
    "\u2500-\u257f\u2794\u2798-\u27be\u27f0-\u27ff\u2900-\u297f\u2b00-\u2b4f\u2b5a-\u2bff"
    "\U0001f517\U0001f800-\U0001f8ff]"
)
# Symbols that are typography in most places, and signs in some.
_UP_AND_DOWN = "\u2191\u2193\u2b06\u2b07\u25b2\u25b3\u25bc\u25bd"
_SHAPES = f"\u2580-\u25ff\u2b1b\u2b1c{_UP_AND_DOWN}"
_MONEY = "$\u00a2-\u00a5\u20a0-\u20cf\uff04\uffe0\uffe1\uffe5"
# Each of these begins with one character, which `re` finds fastest.
_NO_SIGN = [
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        # No minus: within a word, a range or a line, or before no number.
        rf"-(?:(?<=[\w)\]-]-)|(?!(?:[.,]|[{_MONEY}] ?)?\d))",
        # The link beside a headline, not `C#` and not `#1`.
        r"#(?<!\b\w#)(?!\d)",
        # A bullet, emphasis, a remark, not `A*`.
        r"\*(?<!(?<!\*)\b\w\*)",
        # An arrow to the next or the last page, at the edge of a line.
        r"<(?:(?:(?<=^<)|(?<=^<<))(?! ?\d)|(?=[<> ]{0,3}$))",
        r">(?:(?:(?<=^>)|(?<=^>>))(?! ?\d)|(?=[<> ]{0,3}$))",
    )
]
# A bullet: not one of several, nor a line or a cell of its own, nor a change by a number.
_BULLET = re.compile(
    rf"[{_SHAPES}](?<![{_SHAPES}].)(?![{_SHAPES}])(?!(?<=^.)$)(?!(?<=[{_UP_AND_DOWN}]) ?\d)",
    re.MULTILINE,
)
_WRITTEN = [(dash, "-") for dash in "\u2010\u2011\u2012\u2013\u2212\u207b\ufe63\uff0d"]
_WRITTEN += [("\uff03", "#"), ("\uff0a", "*"), ("\uff1c", "<"), ("\uff1e", ">")]


def _any_of(characters: Iterable[str]) -> str:
    codes = enumerate(sorted(map(ord, characters)))
    runs = ([code for _, code in run] for _, run in groupby(codes, lambda pair: pair[1] - pair[0]))
    return "".join(f"\\U{run[0]:08x}-\\U{run[-1]:08x}" for run in runs)


_SYMBOLS = "".join(map(chr, chain(range(0x20, 0x3100), range(0x1F000, 0x1FB00))))
_NAMED = frozenset(re.findall(f"[#%&*@\u2030\u2031\\-{_SHAPES}]", _SYMBOLS))
SIGNS = _NAMED.union(
    symbol
    for symbol in re.findall(r"[^\w\s]", _TYPOGRAPHY.sub("", _UNUSUAL.sub("", _SYMBOLS)))
    if unicodedata.category(symbol) in {"Sc", "Sm", "So"}
)
"""The tokens that are not words."""

_SIGN = _any_of(SIGNS)
_TOKEN = re.compile(rf"[{UNSEGMENTED}]|(?:(?![{UNSEGMENTED}_])[\w{_MARKS}])+|[{_SIGN}]")
_FAST_TOKEN = re.compile(rf"[^\W_]+|[{_SIGN}]")
_CHAR = re.compile(rf"[{UNSEGMENTED}]")
ASCII_SIGNS = "".join(sorted(filter(str.isascii, SIGNS)))
_ASCII_SIGN = re.compile(f"[{re.escape(ASCII_SIGNS)}]")
# ASCII needs no pattern: all characters but letters, digits and signs become spaces.
ASCII = {
    code: chr(code).lower() if chr(code).isalnum() or chr(code) in SIGNS else " "
    for code in range(128)
}


def words(text: str) -> list[str]:
    """Return the normalised words and signs of a text, in order."""
    if text.isascii() and not _ASCII_SIGN.search(text):
        return text.translate(ASCII).split()
    return split(without_typography(text))


def without_typography(text: str) -> str:
    """Replace symbols that are not signs at their place by spaces. Lines end at `\\n`."""
    if not text.isascii():
        for written, sign in _WRITTEN:
            text = text.replace(written, sign)
        text = _BULLET.sub(" ", text)
    for pattern in _NO_SIGN:
        text = pattern.sub(" ", text)
    return text


def split(text: str) -> list[str]:
    """Return the words of a text, and all its symbols that can be signs."""
    text = unicodedata.normalize("NFKC", _MARKED.sub(r"\g<0> ", text))
    if _UNUSUAL.search(text):
        text = _FORMAT.sub("", text)
        if _UNUSUAL.search(text):
            return _TOKEN.findall(text.casefold())
    return _FAST_TOKEN.findall(text.casefold())


def unsegmented(tokens: Collection[str]) -> AbstractSet[str]:
    """Return those tokens that are characters of scripts without word spaces."""
    text = "".join(tokens)
    return frozenset(() if text.isascii() else _CHAR.findall(text))


_MOST_WORDS = 14  # a longer text is a sentence that happens to have a date
_LONGEST_BYLINE = 40
_LONGEST_LINE = 400  # characters of a line that is about the page
_WORD = re.compile(r"[^\W\d_]+")
# Chinese and Japanese have no spaces; a word has about two letters.
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")

# Each as a word, or as what begins it: "3 sets" and "12 marks" are no dates.
_MONTH = (
    r"(?:jan(?:uary|uar|v|vier)?|feb(?:ruary|ruar|rero|braio)?|mar(?:ch|s|zo|ço|с|та?)?|apr(?:il|ile)?|may|"
    r"jun[ei]?|jul[yi]?|aug(?:ust)?|sep(?:t|tember|tembre|tiembre)?|oct(?:ober|obre|ubre)?|"
    r"nov(?:ember|embre|iembre|embro)?|dec(?:ember)?|märz?|mai|okt(?:ober)?|dez(?:ember|embro)?|"
    r"févr(?:ier)?|avr(?:il)?|juin|juil(?:let)?|août|déc(?:embre)?|ene(?:ro)?|abr(?:il)?|mayo|jun(?:io|ho)|"
    r"jul(?:io|ho)|ago(?:sto)?|dic(?:iembre|embre)?|gen(?:naio)?|mag(?:gio)?|giu(?:gno)?|lug(?:lio)?|"
    r"set(?:tembre|embro)?|ott(?:obre)?|jan(?:eiro)|fev(?:ereiro)?|maio|out(?:ubro)?|янв(?:аря|арь)?|"
    r"фев(?:раля|раль|р)?|мар(?:та?)?|апр(?:еля|ель)?|ма[йя]|июн[ья]?|июл[ья]?|авг(?:уста?)?|"
    r"сен(?:тября|тябрь|т)?|окт(?:ября|ябрь)?|ноя(?:бря|брь|б)?|дек(?:абря|абрь)?)\b\.?"
)
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_YEAR = r"(?:19|20)\d\d"
_DATE = "|".join(
    (
        rf"(?<!\d){_YEAR}[-/.](?:0?[1-9]|1[0-2])[-/.]{_DAY}(?!\d)",
        rf"(?<![\d.]){_DAY}[-/.](?:0?[1-9]|1[0-2])[-/.]{_YEAR}(?!\d)",
        r"(?<![\d.])(?:0[1-9]|[12]\d|3[01])([-/.])(?:0[1-9]|1[0-2])\1\d\d(?![\d.])",
        rf"{_YEAR}\s?[年년]",
        rf"\b{_DAY}(?:st|nd|rd|th|er|º|\.)?\s(?:de\s)?{_MONTH}(?:,?\s(?:de\s)?{_YEAR})?\b",
    )
)
# Few words stand before a number. Checking that first is cheaper than trying all months.
_MONTH_FIRST = rf"(?<!\w)(?=\w+\.?\s\d){_MONTH}\s{_DAY}(?:st|nd|rd|th)?\b(?:,?\s{_YEAR})?"
_CLOCK = r"(?<![\d:.])(?:[01]?\d|2[0-3])[:h][0-5]\d(?::[0-5]\d)?(?![\d:.]|,\d)"
_COUNTED = (
    r"(?:view(?:s|ed)?|reads?|shares?|comments?|likes?|repl(?:y|ies)|claps|retweets?|"
    r"min(?:utes?|s)? read|(?:sec|second|min|minute|hour|day|week|month|year)s? ago|"
    r"kommentare?|aufrufe|mal gelesen|commentaires?|vues?|partages?|lectures?|comentarios?|"
    r"visitas|vistas|comentários|visualizaç\w+|commenti|visualizzazioni|просмотр\w*|комментари\w*|"
    r"阅读|閱讀|浏览|瀏覽|评论|評論|の閲覧|ビュー|コメント|조회|댓글|مشاهدة|مشاهدات|تعليقات?|"
    r"دقائق للقراءة|دقيقة للقراءة)"
)
# Numbers have a bound. Otherwise each digit of a very long one would start a search to its end.
_NUMBER_OF = rf"\d[\d.,\s]{{0,40}}(?![\d.,])[km]?\+?\s?[次回]?(?=[^\W\d]){_COUNTED}(?!\w)"
_OF_NUMBER = rf"(?<!\w)(?=\w+(?: \w+)?\s?[:：(]?\s?\d){_COUNTED}\s?[:：(]?\s?\d"
_COUNT = f"{_NUMBER_OF}|{_OF_NUMBER}"
_COPYRIGHT = r"©|\(c\)\s?(?:19|20)\d\d|\bcopyright\b"
_AGO_FIRST = r"(?<!\w)(?:vor|il y a|hace|há|قبل|منذ)\s\d+\s\w+"
_AGO_LAST = r"\d{1,40}(?!\d)\s?(?:分钟|分鐘|小时|小時|天|時間|分)前"
_AGO = f"{_AGO_FIRST}|{_AGO_LAST}"
_UPDATED = (
    r"^\W*(?:last\s(?:modified|updated|edited|reviewed|change)|(?:page\s)?(?:updated|modified|generated)\b|"
    r"zuletzt\s|aktualisiert|letzte\sänderung|stand:|mis(?:e)?\sà\sjour|dernière\smodification|"
    r"(?:última\s)?actualiza\w+|última\smodifica\w+|(?:última\s)?atualiza\w+|(?:ultimo\s)?aggiorna\w+|"
    r"ultima\smodifica|обновлен\w+|последнее\s|最終更新|最后更新|最後更新|最后修改|更新|최종\s?수정|آخر\sتحديث)"
)
_LABEL = (
    r"^\W*(?:advertisement|advertising|sponsored|promoted|anzeige|werbung|publicité|publicidad|publicidade|"
    r"pubblicità|реклама|広告|スポンサー|廣告|广告|赞助|贊助|광고)\W*$"
)
# What follows is a name or an address: "Printed from copper plates by Ann Lee" says more.
_ORIGIN = (
    r"^\W*(?:(?:re)?printed|redirected|retrieved)\sfrom\s"
    r"(?:(?=\S*[./]\S)\S+|(?-i:[A-Z])\S+(?:\s\S+)?|(?-i:[A-Z]\S*(?:\s[A-Z]\S*){1,4}))(?!\S)\W*$|^\W*"
    r"(?:source|quelle|fuente|fonte|источник|出典|来源|來源)\s?[:：](?:\W*\w+\b){1,4}\W*$"
)
_ONLINE = (
    r"^\W*\d[\d.,]*\s(?:users?|guests?|members?|visitors?)(?:\s\w+){0,2}\sonline\b|"
    r"^\W*(?:users?|guests?|members?|visitors?)\sbrowsing\b(?=.*\d)"
)
_ANY = "|".join((_DATE, _MONTH_FIRST, _CLOCK, _COUNT, _COPYRIGHT, _AGO))
# Each begins where a word does, or with one of these: most places need not be asked for all.
_VOLATILE = re.compile(rf"(?=[\d©(]|\b\w)(?:{_ANY})", re.I)
DATED = re.compile(f"{_DATE}|{_MONTH_FIRST}", re.I)
# Each of the above has one of these. `re` is quick to find a set of characters.
_HINT = re.compile(r"[\d©cC](?:(?<=[\d©])|(?i:opyright))")
_AD_LABEL = re.compile(f"{_LABEL}|{_ORIGIN}|{_ONLINE}", re.I)
_OF_PAGE = re.compile("|".join((_COUNT, _AGO, _UPDATED)), re.I)
_CHANGED = re.compile(_UPDATED, re.I)
_DIGIT = re.compile(r"\d")
_LINKING = re.compile(
    r"\b(?:at|on|by|read|times|am|pm|gmt|utc|cet|cest|e[ds]t|p[ds]t|um|uhr|le|à|el|a|las|il|alle|ore|em|às|в)\b",
    re.I,
)
_DATES = re.compile(f"{_DATE}|{_MONTH_FIRST}|{_CLOCK}", re.I)
_COUNTS = re.compile(_COUNT, re.I)
_COUNTER = re.compile(rf"(?<!\w){_COUNTED}(?!\w)", re.I)
_LEGAL = re.compile(r"\W*(?:©|\(c\)\s?(?:19|20)\d\d|copyright\b\W*(?:\(c\)|©|(?:19|20)\d\d))", re.I)


def is_of_page(text: str) -> bool:
    """Tell whether a volatile block is only about the page itself, and never part of its content.

    It is a counter, the label of an advertisement, a copyright, the source of a printed page or the
    time of the last change, and no more.
    """
    return _LEGAL.match(text) is not None or (len(text) <= _LONGEST_LINE and _is_of_page(text))


@lru_cache(maxsize=8_192)  # the lines around the articles of some dozens of sites
def _is_of_page(text: str) -> bool:
    if _AD_LABEL.match(text):
        return True
    if not (_OF_PAGE if _DIGIT.search(text) else _CHANGED).search(text):
        return False
    rest = _LINKING.sub("", _VOLATILE.sub("", _OF_PAGE.sub("", text)))
    return not _WORD.search(rest)


def without_counters(text: str) -> str:
    """Return a text without its counters."""
    return _COUNTS.sub(" ", text)


def without_dates(text: str) -> str:
    """Return a text without its dates and clocks."""
    return _DATES.sub(" ", text)


def beside_date(text: str) -> list[str] | None:
    """Return the words beside a date, but for clocks and counters; None if there is no date."""
    if not DATED.search(text):
        return None
    return words(_COUNTER.sub("", _LINKING.sub("", _VOLATILE.sub("", text))))


def is_volatile(text: str, words: int) -> bool:
    """Tell whether a block of `words` words is volatile: about the page, and not its content."""
    if words <= _MOST_WORDS:
        text = text[:_LONGEST_LINE]
        found = _HINT.search(text) and _VOLATILE.search(text)
        return (found or _AD_LABEL.match(text)) is not None
    return _LEGAL.match(text) is not None or (words <= _LONGEST_BYLINE and _is_byline(text))


def _is_byline(text: str) -> bool:
    """Tell whether a line has two or more dates, clocks or counters, and little else."""
    hint = _HINT.search(text)
    if hint is None or _HINT.search(text, hint.end()) is None:
        return False
    rest, count = _VOLATILE.subn("", text)
    rest, letters = _IDEOGRAPH.subn(" ", rest)
    return count > 1 and len(_WORD.findall(rest)) + letters / 2 <= _MOST_WORDS // 2
