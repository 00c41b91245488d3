"""`simhash-gate replay` over WARC files."""

import gzip
import io
import zlib

import brotli
import pytest
from fastwarc.warc import WarcRecord, WarcRecordType

from tests.crawls.harness import page

HTML = "Content-Type: text/html; charset=utf-8"
STORY = page(1).body


def record(
    body: bytes,
    *headers: str,
    url: str = "http://example.com/",
    status: str = "200 OK",
    kind: WarcRecordType = WarcRecordType.response,
    **warc_headers: str,
) -> bytes:
    """Return one record, with an HTTP response in it."""
    made = WarcRecord()
    made.init_headers(kind)
    made.headers["WARC-Target-URI"] = url
    made.headers["Content-Type"] = "application/http; msgtype=response"
    for name, value in warc_headers.items():
        made.headers[name.replace("_", "-")] = value
    head = "\r\n".join([f"HTTP/1.1 {status}", *(headers or [HTML]), "", ""])
    made.set_bytes_content(head.encode() + body)
    stream = io.BytesIO()
    made.write(stream)
    return stream.getvalue()


def chunked(body: bytes) -> bytes:
    pieces = [body[i : i + 1000] for i in range(0, len(body), 1000)]
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in [*pieces, b""])


@pytest.mark.parametrize("packed", [False, True])
def test_responses_are_judged_in_order(run, tmp_path, packed: bool) -> None:
    records = [
        record(b"", kind=WarcRecordType.warcinfo),
        record(STORY, url="http://example.com/a"),
        record(b"GET / HTTP/1.1", kind=WarcRecordType.request),
        record(page(1, noise=3).body, url="<http://example.com/b>"),
        record(page(2).body, url="http://example.com/c"),
    ]
    path = tmp_path / ("crawl.warc.gz" if packed else "crawl.warc")
    path.write_bytes(b"".join(map(gzip.compress, records) if packed else records))
    result = run("replay", path)
    assert result.status == 0
    assert result.column("outcome") == ["new", "duplicate", "new"]
    assert result.column("url") == [f"http://example.com/{n}" for n in "abc"]
    assert all(name.startswith("<urn:uuid:") for name in result.column("id"))


ENCODED = [
    ("Content-Encoding: gzip", gzip.compress(STORY)),
    ("content-encoding: BR", brotli.compress(STORY)),
    ("Content-Encoding: deflate", zlib.compress(STORY)[2:-4]),
    ("Content-Encoding: br, gzip", gzip.compress(brotli.compress(STORY))),
    ("Transfer-Encoding: chunked", chunked(STORY)),
    ("Transfer-Encoding: chunked", STORY),
]


def test_bodies_are_decoded_and_those_that_are_decoded_already_are_left(run, tmp_path) -> None:
    plain = record(STORY, url="http://example.com/plain")
    encoded = [record(body, HTML, header) for header, body in ENCODED]
    (tmp_path / "some.warc").write_bytes(b"".join([plain, *encoded]))
    result = run("replay", "some.warc")
    assert result.column("outcome") == ["new"] + ["duplicate"] * len(ENCODED)
    assert len(set(result.column("fingerprint"))) == 1


def test_the_charset_of_the_http_header_counts(run, tmp_path) -> None:
    text = "żółw idzie przez łąkę i śpiewa głośną pieśń o zachodzie słońca " * 5
    path = tmp_path / "one.warc"
    path.write_bytes(
        record(f"<p>{text}".encode(), HTML)
        + record(f"<p>{text}".encode("iso-8859-2"), "Content-Type: text/html; charset=iso-8859-2")
    )
    assert run("replay", path).column("distance") == [None, 0]


def test_what_a_crawl_would_pass_unjudged_is_skipped_with_its_reason(run, tmp_path) -> None:
    path = tmp_path / "one.warc"
    path.write_bytes(
        record(STORY, status="404 Not Found")
        + record(b"\x89PNG\r\n\0", "Content-Type: image/png")
        + record(chunked(STORY)[:-2000], HTML, "Transfer-Encoding: chunked")
        + record(b"f" * 20 + b"\r\n" + STORY, HTML, "Transfer-Encoding: chunked")
        + record(STORY, WARC_Truncated="length")
        + record(b"", kind=WarcRecordType.revisit)
        + record(b"<p>" + b"word " * 20_000)
        + record(STORY)
    )
    result = run("replay", path, "-s", "SIMHASH_GATE_MAX_BYTES=20000")
    assert result.status == 0
    assert result.column("reason")[:-1] == [
        "status: 404",
        "not html",
        "incomplete",
        "incomplete",
        "incomplete",
        "revisit record without a body",
        "too large",
    ]
    assert result.column("outcome") == ["skipped"] * 7 + ["new"]


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_is_cut_off_gives_the_records_before_and_says_so(
    run, tmp_path, packed: bool
) -> None:
    first, second = record(STORY), record(page(2).body)
    if packed:
        first, second = gzip.compress(first), gzip.compress(second)
    path = tmp_path / ("cut.warc.gz" if packed else "cut.warc")
    for where in (0.02, 0.2, 0.5, 0.9):
        path.write_bytes(first + second[: int(len(second) * where)])
        result = run("replay", path)
        assert result.status == 1
        assert result.column("outcome") == ["new"]
        assert result.err.startswith(f"{path}, record ")
        assert result.err.endswith("pages: 1 (1 new)\ninputs that could not be used: 1\n")


def test_a_damaged_record_is_reported_and_the_rest_goes_on(run, tmp_path) -> None:
    path = tmp_path / "one.warc"
    path.write_bytes(
        record(STORY, url="")
        + record(STORY, status="").replace(b"HTTP/1.1 ", b"garbage! ")
        + record(b"no brotli", HTML, "Content-Encoding: br")
        + record(b"no markup", HTML, "Content-Encoding: rot13")
        + record(STORY)
    )
    result = run("replay", path)
    assert result.status == 1
    assert result.column("outcome") == ["new"]
    for number in (1, 2, 3, 4):
        assert f"{path}, record {number}: " in result.err
    assert "could not be used: 4" in result.err
