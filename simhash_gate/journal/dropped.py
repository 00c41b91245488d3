"""A dropped page as the journal keeps it: its response, and all that was known of it."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from typing import Any

_LAST_TIME = 253_402_300_800  # the year 10,000, which no calendar shows


class DamagedError(ValueError):
    """Something in a journal is cut off, or makes no sense; the message says what."""


@dataclass(frozen=True, slots=True)
class Drop:
    """What was known of a page when it was dropped.

    `url` and `time` (Unix) are those of the response, `matched_url`, `distance` and `threshold`
    (bits), `outcome` and `reason` are the verdict: "" and 0 where no page matched. `pipeline` is
    the version that the page was read with, `fingerprint` 16 hex digits. `request` is the request
    as Scrapy's `Request.to_dict` has it, said in JSON; `unsaid` names what of it JSON can't say.
    `response` is what a response has beside the parts that HTTP knows. `matched_markdown` is that
    of the page which was found, if it is kept.
    """

    url: str
    time: float
    spider: str
    pipeline: str
    outcome: str
    reason: str
    matched_url: str
    distance: int
    threshold: int
    title: str
    words: int
    fingerprint: str | None
    request: dict[str, Any] = field(default_factory=dict)
    unsaid: list[str] = field(default_factory=list)
    response: dict[str, Any] = field(default_factory=dict)
    matched_markdown: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return all of it, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def of_json(cls, values: Any) -> Drop:
        """Return what `as_json` gave; other keys mean nothing. Raises `DamagedError`."""
        if not isinstance(values, dict):
            raise DamagedError("metadata that are no JSON object")
        known = {f.name: values[f.name] for f in fields(cls) if f.name in values}
        missing = [f.name for f in fields(cls) if _is_needed(f) and f.name not in known]
        if missing:
            raise DamagedError(f"metadata without {', '.join(missing)}")
        for name, value in known.items():
            if not isinstance(value, _TYPES[name]):
                raise DamagedError(f"metadata whose {name!r} is {value!r}")
        if not 0 <= known["time"] < _LAST_TIME:
            raise DamagedError(f"metadata whose 'time' is {known['time']!r}")
        return cls(**known)


@dataclass(frozen=True, slots=True)
class Stored:
    """An HTTP response: headers in their order, the body without its content encoding."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    ip_address: str = ""


def _is_needed(known: Any) -> bool:
    return known.default is MISSING and known.default_factory is MISSING


_TYPES: dict[str, Any] = {
    **dict.fromkeys((f.name for f in fields(Drop)), str),
    **dict.fromkeys(("distance", "threshold", "words"), int),
    "time": (int, float),
    "fingerprint": (str, type(None)),
    **dict.fromkeys(("request", "response"), dict),
    "unsaid": list,
}
