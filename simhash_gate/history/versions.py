"""What was seen of one page: its versions, and whether it is gone."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from simhash_gate.history.validators import Validators

_FORMAT = 4


class Offer(NamedTuple):
    """A field of what a page offers, or that the user compares, and its value."""

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Version:
    """What a page said from one visit to another.

    `first_seen` and `last_seen` are the Unix times of these visits. `fingerprint`, `digest`,
    `links` and `structure` are unsigned 64-bit numbers as a `Page` has them, 0 where there is none,
    or none that can be compared.
    `run` is the run that kept this version. `headline` and `offers` are what the page claims;
    `offers` is None where that is not known.
    `etag` and `modified` are its `ETag` and `Last-Modified`; `variant` names what was asked for.
    `url` is the address that it came by first. `asker` and `carries` are those of a record.
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
    offers: tuple[Offer, ...] | None = None
    etag: str = ""
    modified: str = ""
    variant: str = ""
    url: str = ""
    asker: str = ""
    carries: str = ""

    @property
    def validators(self) -> Validators:
        """How the server named it."""
        return Validators(self.etag, self.modified)

    @property
    def time(self) -> float:
        """When the page was last seen so."""
        return self.last_seen


@dataclass(frozen=True, slots=True)
class History:
    """The versions of one page, oldest first; bounded.

    `gone` is when the page was found gone (404, 410), or to say what another page says; None if it
    was there at the last visit.
    """

    versions: tuple[Version, ...] = ()
    gone: float | None = None

    @property
    def last(self) -> Version | None:
        """The version that was seen last."""
        return self.versions[-1] if self.versions else None

    def last_of(self, pipeline: str, asker: str) -> Version | None:
        """Return the version that was seen last of those read in one way, for one asker."""
        for kept in reversed(self.versions):
            if kept.pipeline == pipeline and (kept.asker == asker or not (kept.asker and asker)):
                return kept
        return None

    def visited(self, version: Version, *, again: Version | None, most: int) -> History:
        """Return the history after a visit that found a version; it keeps `most` of them.

        `again` is the version that it is, if the page says what it said; `version` has its run, or
        that which has kept it anew.
        """
        kept = tuple(before for before in self.versions if before is not again)
        if again is not None:
            # A capture that is older than the last visit is no news of when the page was seen.
            times = sorted((again.first_seen, again.last_seen, version.last_seen))
            version = replace(
                version,
                first_seen=times[0],
                last_seen=times[-1],
                url=again.url or version.url,  # it is the address that delivered it
                carries=version.carries or again.carries,
            )
        return History((*kept, version)[-max(1, most) :])

    def encode(self) -> bytes:
        """Return the history as bytes: about 100 for each version."""
        versions = [[getattr(version, name) for name in _NAMES] for version in self.versions]
        text = json.dumps([_FORMAT, versions, self.gone], separators=(",", ":"))
        return zlib.compress(text.encode(), 1)

    @classmethod
    def decode(cls, data: bytes) -> History:
        """Return the history that `encode` wrote; an empty one for nothing.

        Raises ValueError for anything else.
        """
        if not data:
            return cls()
        try:
            kind, versions, gone = json.loads(zlib.decompress(data))
            if kind != _FORMAT:
                raise ValueError(f"its format is {kind!r}")
            return cls(
                tuple(_version(*fields) for fields in versions),
                None if gone is None else float(gone),
            )
        except (zlib.error, TypeError, ValueError) as error:
            raise ValueError(f"no history of a page: {error}") from error


_NAMES = tuple(Version.__dataclass_fields__)


def _version(*fields: Any) -> Version:
    version = Version(*fields)
    if version.offers is None:
        return version
    return replace(version, offers=tuple(Offer(*offer) for offer in version.offers))
