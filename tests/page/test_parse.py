import pytest
import webencodings

from simhash_gate.page.parse import in_utf8, parse


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


@pytest.mark.parametrize(
    "label", ["undefined", "idna", "punycode", "unicode_escape", "base64", "hex", "rot13", "zlib"]
)
def test_a_codec_that_is_no_charset_is_as_none(label):
    body = "<p>Grüße und Küsse aus \\nAachen, größer als früher".encode("cp1252")
    assert text_of(body, label) == text_of(body)
    assert text_of(f"<meta charset={label}>".encode() + body) == text_of(body)
    assert text_of(b"<meta charset=cp1252>" + body, label) == text_of(body, "cp1252")


SENTENCES = {
    "cp1252": "Überall Grüße – größer als früher, und „schöner“",
    "cp1254": "Bu sayfa Türkçe yazılmıştır; İstanbul'da hava güneşli ve şehir çok kalabalık",
    "shift_jis": "これは日本語のページです。漢字とかな文字を使っています。",
    "euc-jp": "東京都の天気予報",
    "gbk": "这是一个中文网页，使用汉字编码。",
    "big5": "這是一個中文網頁，使用漢字編碼。",
    "euc-kr": "서울 날씨",
    "cp1251": "Пчёлы живут в лесу, а осы на чердаке",
    "koi8-r": "Пчёлы живут в лесу",
}


@pytest.mark.parametrize("encoding", SENTENCES)
def test_what_nobody_declares_to_be_anything_but_utf8_is_what_it_looks_like(encoding):
    body = f"<title>News</title><style>p {{ color: red }}</style><p>{SENTENCES[encoding]}</p>"
    assert in_utf8(body.encode(encoding)).decode() == body
    assert in_utf8(body.encode(encoding), "utf-8").decode() == body
    for broken in (body.encode() + b"\xff", body.encode()[:-5] + b"\xe3</p>"):
        assert SENTENCES[encoding][:-1] in in_utf8(broken).decode(), "most of it is UTF-8"


@pytest.mark.parametrize("text", ["Straße – é", "the café, the Café, a café", "§ 5", "100 €"])
def test_few_signs_tell_no_encoding_but_that_of_old_browsers(text):
    assert text_of(f"<p>{text}</p>".encode("cp1252")) == text


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
