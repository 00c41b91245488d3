"""Which requests are retries of the very request whose page was kept.

`retry_times` alone does not tell: it travels in the meta of a request that is redirected, and with
`meta=response.meta`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simhash_gate.plugin.names import KEPT_KEY

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.utils.request import RequestFingerprinterProtocol


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
