"""Bytes -> one lxml tree, whatever the bytes are."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from html import unescape
from itertools import chain
from typing import Any, cast

import webencodings
from lxml import etree, html
from lxml.html import HtmlElement
from w3lib.encoding import html_body_declared_encoding, html_to_unicode, resolve_encoding

from simhash_gate.page.repair import as_a_browser, gather, is_misread

_NOT_TEXT = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|template|noscript)\b.*?(?:</\1\s*>|\Z)", re.I | re.S
)
_TAG = re.compile(r"<[!/?a-z][^<>]*>?", re.I)
_UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_CONTROL = bytes({*range(32)} - {*b"\t\n\r"})
_DECLARED = 4096  # bytes in which a page says its encoding
_LABEL = re.compile(
    r"""<(?:meta|\?xml)\b[^<>]*?(?:charset|encoding)\s*=\s*["']?\s*([\w:.-]+)""", re.I
)
_ESCAPES = ("punycode", "raw-unicode-escape", "unicode-escape")
_DEEP = 1000
_MANY_ATTRIBUTES = 20_000
_MANY_FOR_LEXBOR = 2_000
_MANY_TAGS = 200_000  # of 9,286 pages of the web, the largest has 22,000
_LONGEST_VALUE = 10_000  # characters of an attribute, which is read for each element within
_LONG_VALUES = etree.XPath(f"//@*[string-length() > {_LONGEST_VALUE}]")
_BEFORE_VALUE = re.compile(rb"""(?:=|\A)\s*["']\Z""")
_QUOTED = re.compile(rb"""=\s*(?:"[^"]*"|'[^']*')""")


def in_utf8(body: bytes, encoding: str | None = None) -> bytes:
    """Return a body's text as a browser would read it: by BOM, `encoding`, then its `<meta>`.

    `encoding` is a label of the WHATWG Encoding Standard, or what Python calls an encoding.
    Two things browsers don't do: bytes that are valid UTF-8 throughout are never so by coincidence,
    and win over a declaration that says otherwise (7-bit ISO-2022-JP and UTF-16 apart); and what
    nobody declares to be anything but UTF-8, and mostly is not, is what it looks like.
    """
    wide = (encoding or "").lower().startswith(("utf-16", "utf16", "utf-32", "utf32"))
    # To look for one byte takes a twentieth of what it does for two.
    iso_2022 = b"\x1b" in body and b"\x1b$" in body
    if not wide and not iso_2022 and not body.startswith((b"\xff\xfe", b"\xfe\xff")):
        if body.isascii():  # to decode it takes far longer
            return body
        try:
            body.decode()
        except UnicodeDecodeError:
            pass
        else:
            return body.removeprefix(codecs.BOM_UTF8)
    head = body[:_DECLARED].decode("latin-1")
    said = html_body_declared_encoding(head)
    name = _encoding(encoding) or _of_text(said)
    label = None if name else _LABEL.search(head)
    name = name or _encoding(label and label[1]) or (said and "utf-8")
    declared = f"text/html; charset={name}" if name else None
    found, text = html_to_unicode(declared, body, default_encoding="utf-8")
    if found == "utf-8" and 2 * text.count("\ufffd") > len(_NOT_ASCII.findall(text)):
        text = body.decode(_detected(body), "replace")
    return text.encode("utf-8", "replace")


def _detected(body: bytes) -> str:
    """Return the encoding in which the text of a page makes most sense: Windows-1252 in doubt."""
    import chardet  # it takes 0.2 s, and few pages need it

    text = _TAG.sub(" ", _NOT_TEXT.sub(" ", body.decode("latin-1")))
    web = chardet.EncodingEra.MODERN_WEB
    found = chardet.detect(text.encode("latin-1"), encoding_era=web)
    # It is no less confident in one word than in a long text.
    sure = (found["confidence"] or 0) * len(_NOT_ASCII.findall(text)) > 1
    return (sure and _encoding(found["encoding"])) or "cp1252"


def _encoding(label: str | None) -> str | None:
    """Return what Python calls the encoding with a label; None for one that nobody knows."""
    found = webencodings.lookup(label or "")
    if found is not None and found.name not in ("replacement", "x-user-defined"):
        return resolve_encoding(found.codec_info.name)
    return _of_text(resolve_encoding(label)) if label else None


def _of_text(name: str | None) -> str | None:
    """Return the name of a codec if it is one of text, else None: Python has codecs of bytes."""
    with suppress(LookupError, UnicodeError):
        return name if name not in _ESCAPES and b"\xff".decode(name or "", "replace") else None
    return None


