"""What `replay` reads: told by what stands at the path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from simhash_gate.offline import httpcache, manifest, warc

if TYPE_CHECKING:
    from simhash_gate.offline.entry import Complain, Source


def open_source(path: str, complain: Complain, max_bytes: int) -> Source:
    """Return the pages of an HttpCache folder, a WARC file (`.warc`, `.warc.gz`) or a manifest.

    Raises `MissingExtraError` where reading it takes a package that is not installed.
    """
    if Path(path).is_dir():
        return httpcache.http_cache(path, complain, max_bytes)
    if path.lower().endswith(warc.SUFFIXES):
        return warc.warc(path, complain, max_bytes)
    return manifest.manifest(path, complain, max_bytes, needs_url=True)
