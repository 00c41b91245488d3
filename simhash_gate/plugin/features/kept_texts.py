"""Keeps the texts of kept pages in the store, and adds them to the verdicts on their copies."""

from __future__ import annotations

from dataclasses import replace

from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.gate.judge import Gate
from simhash_gate.gate.verdict import Verdict
from simhash_gate.history.texts import FetchedPage, KeptPage, pack
from simhash_gate.plugin.asked_for import validators_in
from simhash_gate.plugin.features.revalidation import needs_page
from simhash_gate.plugin.followed import FollowedPage
from simhash_gate.plugin.listeners import Judged, Listener
from simhash_gate.plugin.page_keys import time_of_visit
from simhash_gate.plugin.requests import STORED_FLAG
from simhash_gate.plugin.threads import result
from simhash_gate.stores import Blob
from simhash_gate.stores.base import KEPT_TEXT

_NOT_OF_A_BODY = frozenset(
    {b"set-cookie", b"content-encoding", b"content-length", b"transfer-encoding", b"connection"}
)


class KeptTexts(Listener):
    """Keeps the text of each kept page in the store. Failures change nothing in the crawl."""

    async def matched(self, verdict: Verdict) -> Verdict:
        address = standing(verdict)
        if address is None:
            return verdict

        def read(gate: Gate) -> KeptPage:
            return KeptPage.of(gate.store.get(KEPT_TEXT, *address))

        try:
            kept = await result(self._crawl.store.submit(read))
        except Exception as error:
            self._failed(error)
            return verdict
        return replace(verdict, kept=kept) if kept.packed else verdict

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Keep the text of a kept page in the store, or keep that of an unchanged page longer."""
        verdict = judged.verdict
        read = verdict.page
        if judged.skipped or read is None or not read.digest:
            return
        address = standing(verdict) if verdict.outcome == "unchanged" else None
        if verdict.means.kept and verdict.record is not None:
            address = verdict.record.scope, to_hex(read.digest)
        if address is None:
            return
        at, budget = time_of_visit(judged.request), self._settings.keep_markdown
        source = self._source_of(judged)
        # The text of an unchanged page is written again as it is: that makes it new.
        stays = verdict.outcome == "unchanged" and source is None
        packed = verdict.kept.packed if verdict.kept is not None and stays else b""
        if judged.not_modified and not packed:
            return

        def keep(gate: Gate) -> None:
            values = {"url": read.url, "title": read.title, "markdown": read.markdown}
            text = packed or pack(**values, time=at, links=read.all_links, source=source)
            if len(text) <= budget:  # a text that exceeds it alone would drive out all
                gate.store.put(Blob(KEPT_TEXT, *address, text, at), budget=budget)

        future = self._crawl.store.submit(keep)
        future.add_done_callback(lambda done: self._failed(done.exception()))

    def _source_of(self, judged: Judged) -> FetchedPage | None:
        """Return the page as it was fetched, without cookies, if a later visit may need it."""
        response, verdict = judged.response, judged.verdict
        was_fetched = not judged.not_modified and STORED_FLAG not in response.flags
        is_needed = verdict.policy.revalidate and needs_page(verdict.policy)
        if not (was_fetched and is_needed and any(validators_in(response))):
            return None
        key = f"{judged.key} {self._crawl.variants.of(judged.request, response)}"
        headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, values in response.headers.items()
            if name.lower() not in _NOT_OF_A_BODY
            for value in values
        )
        encoding = getattr(response, "_encoding", None)  # the argument of the response's class
        return FetchedPage(key, response.body, headers, encoding)

    def _failed(self, error: BaseException | None) -> None:
        self._tell_once("KEEP_MARKDOWN: a text was not kept or read", error)


def standing(verdict: Verdict) -> tuple[str, str] | None:
    """Return the scope and the key of the matched page's text in the store; None if it has none."""
    is_known = verdict.means.revisit or verdict.outcome == "duplicate"
    if not is_known or verdict.match is None:
        return None
    record = verdict.match.record
    return (record.scope, to_hex(record.digest)) if record.digest else None
