"""The history of one page: its versions, and whether it is gone."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, replace
from itertools import starmap
from typing import Any

from simhash_gate.common.times import span_of
from simhash_gate.history.validators import Validators

_FORMAT = 5


@dataclass(frozen=True, slots=True)
class Version:
    """One content of a page, from its first visit to its last.

    `first_seen` and `last_seen` are the Unix times of these visits. `fingerprint`, `digest`,
    `links` and `structure` are unsigned 64-bit numbers as a `Page` has them, 0 if there is none.
    `run` is the run that kept this version. `headline` is the page's name. `offers` are the fields
    of its offer and those that the user compares, each with its value, None if unknown. `etag` and
    `modified` are its `ETag` and `Last-Modified`, `variant` names the variant that was asked for.
    `url` is the address that it came by first. `asker` and `carries` are those of a record. `items`
    has digests of what its items said, packed, "" if that is not known.
    """

    first_seen: float
    last_seen: float
    fingerprint: int
    digest: int
    words: int
    title: str
    run: str
    pipeline: str = ""
    links: int = 0
    structure: int = 0
    headline: str = ""
    offers: tuple[tuple[str, str], ...] | None = None
    etag: str = ""
    modified: str = ""
    variant: str = ""
    url: str = ""
    asker: str = ""
    carries: str = ""
    items: str = ""

    @property
    def validators(self) -> Validators:
        """The validators that the server sent with this version."""
        return Validators(self.etag, self.modified)

    def age(self, at: float) -> str:
        """Return in words how old this version is at a Unix time."""
        return f"last seen {span_of(abs(at - self.last_seen))} ago"


@dataclass(frozen=True, slots=True)
class History:
    """The versions of one page, oldest first. Their number is bounded.

    `gone` is the Unix time when the page was found gone (404, 410) or to show another page's text.
    It is None if the page was there at the last visit.
    """

    versions: tuple[Version, ...] = ()
    gone: float | None = None

    @property
    def last(self) -> Version | None:
        """The version that was seen last."""
        return self.versions[-1] if self.versions else None

    @property
    def changed(self) -> bool:
        """Whether the page has said different things."""
        return len({(it.digest, it.words, it.headline, it.offers) for it in self.versions}) > 1

    def last_of(self, pipeline: str, asker: str) -> Version | None:
        """Return the last version of one pipeline version that was asked for by one asker."""
        for version in reversed(self.versions):
            if version.pipeline == pipeline and (
                version.asker == asker or not (version.asker and asker)
            ):
                return version
        return None

    def visited(self, version: Version, *, again: Version | None, most: int) -> History:
        """Return the history after a visit that found `version`. It keeps `most` versions.

        `again` is the earlier version with the same content, if any. Its run is replaced.
        """
        others = tuple(before for before in self.versions if before is not again)
        if again is not None:
            # A capture can be older than the last visit: then it only moves `first_seen`.
            times = sorted((again.first_seen, again.last_seen, version.last_seen))
            version = replace(
                version,
                first_seen=times[0],
                last_seen=times[-1],
                url=again.url or version.url,  # the address that delivered this version first
                carries=version.carries or again.carries,
                items=version.items or again.items,
            )
        return History((*others, version)[-max(1, most) :])

    def encode(self) -> bytes:
        """Return the history as bytes, about 100 for each version."""
        versions = [[getattr(version, name) for name in _NAMES] for version in self.versions]
        text = json.dumps([_FORMAT, versions, self.gone], separators=(",", ":"))
        return zlib.compress(text.encode(), 1)

    @classmethod
    def decode(cls, data: bytes) -> History:
        """Return what `encode` wrote, an empty history for no bytes. Raises ValueError."""
        if not data:
            return cls()
        try:
            kind, versions, gone = json.loads(zlib.decompress(data))
            if kind != _FORMAT:
                raise ValueError(f"its format is {kind!r}")
            return cls(tuple(starmap(_version, versions)), None if gone is None else float(gone))
        except (zlib.error, TypeError, ValueError) as error:
            raise ValueError(f"no history of a page: {error}") from error


_NAMES = tuple(Version.__dataclass_fields__)


def _version(*fields: Any) -> Version:
    version = Version(*fields)
    if version.offers is None:
        return version
    return replace(version, offers=tuple((name, value) for name, value in version.offers))
