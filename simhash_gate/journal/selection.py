"""Which dropped pages of a journal are meant, as lines to read, and as a file of their own."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from simhash_gate.common.urls import without_credentials
from simhash_gate.journal.reading import drops
from simhash_gate.journal.records import warcinfo
from simhash_gate.journal.segments import Segment

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator

    from simhash_gate.common.complaints import Complain
    from simhash_gate.journal.drop import Drop
    from simhash_gate.journal.reading import Found


@dataclass(frozen=True, slots=True)
class Selection:
    """Pages that agree with all of this; times are Unix times, distances in bits."""

    domain: str = ""
    matched_url: str = ""
    spider: str = ""
    since: float = float("-inf")
    until: float = float("inf")
    distances: tuple[int, int] = (0, 64)

    def has(self, drop: Drop) -> bool:
        """Tell whether a dropped page is one of them."""
        low, high = self.distances
        return (
            (not self.domain or _is_of(drop.url, self.domain))
            and self._is_matched(drop.matched_url)
            and self.spider in ("", drop.spider)
            and self.since <= drop.time <= self.until
            and low <= drop.distance <= high
        )

    def _is_matched(self, url: str) -> bool:
        wanted = without_credentials(self.matched_url)
        return wanted in ("", without_credentials(url))


def selected(path: str, selection: Selection, complain: Complain) -> Iterator[Found]:
    """Yield the pages of a journal that are meant, the oldest first.

    What can't be read is complained of. Raises `MissingExtraError`.
    """
    return (found for found in drops(path, complain) if selection.has(found.drop))


def line(found: Found) -> dict[str, Any]:
    """Return what there is to know of a dropped page, but for its text."""
    drop = found.drop
    return {
        "url": without_credentials(drop.url),
        "matched_url": without_credentials(drop.matched_url),
        "distance": drop.distance,
        "threshold": drop.threshold,
        "outcome": drop.outcome,
        "reason": drop.reason,
        "title": drop.title,
        "words": drop.words,
        "fingerprint": drop.fingerprint,
        "pipeline": drop.pipeline,
        "time": datetime.fromtimestamp(drop.time, timezone.utc).isoformat(timespec="milliseconds"),
        "spider": drop.spider,
        "callback": drop.request.get("callback") or "parse",
        "file": found.place.file,
    }


def counted(pages: Iterable[Found], versions: Counter[str]) -> Iterator[Found]:
    """Yield the pages, and count them by pipeline version."""
    for found in pages:
        versions[found.drop.pipeline] += 1
        yield found


def copy(pages: Iterable[Found], to: str) -> int:
    """Write the records of pages to a new file, as they are; return how many pages these are.

    Raises OSError, also where the file is there already; the pages before an error are kept.
    """
    number = 0
    with closing(Segment(Path(to))) as segment:
        for found in pages:
            if not number:
                segment.append(warcinfo())
            with Path(found.place.file).open("rb") as file:
                file.seek(found.place.offset)
                segment.append(file.read(found.end - found.place.offset))
            number += 1
    return number


def _is_of(url: str, domain: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:  # no URL, which some other tool wrote
        return False
    wanted = domain.lower().removeprefix("www.")
    return host == wanted or host.endswith(f".{wanted}")
