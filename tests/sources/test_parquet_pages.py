"""Parquet files of pages."""

import os
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from simhash_gate import read_page
from tests.sources.opened import measured, opened

URL = "https://example.com/"
NOON = datetime(2024, 6, 1, 12, tzinfo=timezone.utc)
WORDS = "żółw idzie przez łąkę i śpiewa głośną pieśń o zachodzie słońca"


def write(path: Path, **columns: Any) -> Path:
    pa.parquet.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("html", f"<title>T</title><p>{WORDS}</p>"),
        ("html", f"<title>T</title><p>{WORDS}</p>".encode("iso-8859-2")),
        ("html", pa.array([f"<p>{WORDS}</p>"] * 2, pa.large_string())),
        ("html", pa.array([f"<p>{WORDS}</p>"] * 2).dictionary_encode()),
        ("text", WORDS),
        ("markdown", WORDS),
    ],
)
def test_each_row_is_a_page(tmp_path: Path, name: str, page: Any) -> None:
    pages = page if isinstance(page, pa.Array | pa.DictionaryArray) else [page] * 2
    path = write(
        tmp_path / "a.parquet",
        **{name: pages},
        url=[URL + "1", None],
        id=[7, 8],
        encoding=["iso-8859-2" if isinstance(page, bytes) else None] * 2,
        scope=["one", None],
        time=pa.array([NOON, None], pa.timestamp("ns", "UTC")),
    )
    found = opened(path)
    first, second = found.entries
    told = (first.place, first.url, first.id, first.scope)
    assert told == (f"{path}, row 1", URL + "1", 7, "one")
    assert first.time == NOON.timestamp()
    assert (second.url, second.id, second.scope, second.time) == ("", 8, None, None)
    assert second.name == f"{path}, row 2"
    for entry in found.entries:
        assert WORDS in read_page(entry.body, encoding=entry.encoding).markdown
    assert found.complaints == []


def test_what_has_no_page_or_a_too_large_one_or_is_damaged_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.parquet").write_bytes(b"PAR1" * 10)
    (tmp_path / "empty.parquet").touch()
    write(tmp_path / "other.parquet", bits=[1])
    write(tmp_path / "wrong.parquet", html=[1])
    pages = write(tmp_path / "pages.parquet", text=[None, "word " * 1000, "words"])
    names = ("bad", "empty", "other", "wrong", "nowhere", "pages")
    found = opened(*(tmp_path / f"{name}.parquet" for name in names), max_bytes=1000)
    assert [(entry.place, entry.skipped) for entry in found.entries] == [
        *((f"{pages}, row 2", "too large"), (f"{pages}, row 3", "")),
    ]
    told = [f"{place.rpartition('/')[2]}: {message}" for place, message in found.complaints]
    assert [message.partition(".")[0] for message in told] == [*names]
    assert "no column 'html', 'path', 'markdown', 'text'; there are bits" in told[2]
    assert "wrong.parquet, row 1: 'html' is 1: expected a string" in told[3]
    assert told[5] == "pages.parquet, row 1: no 'html', 'path', 'markdown' or 'text'"


def test_a_file_that_is_cut_within_gives_the_rows_before(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"text": [os.urandom(50).hex() for n in range(1000)]})
    pa.parquet.write_table(table, path, row_group_size=100, write_page_checksum=True)
    content = path.read_bytes()
    half = len(content) // 2
    path.write_bytes(content[:half] + bytes(4_000) + content[half + 4_000 :])
    found = opened(path)
    assert 300 <= len(found.entries) <= 600
    assert len(found.complaints) == 1
    assert found.complaints[0][1].startswith("can't be read after row ")


def test_rows_are_read_a_few_at_a_time(tmp_path: Path) -> None:
    """One group of rows is larger than what the command may have of memory."""
    rows = [os.urandom(5_000).hex() for _ in range(20_000)]
    path = write(tmp_path / "a.parquet", text=rows)
    memory, counts = measured(path)
    assert counts == [20_000, 0, 0]
    assert memory < 250 << 20
