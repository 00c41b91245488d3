"""Volatile lines: clocks, dates, counters, labels of ads. They change without the article."""

from __future__ import annotations

import re

_MOST_WORDS = 14  # a longer text is a sentence that happens to have a date
_LONGEST_BYLINE = 40
_WORD = re.compile(r"[^\W\d_]+")
# Chinese and Japanese have no spaces; a word has about two letters.
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")

_MONTH = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez|janv|févr|avr|juin|juil|août|"
    r"déc|ene|abr|ago|dic|gen|mag|giu|lug|set|ott|fev|out|янв|фев|мар|апр|ма[йя]|июн|июл|авг|сен|окт|"
    r"ноя|дек)\w*\.?"
)
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_YEAR = r"(?:19|20)\d\d"
_DATE = "|".join(
    (
        rf"(?<!\d){_YEAR}[-/.](?:0?[1-9]|1[0-2])[-/.]{_DAY}(?!\d)",
        rf"(?<!\d){_DAY}[-/.](?:0?[1-9]|1[0-2])[-/.](?:{_YEAR}|\d\d)(?!\d)",
        rf"{_YEAR}\s?[年년]",
        rf"\b{_DAY}(?:st|nd|rd|th|er|º|\.)?\s(?:de\s)?{_MONTH}(?:,?\s(?:de\s)?{_YEAR})?\b",
    )
)
# Few words stand before a number. Checking that first is cheaper than trying all months.
_MONTH_FIRST = rf"(?<!\w)(?=\w+\.?\s\d){_MONTH}\s{_DAY}(?:st|nd|rd|th)?\b(?:,?\s{_YEAR})?"
_CLOCK = r"(?<![\d:.])(?:[01]?\d|2[0-3])[:h][0-5]\d(?::[0-5]\d)?(?![\d:.]|,\d)"
_COUNTED = (
    r"(?:view(?:s|ed)?|reads?|shares?|comments?|likes?|repl(?:y|ies)|votes?|claps|retweets?|followers|downloads|"
    r"times|min(?:utes?|s)? read|(?:sec|second|min|minute|hour|day|week|month|year)s? ago|"
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
    r"pubblicità|реклама|広告|スポンサー|廣告|广告|赞助|贊助|광고)(?!\w{3})"
)
_ORIGIN = (
    r"^\W*(?:(?:re)?printed|redirected|retrieved)\sfrom\b|^\W*"
    r"(?:source|quelle|fuente|fonte|источник|出典|来源|來源)\s?[:：]"
)
_ONLINE = (
    r"^\W*(?:\d[\d.,]*\s)?(?:users?|guests?|members?|visitors?)"
    r"(?:(?:\s\w+){0,2}\sonline|\sbrowsing)\b"
)
_ANY = "|".join((_DATE, _MONTH_FIRST, _CLOCK, _COUNT, _COPYRIGHT, _AGO))
# Each begins where a word does, or with one of these: most places need not be asked for all.
_VOLATILE = re.compile(rf"(?=[\d©(]|\b\w)(?:{_ANY})", re.I)
_DATED = re.compile(f"{_DATE}|{_MONTH_FIRST}", re.I)
# Each of the above has one of these. `re` is quick to find a set of characters.
_HINT = re.compile(r"[\d©cC](?:(?<=[\d©])|(?i:opyright))")
_AD_LABEL = re.compile(f"{_LABEL}|{_ORIGIN}|{_ONLINE}", re.I)
_OF_PAGE = re.compile("|".join((_COUNT, _AGO, _UPDATED)), re.I)
_LINKING = re.compile(
    r"\b(?:at|on|by|read|times|am|pm|gmt|utc|cet|cest|e[ds]t|p[ds]t|um|uhr|le|à|el|a|las|il|alle|ore|em|às|в)\b",
    re.I,
)
_LEGAL = re.compile(rf"\W*(?:{_COPYRIGHT})", re.I)


def is_of_page(text: str) -> bool:
    """Tell whether a volatile block is only about the page itself, and never part of its content.

    It is a counter, the label of an advertisement, a copyright, the source of a printed page or the
    time of the last change, and no more.
    """
    if _LEGAL.match(text) or _AD_LABEL.match(text):
        return True
    if not _OF_PAGE.search(text):
        return False
    rest = _LINKING.sub("", _VOLATILE.sub("", _OF_PAGE.sub("", text)))
    return not _WORD.search(rest)


def other_words(text: str) -> str:
    """Return the text of a volatile block without its dates, clocks and counters."""
    return _LINKING.sub("", _VOLATILE.sub("", text))


def is_date(text: str) -> bool:
    """Tell whether a volatile block is only a date, perhaps with a clock."""
    return _DATED.search(text) is not None and not any(map(str.isalnum, other_words(text)))


def is_volatile(text: str, words: int) -> bool:
    """Tell whether a block of `words` words is volatile: about the page, and not its content."""
    if words <= _MOST_WORDS:
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
