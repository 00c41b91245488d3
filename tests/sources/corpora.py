"""Corpora as `simhash-gate dedupe` makes them."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from simhash_gate import read_page
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.options import pipeline_version

FORMS = ("folder", "corpus.jsonl", "corpus.parquet")


def row(html: bytes, url: str, **named) -> dict:
    """Return the row of a page."""
    page = read_page(html, url=url)
    assert page.fingerprint is not None
    found = {
        "id": url,
        "url": url,
        "title": page.title,
        "date": page.date,
        "words": page.words,
        "fingerprint": to_hex(page.fingerprint),
        "pipeline": pipeline_version(),
        "markdown": page.markdown,
    }
    return found | named


def write_corpus(folder: Path, form: str, *rows: dict) -> Path:
    """Write rows in one of the forms; return the path."""
    path = folder / form
    if form.endswith(".jsonl"):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    elif form.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(list(rows)), path)
    else:
        for number, row in enumerate(rows):
            head = "".join(f"{k}: {json.dumps(v)}\n" for k, v in row.items() if k != "markdown")
            file = path / f"example.com/{number:03}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"---\n{head}---\n\n{row['markdown']}\n", "utf-8")
    return path
