"""A corpus: kept pages as a folder of Markdown files, as JSON Lines or as Parquet."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import astuple, dataclass, fields, replace
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Literal

import click

from simhash_gate.collection.table import write_rows
from simhash_gate.common.files import whole_file, write_new

Form = Literal["folder", "jsonl", "parquet"]

_FILES = (".csv", ".gz", ".htm", ".html", ".json", ".md", ".ndjson", ".txt", ".warc", ".zip")
_ROWS = 200  # pages that are in memory at once, with their Markdown
_SEGMENT, _SEGMENTS = 80, 12
_UNSAFE = re.compile(r"[^\w.-]+")
_ENDING = re.compile(r"\.x?html?\Z", re.IGNORECASE)
_SCHEME = re.compile(r"\A[a-z][a-z0-9+.-]*:/*", re.IGNORECASE)
_BREAKS = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
# Names that Windows keeps for devices.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CorpusPage:
    """A kept page as a corpus has it: what it says of itself; its fingerprint in hex.

    `canonical_url` is its URL without names that track visitors.
    """

    id: str | int
    url: str
    canonical_url: str
    title: str
    author: str | None
    date: str | None
    language: str | None
    site: str | None
    description: str | None
    words: int
    fingerprint: str
    pipeline: str
    markdown: str


COLUMNS = tuple(field.name for field in fields(CorpusPage))


def form_of(path: str) -> Form:
    """Return the form that a name tells. Raises click.UsageError for the name of another file."""
    suffix = Path(path).suffix.lower()
    if suffix in (".jsonl", ".parquet"):
        return "jsonl" if suffix == ".jsonl" else "parquet"
    if suffix in _FILES:
        raise click.UsageError(
            f"-o {path}: a corpus is a folder, or a file that ends in .jsonl or .parquet."
        )
    return "folder"


def is_empty_folder(path: Path) -> bool:
    """Tell whether a path is a folder with nothing in it."""
    return path.is_dir() and next(path.iterdir(), None) is None


def write_corpus(pages: Iterable[CorpusPage], path: str, form: Form) -> None:
    """Write all pages; a file is replaced when all are written. Raises OSError."""
    if form == "folder":
        for page in pages:
            data = f"{front_matter(page)}\n{page.markdown}\n".encode("utf-8", "backslashreplace")
            for name in _names(page):
                with suppress(FileExistsError, NotADirectoryError):
                    write_new(Path(path, name), data)
                    break
        return
    if form == "parquet":  # a column has one type
        pages = (replace(page, id=str(page.id)) for page in pages)
    with whole_file(path, private=False) as file:
        write_rows(map(astuple, pages), COLUMNS, form, file, batch=_ROWS)


def _names(page: CorpusPage) -> Iterator[str]:
    """Yield names for a page, until one is free: that which its URL tells, then with a number."""
    name = file_name(page.url or str(page.id))
    yield name
    # The file of another page may stand where this one needs a folder.
    stem = name.removesuffix(".md").replace("/", "-")[-_SEGMENT:]
    for number in count():
        known = f"{page.id} {number}".encode("utf-8", "surrogatepass")
        yield f"{stem}-{blake2b(known, digest_size=8).hexdigest()}.md"


def front_matter(page: CorpusPage) -> str:
    """Return what a file begins with: YAML, of which each line is a key and a value in JSON."""
    lines = [f"{name}: {_json(getattr(page, name))}" for name in COLUMNS if name != "markdown"]
    return "\n".join(["---", *lines, "---", ""])


def file_name(url: str) -> str:
    """Return the path of a page within a corpus, such as `example.com/news/story.md`.

    It has only letters, digits, `.`, `-`, `_` and `/`, and leads nowhere else.
    """
    segments = [_segment(part) for part in _SCHEME.sub("", url, count=1).split("/")]
    segments = [part for part in segments if part][-_SEGMENTS:]
    return _ENDING.sub("", "/".join(segments or ["page"])) + ".md"


def _segment(text: str) -> str:
    safe = _UNSAFE.sub("-", text).strip("-.")
    while len(safe.encode()) > _SEGMENT:
        safe = safe[: max(1, _SEGMENT * len(safe) // len(safe.encode()) - 1)]
    return f"{safe}-" if _DEVICES.fullmatch(safe) else safe


def _json(value: str | int | None) -> str:
    """Return a value as JSON that YAML reads as the same."""
    text = json.dumps(value, ensure_ascii=False)
    return _BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
