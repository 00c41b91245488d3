"""Which responses are judged, fetched or stored."""

import pytest

from simhash_gate.gate.eligibility import why_ineligible


def why(body: bytes = b"<p>text</p></html>", **known) -> str:
    fetched = {"status": 200, "html": True, "max_bytes": 100, **known}
    return why_ineligible(body=body, **fetched)


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        ({}, ""),
        ({"status": 204}, ""),
        ({"status": 404}, "status"),
        ({"status": 301, "html": False}, "status"),
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


def test_json_and_xml_are_no_pages_whatever_the_server_calls_them() -> None:
    for body in (
        *(b'{"html": "<p>text</p>"}', b" \n[1, 2]\n", b'\xef\xbb\xbf{"a": 1}'),
        *(b'<?xml version="1.0"?>\n<items><item id="1"/></items>', b"<?XML?><rss></rss>"),
    ):
        assert why(body) == "not_html", body
    for body in (
        b'<?xml version="1.0"?><!DOCTYPE html><HTML xmlns="http://www.w3.org/1999/xhtml"></HTML>',
        *(b"{{ title }}<p>text</p>", b"[Home] <p>text</p>", b"{", b""),
    ):
        assert why(body) == "", body
