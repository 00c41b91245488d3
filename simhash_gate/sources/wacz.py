"""WACZ files: WARC files in a ZIP file, and such files in a ZIP file. None is unpacked to disk."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, cast

from simhash_gate.common.wording import complaining
from simhash_gate.sources.warc import SUFFIXES as WARC
from simhash_gate.sources.warc import responses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader
    from zipfile import ZipExtFile

    from simhash_gate.common.wording import Complain
    from simhash_gate.sources import Entry, File

SUFFIX = ".wacz"
# What `zipfile` raises: also for members that are encrypted, or packed in an unknown way.
_FAILURES = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError)


def wacz(file: File, complain: Complain, max_bytes: int) -> Iterator[Entry]:
    """Yield the HTTP responses of a WACZ file: its WARC files in the order of their names."""
    with complaining(complain, file.path), Path(file.path).open("rb") as opened:
        yield from _members(opened, file.path, complain, max_bytes, nested=False)


def _members(
    opened: BufferedReader | ZipExtFile,
    place: str,
    complain: Complain,
    max_bytes: int,
    *,
    nested: bool,
) -> Iterator[Entry]:
    try:
        packed = zipfile.ZipFile(opened)
    except _FAILURES as error:
        complain(place, f"no WACZ file, or damaged: {error}")
        return
    with packed:
        wanted = WARC if nested else (*WARC, SUFFIX)
        members = [one for one in packed.infolist() if one.filename.lower().endswith(wanted)]
        if not members:
            complain(place, "no WACZ file: no WARC file is in it")
        for member in sorted(members, key=lambda one: one.filename):
            name = "".join(
                c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in member.filename
            )
            yield from _member(packed, member, f"{place}, {name}", complain, max_bytes)


def _member(
    packed: zipfile.ZipFile, info: zipfile.ZipInfo, place: str, complain: Complain, max_bytes: int
) -> Iterator[Entry]:
    try:
        member = cast("ZipExtFile", packed.open(info))
    except _FAILURES as error:
        complain(place, str(error))
        return
    with member:
        if info.filename.lower().endswith(SUFFIX):
            yield from _members(member, place, complain, max_bytes, nested=True)
        else:
            yield from responses(member, place, complain, max_bytes)
