import pytest
import webencodings

from simhash_gate.page.parse import decode, parse


def text_of(body: bytes, encoding: str | None = None) -> str:
    root = parse(body, encoding)
    return "" if root is None else " ".join(root.text_content().split())


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        ("<p>Grüße, 東京</p>".encode(), None),
        ("<p>Grüße, 東京</p>".encode(), "latin-1"),
        ("<meta charset=us-ascii><p>Grüße, 東京</p>".encode(), None),
        ("\ufeff<p>Grüße, 東京</p>".encode(), "cp1252"),
        ("\ufeff<p>Grüße, 東京</p>".encode("utf-16-le"), None),
        ("<p>Grüße, 東京</p>".encode("utf-16-le"), "utf-16-le"),
        ('<?xml version="1.0" encoding="latin-1"?><p>Grüße, 東京</p>'.encode(), None),
    ],
)
def test_text_is_decoded_whatever_is_declared(body, encoding):
    assert text_of(body, encoding) == "Grüße, 東京"


def test_a_declared_charset_is_believed_where_utf8_does_not_fit():
    for charset in ("gb18030", "euc-jp", "shift_jis", "iso-2022-jp", "big5"):
        page = f"<meta charset={charset}><p>東京</p>".encode(charset)
        assert text_of(page) == "東京", charset
        assert text_of("<p>東京</p>".encode(charset), charset) == "東京", charset


@pytest.mark.parametrize(
    ("label", "text"),
    [
        *(
            ("windows-949", "똠방"),
            ("ks_c_5601-1987", "똠방"),
            ("x-gbk", "東京"),
            ("x-sjis", "①東京"),
        ),
        *(("iso-8859-8-i", "שלום"), ("x-cp1251", "Пчёлы"), ("koi8", "Пчёлы"), ("dos-874", "ผึ้ง")),
        *(("x-mac-cyrillic", "Пчёлы"), ("sun_eu_greek", "μέλι"), ("latin5", "arı")),
    ],
)
def test_encodings_have_the_names_that_browsers_know(label, text):
    codec = webencodings.lookup(label).codec_info.encode
    body = codec(f"<p>{text}</p>")[0]
    assert text_of(body, label) == text
    assert text_of(f"<meta charset='{label}'>".encode() + body) == text
    assert text_of(f"<?xml version='1.0' encoding='{label}'?>".encode() + body) == text
    assert text_of(b"<meta charset=nonsense>" + body, label) == text


def test_what_is_no_utf8_though_declared_so_is_windows_1252():
    body = "<p>Überall Grüße, größer als früher</p>"
    assert decode(body.encode("cp1252"), "utf-8") == body
    assert "Grüße" in decode(body.encode() + b"\xff", "utf-8"), "most of it is"
    assert text_of("<p>Straße – é</p>".encode("cp1252")) == "Straße – é", "undeclared"


def test_what_is_no_text_is_left_out():
    for nothing in (b"", b" \n\t ", b"\0\0", b"\xef\xbb\xbf"):
        assert parse(nothing) is None
    assert text_of(b"<p>a\0b\x01c</p>") == "abc"
    assert text_of(b"<p>a<!-- x -->b<?php echo 1 ?>c</p>") == "abc"


@pytest.mark.parametrize("tag", ['<p title="{}">', "<p title= '{}'>", "<p title={}>"])
def test_a_very_long_value_is_cut_however_it_is_written(tag):
    root = parse(f"<b>it's</b> {tag.format('long' * 2_501)}A text".encode())
    assert len(root.find(".//p").get("title")) == 10_000


def test_ten_thousand_nested_elements_are_read_as_plain_text():
    page = b"<div>" * 10_000 + b"deep &amp; down" + b"</div>" * 10_000 + b"<script>x</script>after"
    assert text_of(page) == "deep & down after"