def parse(body: bytes, encoding: str | None = None) -> HtmlElement | None:
    """Return the root of the page's tree, which a browser has; None when there is nothing in it."""
    data = in_utf8(body, encoding)
    if any(map(data.__contains__, _CONTROL)):  # to take them out takes four times as long
        data = printable(data.decode()).encode()
    if data.lstrip()[:1] != b"<" and not data.decode().strip():
        return None
    root, errors = read_by_libxml2(data)
    if root is None or not is_misread(root, errors):
        return _plain(data) if root is None else root
    markup = None if _overloaded(data, _MANY_FOR_LEXBOR) else as_a_browser(data)
    repaired = read_by_libxml2(markup)[0] if markup else None
    if repaired is None:
        gather(root)
    return root if repaired is None else repaired


def show_frames(root: HtmlElement) -> None:
    """Make a page of frames one of links to these, after what it says to browsers without them.

    for: sites in frames, such as old handbooks, whose pages say nothing else.
    """
    body = root.find("frameset")
    for note in list(root.iter("noframes")):
        inner = parse((note.text or "").encode("utf-8", "replace")) if body is not None else None
        note.tag, note.text = "div", None
        if body is not None and inner is not None:
            note.extend(inner.iterchildren("body"))
            body.append(note)
    for frame in list(root.iter("frame")):
        link = etree.SubElement(frame, "a", href=frame.get("src", ""))
        link.text = frame.get("title") or frame.get("name") or frame.get("src")
        frame.tag = "p"
    if body is not None:
        for inner in list(body.iter("frameset", "body")):
            inner.tag = "div" if inner is not body else "body"


def read_by_libxml2(data: bytes) -> tuple[HtmlElement | None, Iterable[etree._LogEntry]]:
    """Return libxml2's tree, None where it has no good one, and what it complained of."""
    if (len(data) > _MANY_TAGS and data.count(b"<") > _MANY_TAGS) or _overloaded(data):
        return None, ()
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True, collect_ids=False
    )
    parser.set_element_class_lookup(_ONE_CLASS)
    try:
        root = html.document_fromstring(data, parser=parser)
    except (etree.LxmlError, AssertionError, ValueError):
        return None, ()
    for value in cast("list[Any]", _LONG_VALUES(root)) if _may_have_long_values(data) else ():
        value.getparent().set(value.attrname, value[:_LONGEST_VALUE])
    # libxml2 stops at a depth of 2048 and forgets the rest of the page.
    depth, last = 0, root
    while len(last):
        depth, last = depth + 1, last[-1]
    return (None, ()) if depth > _DEEP else (root, parser.error_log)


# `lxml.html` asks a function for the class of every element that is touched; here all are one.
_ONE_CLASS = etree.ElementDefaultClassLookup(element=html.HtmlElement)


def _overloaded(data: bytes, most: int = _MANY_ATTRIBUTES) -> bool:
    """Tell if a tag has so many attributes that a parser, comparing each with all, never ends."""
    parts = (data[start:end] for start, end in _long_parts(data, b">", most))
    return any(len(_QUOTED.sub(b"", p[p.rfind(b"<") :]).split()) > most for p in parts)


def _may_have_long_values(data: bytes) -> bool:
    """Tell if an attribute may have a very long value: to ask the tree takes a fifth of parsing.

    There is no quotation mark of its own kind in it or, if it stands between none, no blank.
    """
    if next(_long_parts(data, b" ", _LONGEST_VALUE), None) is not None:
        return True
    parts = chain.from_iterable(_long_parts(data, mark, _LONGEST_VALUE) for mark in (b'"', b"'"))
    return any(_BEFORE_VALUE.search(data[max(0, start - 99) : start]) for start, _ in parts)


def _long_parts(data: bytes, mark: bytes, most: int) -> Iterator[tuple[int, int]]:
    """Yield from where to where there are more than `most` bytes between two marks."""
    start = 0
    while start + most < len(data):
        end = data.rfind(mark, start, start + most + 1)
        if end < 0:
            end = data.find(mark, start)
            end = len(data) if end < 0 else end
            yield start, end
        start = end + 1


def _plain(data: bytes) -> HtmlElement | None:
    """A tree with one `pre`: the text between the tags, which make no sense or are too many."""
    lines = _TAG.sub("\n", _NOT_TEXT.sub("\n", data.decode())).splitlines()
    words = "\n".join(line for line in map(str.strip, map(unescape, lines)) if line)
    if not words:
        return None
    root = html.document_fromstring("<html><body><pre></pre></body></html>")
    root[0][0].text = printable(words)
    return root


def printable(text: str) -> str:
    """Leave out the control characters that libxml2 reads from a page, but lets nobody write."""
    return _UNPRINTABLE.sub("", text)
