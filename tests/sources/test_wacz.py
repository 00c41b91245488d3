"""WACZ files: several archives in one, damaged ones, hostile ones."""

import gzip
import io
import random
import zipfile
from pathlib import Path

import pytest

from tests.sources.opened import measured, opened, warc_of

URL = "https://example.com/"
SEVERAL = {
    "archive/b.warc.gz": warc_of(URL + "3"),
    "archive/a.warc.gz": warc_of(URL + "1", URL + "2"),
    "pages/pages.jsonl": b'{"format": "json-pages-1.0", "id": "pages"}\n',
    "datapackage.json": b"{}",
}


def wacz(members: dict[str, bytes], pack: int = zipfile.ZIP_STORED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", pack) as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data, pack)
    return made.getvalue()


@pytest.mark.parametrize("pack", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_archives_in_it_are_read_by_name_also_those_in_files_of_its_kind(
    tmp_path: Path, pack: int
) -> None:
    within = wacz({"archive/x.warc": gzip.decompress(warc_of(URL + "4"))})
    path = tmp_path / "crawl.wacz"
    path.write_bytes(wacz(SEVERAL | {"within.wacz": within}, pack))
    found = opened(path)
    assert [(entry.url, entry.place) for entry in found.entries] == [
        (URL + "1", f"{path}, archive/a.warc.gz, record 1"),
        (URL + "2", f"{path}, archive/a.warc.gz, record 2"),
        (URL + "3", f"{path}, archive/b.warc.gz, record 1"),
        (URL + "4", f"{path}, within.wacz, archive/x.warc, record 1"),
    ]
    assert found.complaints == []


def test_what_is_no_wacz_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.wacz"
    for content, complaint in (
        (b"", "no WACZ file, or damaged: File is not a zip"),
        (wacz(SEVERAL)[:-30], "no WACZ file, or damaged: File is not a zip"),
        (wacz({}), "no WARC file is in it"),
        (wacz({"word/document.xml": b"<w>"}), "no WARC file is in it"),
    ):
        path.write_bytes(content)
        found = opened(path)
        assert found.entries == []
        ((place, message),) = found.complaints
        assert (place, complaint in message) == (str(path), True), message


def test_an_archive_in_it_that_is_damaged_or_encrypted_is_named_and_the_others_are_read(
    tmp_path: Path,
) -> None:
    whole, other = warc_of(URL + "1", URL + "2"), warc_of(URL + "3")
    members = {
        "archive/a.warc.gz": warc_of(URL + "encrypted"),
        "archive/b.warc.gz": whole[:-100],
        "archive/c.warc.gz": b"",
        "archive/d.warc.gz": other,
        "archive/e.wacz": b"no zip",
        "archive/f.warc.gz": warc_of(URL + "4"),
    }
    content = bytearray(wacz(members))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # of the first, `a`
        content[content.index(mark) + flags] |= 1
    place = content.index(other[-40:])  # of `d`: its check sum tells
    content[place : place + 40] = bytes(40)
    path = tmp_path / "a.wacz"
    path.write_bytes(content)
    found = opened(path)
    urls = {entry.url for entry in found.entries}
    assert {URL + "1", URL + "4"} <= urls <= {URL + n for n in "134"}
    told = dict(found.complaints)
    for name in "abcde":
        assert any(place.startswith(f"{path}, archive/{name}") for place in told)
    assert "encrypted" in told[f"{path}, archive/a.warc.gz"]
    assert not any("archive/f" in place for place in told)


@pytest.mark.parametrize("end", [b"\0", b"y"])
@pytest.mark.parametrize("alone", [True, False])
def test_an_archive_whose_name_is_damaged_in_the_directory_is_named(
    tmp_path: Path, end: bytes, *, alone: bool
) -> None:
    name = "archive/b.warc.gz"
    members = {name: SEVERAL[name], "datapackage.json": b"{}"} if alone else SEVERAL
    start, _, rest = wacz(members).rpartition(name.encode())
    path = tmp_path / "a.wacz"
    path.write_bytes(start + name[:-1].encode() + end + rest)
    found = opened(path)
    assert len(found.entries) == (0 if alone else 2)
    ((place, message),) = found.complaints
    assert place.startswith(f"{path}, archive/b.warc.g")
    assert "differ" in message


def test_names_lead_nowhere_and_do_not_control_the_terminal(tmp_path: Path) -> None:
    names = ["../../evil.warc.gz", "/etc/evil.warc.gz", "archive/\x1b[31mred.warc.gz"]
    path = tmp_path / "in/a.wacz"
    path.parent.mkdir()
    path.write_bytes(wacz({name: warc_of(URL)[:-50] for name in names}))
    found = opened(path)
    assert len(found.complaints) == 3
    assert all(place.isprintable() for place, _ in found.complaints)
    assert [*tmp_path.rglob("*")] == [path.parent, path]


def test_any_damage_is_said_and_nothing_else_happens(tmp_path: Path) -> None:
    whole = wacz(SEVERAL, zipfile.ZIP_DEFLATED)
    size = len(whole)
    path = tmp_path / "a.wacz"
    chance = random.Random(17)
    for _ in range(150):
        content = bytearray(whole)
        for _ in range(chance.randrange(1, 20)):
            content[chance.randrange(size)] = chance.randrange(256)
        path.write_bytes(content[: chance.randrange(size)] if chance.random() < 0.2 else content)
        found = opened(path)
        assert len(found.entries) == 3 or found.complaints


@pytest.mark.slow
def test_bombs_are_not_held_in_memory(tmp_path: Path) -> None:
    """Members of a small file that unpack to more than the command may have of memory."""
    memory, bomb = 150 << 20, 250  # the bomb in MB
    start = b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
    start += b"WARC-Target-URI: https://example.com/\r\nContent-Type: application/http\r\n"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n"
    block = head + gzip.compress(bytes(1 << 20)) * bomb
    path = tmp_path / "bomb.wacz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for name, begin, megabytes in (
            ("zeros", b"", bomb),
            ("one header", start + b"X: ", bomb),
            ("one record", start + b"Content-Length: %d\r\n\r\n" % (bomb << 20), bomb),
            ("one page", start + b"Content-Length: %d\r\n\r\n%s" % (len(block), block), 0),
        ):
            with packed.open(f"archive/{name}.warc", "w") as member:
                member.write(begin)
                for _ in range(megabytes):
                    member.write(bytes(1 << 20))
                member.write(b"\r\n\r\n")
        packed.writestr("archive/small.warc.gz", warc_of(URL))
    used, counts = measured(path)
    assert counts == [3, 2, 2]
    assert used < memory
