"""Which responses are judged, fetched or stored."""

import random

import pytest

from simhash_gate import read_page
from simhash_gate.gate.eligibility import why_ineligible


def why(body: bytes = b"<p>text</p></html>", **known) -> str:
    fetched = {"status": 200, "html": True, "max_bytes": 100, **known}
    return why_ineligible(body=body, **fetched)


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        ({}, ""),
        ({"status": 204}, ""),
        ({"status": 404}, "status: 404"),
        ({"status": 301, "html": False}, "status: 301"),
        ({"html": False}, "not_html"),
        ({"html": False, "max_bytes": 1}, "not_html"),
        ({"max_bytes": 10}, "too_large"),
        ({"flags": ["dataloss"]}, "incomplete"),
        ({"flags": ["download_stopped"], "html": False}, "incomplete"),
        ({"flags": ["cached"]}, ""),
    ],
)
def test_the_first_reason_is_given(known, reason: str) -> None:
    assert why(**known) == reason


def test_a_page_without_a_length_is_whole_if_its_document_ends() -> None:
    for body in (b"<p>text</p></html>", b"<p>text</p></HTML> \n<!-- cached --><!-- twice -->"):
        assert why(body, flags=["partial"]) == "", body
    for body in (b"<p>text</p>", b"<p>text</p></html", b"-->", b""):
        assert why(body, flags=["partial"]) == "incomplete", body


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        *((body, "JSON") for body in (b'{"html": "<p>text</p>"}', b" \n[1, 2]\n")),
        (b'\xef\xbb\xbf{"a": 1}', "JSON"),
        (b'<?xml version="1.0"?>\n<items><item id="1"/></items>', "XML"),
        (b"<?XML?><rss></rss>", "XML"),
        (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>", "PDF by its first bytes"),
        (b"\0\0\0\x20ftypisom\0\0\2\0isomiso2", "video by its first bytes"),
        (b"wOF2\0\1\0\0" + random.Random(1).randbytes(99), "font by its first bytes"),
        (random.Random(1).randbytes(4000), "binary by its bytes of control"),
    ],
)
def test_a_body_is_no_page_whatever_the_server_calls_it(body: bytes, kind: str) -> None:
    assert why(body) == f"not_html: {kind}"
    page = read_page(body)
    assert (page.words, page.markdown, page.reason) == (0, "", f"not html: {kind}")


@pytest.mark.parametrize(
    "body",
    [
        b'<?xml version="1.0"?><!DOCTYPE html><HTML xmlns="http://www.w3.org/1999/xhtml"></HTML>',
        *(b"{{ title }}<p>text</p>", b"[Home] <p>text</p>", b"{", b""),
        *(text.encode("utf-16-le") for text in ("<?xml?><html><p>text", "text without marks")),
        *("ТЕКСТ".encode(coding) for coding in ("utf-16", "utf-32", "utf-8-sig", "koi8-r")),
        b"\0\0<p>" + random.Random(1).randbytes(90),
        b"text with a stray \0 or \x0b, as editors and old databases leave behind",
    ],
)
def test_what_may_be_a_page_is_one(body: bytes) -> None:
    assert why(body) == ""
