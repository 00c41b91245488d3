"""A verdict as one line of JSON: what `replay` prints and what a crawl logs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from simhash_gate.common.urls import without_credentials
from simhash_gate.fingerprints.hamming import to_hex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simhash_gate.gate.verdict import Verdict


def line_of(
    verdict: Verdict,
    *,
    url: str,
    dropped: bool,
    size: int,
    id: Any = None,  # noqa: A002 - the key's name
    at: float | None = None,
) -> dict[str, Any]:
    """Return the line of the verdict on one response.

    `size` is that of the body in bytes; `dropped` says whether it went no further; `at` is the Unix
    time of the verdict, None where no crawl was on.
    """
    page, policy, fingerprint = verdict.page, verdict.policy, verdict.fingerprint
    kept = verdict.match.record if verdict.match else None
    return {
        "id": id,
        "url": without_credentials(url),
        "outcome": verdict.outcome,
        "distance": verdict.match.distance if verdict.match else None,
        "matched_url": kept.url if kept else None,
        "fingerprint": None if fingerprint is None else to_hex(fingerprint),
        "reason": verdict.reason,
        "differs": verdict.differs or None,
        "title": page.title if page else None,
        "words": page.words if page else None,
        "matched_title": kept.title if kept else None,
        "matched_words": kept.words if kept else None,
        "threshold": policy.threshold,
        "near": policy.near,
        "dropped": dropped,
        "bytes": size,
        "time": at,
    }


def encode(line: Mapping[str, Any]) -> bytes:
    """Return a line of JSON Lines, in UTF-8, with its end."""
    # A lone surrogate, as in a file name that is no UTF-8, becomes an escape that JSON has.
    return json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
