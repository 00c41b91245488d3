"""Keeps the text of kept pages in the store, and gives it to the verdicts on pages like them."""

from __future__ import annotations

import logging
from dataclasses import replace

from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.gate.judge import Gate
from simhash_gate.gate.verdict import Verdict
from simhash_gate.history.texts import FetchedPage, KeptPage, pack
from simhash_gate.plugin.conditions import STORED_FLAG, needs_page, validators_in
from simhash_gate.plugin.listeners import Crawl, FollowedPage, Judged, Listener
from simhash_gate.plugin.page_keys import time_of_visit
from simhash_gate.plugin.threads import result
from simhash_gate.stores import Blob, StoreError
from simhash_gate.stores.base import KEPT_TEXT
from simhash_gate.values import PREFIX

logger = logging.getLogger(__name__)

_KEPT = frozenset({"new", "near", "updated", "rewritten"})
_COMPARED = frozenset({"duplicate", "unchanged", "updated", "rewritten"})
_NOT_OF_A_BODY = frozenset(
    {b"set-cookie", b"content-encoding", b"content-length", b"transfer-encoding", b"connection"}
)


class KeptTexts(Listener):
    """Lets the store keep the text of each page that passes as a kept one; fails open."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._budget = crawl.settings.keep_markdown

    async def matched(self, verdict: Verdict) -> Verdict:
        """Return a verdict with the text of the page that it rests on, if the store has it."""
        address = standing(verdict)
        if address is None:
            return verdict
        try:
            scope, key = address[0], to_hex(address[1])
            asked = self._crawl.store.submit(lambda gate: gate.store.get(KEPT_TEXT, scope, key))
            packed = await result(asked)
        except Exception as error:
            self._failed(error)
            return verdict
        return replace(verdict, kept=KeptPage(packed)) if packed else verdict

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Let the store keep the text of a kept page; or keep that of an unchanged one longer."""
        verdict = judged.verdict
        read = verdict.page
        if judged.skipped or read is None or not read.digest:
            return
        if verdict.outcome in _KEPT and verdict.record is not None:
            address = verdict.record.scope, read.digest
        elif verdict.outcome == "unchanged" and (found := standing(verdict)) is not None:
            address = found
        else:
            return
        at = time_of_visit(judged.request)
        source = self._source_of(judged)
        # Of an unchanged page, that which is there already stays for longer.
        stays = verdict.outcome == "unchanged" and source is None
        packed = verdict.kept.packed if verdict.kept is not None and stays else b""
        if judged.not_modified and not packed:
            return

        def keep(gate: Gate) -> None:
            """Keep the text, if it alone is within the budget."""
            known = {"url": read.url, "title": read.title, "markdown": read.markdown}
            text = packed or pack(**known, time=at, links=read.all_links, source=source)
            if len(text) <= self._budget:
                scope, key = address[0], to_hex(address[1])
                gate.store.put(Blob(KEPT_TEXT, scope, key, text, at), budget=self._budget)

        kept = self._crawl.store.submit(keep)
        kept.add_done_callback(lambda done: self._failed(done.exception()))

    def _source_of(self, judged: Judged) -> FetchedPage | None:
        """Return the page as it was fetched now, but its cookies, if a later visit may need it."""
        response, verdict = judged.response, judged.verdict
        if STORED_FLAG in response.flags or judged.not_modified:
            return None
        if not (verdict.policy.revalidate and needs_page(verdict.policy)):
            return None
        if not any(validators_in(response)):
            return None
        request = f"{judged.fingerprint} {self._crawl.variants.of(judged.request, response)}"
        headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1"))
            for name in response.headers
            if name.lower() not in _NOT_OF_A_BODY
            for value in response.headers.getlist(name)
        )
        encoding = getattr(response, "_encoding", None)  # what the response was made with
        return FetchedPage(request, response.body, headers, encoding)

    def _failed(self, error: BaseException | None) -> None:
        """Say once for each reason why a text could not be kept or read."""
        if error is None:
            return
        reason = str(error) if isinstance(error, StoreError) else repr(error)
        if self._once(reason):
            logger.warning("%sKEEP_MARKDOWN: a text was not kept or read: %s", PREFIX, reason)


def standing(verdict: Verdict) -> tuple[str, int] | None:
    """Return where the text is of the page that a verdict rests on: its scope and digest."""
    if verdict.outcome not in _COMPARED or verdict.match is None:
        return None
    record = verdict.match.record
    return (record.scope, record.digest) if record.digest else None
