"""What users and the gate write into the meta of requests: the keys, and which request is a retry.

`retry_times` alone does not tell a retry: it travels in the meta of a request that is redirected,
and with `meta=response.meta`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.utils.request import RequestFingerprinterProtocol

META_KEY = "simhash_gate"
"""What a request asks of the gate: False, or a mapping of policy values."""

VERDICT_KEY = "simhash_gate_verdict"
"""Where the gate leaves its verdict, for the spider."""

RECOVERED_KEY = "simhash_gate_recovered"
"""What the journal knew of a page that is recovered from it."""

KEPT_KEY = "simhash_gate_kept"
"""Where the gate notes which request's page it kept, so that a retry of it is known."""


def mark_kept(request: Request, fingerprint: str) -> None:
    """Note in the request's meta that its page was kept, for the requests that are made from it."""
    request.meta[KEPT_KEY] = [fingerprint, request.meta.get("retry_times", 0)]


def forget_others(request: Request, fingerprinter: RequestFingerprinterProtocol) -> None:
    """Take out of the meta of a request that goes out what was noted of another one."""
    if KEPT_KEY in request.meta:
        kept, _ = request.meta[KEPT_KEY]
        try:
            same = kept == fingerprinter.fingerprint(request).hex()
        except Exception:  # a project's own may do anything; the gate will say so when it judges
            same = False
        if not same:
            del request.meta[KEPT_KEY]


def is_retry(request: Request, fingerprint: str) -> bool:
    """Tell whether a request was sent again, by its own decision, after its page had been kept."""
    kept, times = request.meta.get(KEPT_KEY) or ("", 0)
    return bool(kept == fingerprint and request.meta.get("retry_times", 0) > times)
