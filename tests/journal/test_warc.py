"""The records of a journal: what other tools read of them, and what comes back."""

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from itertools import accumulate

import pytest
from warcio.archiveiterator import ArchiveIterator

from simhash_gate.journal.segments import Found, drops
from simhash_gate.journal.warc import Drop, Stored, pack, warcinfo
from tests.journal.pages import drop, packed

HEADERS = [
    (b"Content-Type", b"text/html; charset=utf-8"),
    (b"Content-Length", b"17"),  # of the gzip that came
    (b"Transfer-Encoding", b"chunked"),
    (b"Set-Cookie", b"a=b"),
    (b"Set-Cookie", b"c=d"),
]
BODY = "<p>Żółw\r\n\r\nidzie".encode()


def members(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield the content of each gzip member, and its packed size."""
    while data:
        unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
        content = unpacker.decompress(data)
        yield content, len(data) - len(unpacker.unused_data)
        data = unpacker.unused_data


def read(path) -> tuple[list[Found], list[tuple[str, str]]]:
    """Return the pages of a file, and the complaints about it."""
    complaints: list[tuple[str, str]] = []
    found = list(drops(str(path), lambda *said: complaints.append(said)))
    return found, complaints


def test_another_tool_reads_the_response_and_its_metadata() -> None:
    written = warcinfo() + pack(drop(), Stored(203, HEADERS, BODY, "192.0.2.7"))
    found = [
        (record, record.content_stream().read())
        for record in ArchiveIterator(io.BytesIO(written), check_digests="raise")
    ]
    (first, _), (metadata, about), (response, body) = found
    assert [first.rec_type, metadata.rec_type, response.rec_type] == [
        *("warcinfo", "metadata", "response")
    ]
    assert response.rec_headers["WARC-Target-URI"] == drop().url
    assert response.rec_headers["WARC-Date"].startswith("2024-06-01T12:00:00")
    assert response.rec_headers["WARC-IP-Address"] == "192.0.2.7"
    assert response.http_headers.get_statuscode() == "203"
    assert body == BODY
    assert int(response.http_headers["Content-Length"]) == len(BODY)
    assert response.http_headers["Transfer-Encoding"] is None
    assert metadata.rec_headers["WARC-Concurrent-To"] == response.rec_headers["WARC-Record-ID"]
    assert json.loads(about)["matched_url"] == drop().matched_url


def test_what_was_dropped_comes_back(tmp_path) -> None:
    known, stored = drop(encoding="utf-8"), Stored(203, HEADERS, BODY, "192.0.2.7")
    path = tmp_path / "one.warc.gz"
    path.write_bytes(warcinfo() + packed(7) + pack(known, stored))
    _, found = drops(str(path), pytest.fail)
    assert (found.drop, found.body) == (known, BODY)


def test_a_file_cut_off_anywhere_gives_the_pages_before_and_says_so(tmp_path) -> None:
    head, first, second = warcinfo(), packed(1), packed(2)
    path = tmp_path / "cut.warc.gz"
    whole = {len(head) + len(first), len(head + first + second)}
    written = head + first + second
    records = [*accumulate(size for _, size in members(written))][1:]
    for end in [*range(len(head) + 1, len(written), 11), *records]:
        path.write_bytes(written[:end])
        found, complaints = read(path)
        # The last bytes are gzip's own: without them, a page is whole.
        least, most = (sum(end + more >= length for length in whole) for more in (0, 16))
        assert least <= len(found) <= most
        if end in whole:
            assert not complaints
        else:
            ((place, message),) = complaints
            assert place.startswith(str(path))
            assert message.startswith(("cut off", "Invalid"))


DAMAGE = {
    "flipped": lambda data: bytes(byte ^ 0xFF for byte in data),
    "zeroed": lambda data: bytes(len(data)),
    "lost": lambda data: b"",
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("length", [1, 200, 600])
def test_damage_costs_the_pages_from_there_on_and_is_said_in_one_line(
    tmp_path, damage: str, length: int
) -> None:
    head, first, second, third = warcinfo(), packed(1), packed(2, size=300), packed(3)
    path = tmp_path / "damaged.warc.gz"
    begin = len(head + first)
    end = begin + len(second)
    written = head + first + second + third
    for at in range(begin, end - length, 13):
        damaged = DAMAGE[damage](written[at : at + length])
        path.write_bytes(written[:at] + damaged + written[at + length :])
        found, complaints = read(path)
        numbers = [int(page.drop.url.rpartition("/")[2]) for page in found]
        if numbers != [1, 2, 3]:  # of a gzip header, not every byte counts
            assert numbers in ([1], [1, 2])  # of gzip's own digest, nothing is needed
            ((place, message),) = complaints
            assert place.startswith(str(path))
            assert message.startswith(("cut off", "damaged", "Invalid"))
        assert [page.body[:7] for page in found] == [b"<p>Bees"] * len(found)


def of_another_crawler() -> bytes:
    """Responses, and nothing that says why they are there."""
    _, (response, _) = members(packed())
    return gzip.compress(response)


def test_what_is_no_journal_is_named(tmp_path) -> None:
    path = tmp_path / "no.warc.gz"
    for content, complaint in (
        (b"", "no dropped page is in it: an empty file"),
        (of_another_crawler(), "no dropped page is in it: not written by a journal"),
        (b"<p>Bees" * 400, "Invalid WARC header"),
    ):
        path.write_bytes(content)
        found, ((place, message),) = read(path)
        assert not found
        assert place.startswith(str(path))
        assert complaint in message


def test_metadata_that_make_no_sense_are_damage_and_a_later_version_may_know_more() -> None:
    known = vars(drop())
    for values, complaint in (
        ([], "no JSON object"),
        ({"url": "https://hive.example/"}, "without time, spider"),
        ({**known, "distance": "far"}, "'distance' is 'far'"),
        ({**known, "time": 1e300}, "'time' is 1e"),
    ):
        with pytest.raises(ValueError, match=complaint):
            Drop.of_json(values)
    assert Drop.of_json({**known, "mood": "calm"}) == drop()
