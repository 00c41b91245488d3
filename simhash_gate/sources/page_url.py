"""The URL of a page in a file: guessed from its canonical link, or from its path."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote

from simhash_gate.gate.policy import is_public_host
from simhash_gate.identity.canonical import canonical_urls

_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+(?:[:+]\d{1,5})?")
_INDEX = re.compile(r"/index\.(?:x?html?|xht)$", re.IGNORECASE)
_SAFE = "/%?=&~:@!$'()*+,;"


def guess_url(body: bytes, path: str, folder: str = "") -> str:
    """Return the URL that a page or its path tells, "" for none. `folder` is where it was found."""
    return next(canonical_urls(body), "") or url_of_path(path, folder)


def url_of_path(path: str, folder: str = "") -> str:
    """Return the URL of a file of a mirror, by the host in its path; "" where it has none.

    `mirror/example.com/a/b.html` is `https://example.com/a/b.html`. The first host within the
    folder counts, else the first one in the name of the folder.
    """
    named = Path(folder).parts if folder else ()
    parts = Path(path).parts
    places = [*range(len(named), len(parts) - 1), *range(len(named))]
    host = next((place for place in places if _is_host(parts[place])), None)
    if host is None:
        return ""
    scheme = parts[host - 1] if host and parts[host - 1] in ("http", "https") else "https"
    rest = os.fsencode("/".join(parts[host + 1 :]))
    address = _INDEX.sub("/", "/" + quote(rest, safe=_SAFE))
    return f"{scheme}://{parts[host].lower().replace('+', ':')}{address}"


def _is_host(name: str) -> bool:
    return bool(_HOST.fullmatch(name)) and is_public_host(re.split("[:+]", name)[0].lower())
