"""Counts for Scrapy's stats, and for a table by domain when the spider closes."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from weakref import WeakSet

from scrapy import Spider
from scrapy.extensions.closespider import CloseSpider
from scrapy.extensions.feedexport import BlockingFeedStorage, FeedExporter, FileFeedStorage

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.gate.policy import registered_domain
from simhash_gate.gate.verdict import OUTCOMES, Verdict
from simhash_gate.gate.visit import names_apart
from simhash_gate.plugin.followed import FollowedPage
from simhash_gate.plugin.listeners import Crawl, Judged, Listener
from simhash_gate.plugin.signals import item_held
from simhash_gate.values import PREFIX

logger = logging.getLogger(__name__)

TIMED = 500
"""The last pages of each domain whose times are known."""
MANY, SHARE = 100, 0.2
"""So many drops, and more than this share of a crawl's pages, are worth a word on sparing them."""
MOST_DOMAINS = 50
"""Rows of the closing table."""
MOST_TALLIES, OTHERS = 10_000, "(others)"
"""Domains that are counted one by one, and the name for all further ones together."""
NOT_COMPARED = {
    "store_failed": f"the store failed ({PREFIX}STORE)",
    "not_compared/many_alike": "too many pages look like them, and are others "
    f"({PREFIX}THRESHOLD, {PREFIX}VERIFY)",
    "not_compared/few_words": "too few words",
    "not_compared/unreadable": f"not read ({PREFIX}MAX_BYTES)",
    "skipped/too_large": f"too large ({PREFIX}MAX_BYTES)",
}
"""The reasons why pages pass without a full comparison, by stat."""
_FAILED = ("store_failed", "not_compared/unreadable")
"""The stats among them that are worth a warning."""


@dataclass(slots=True)
class DomainTally:
    """The counts of one domain, and the times of its last pages."""

    counts: Counter[str] = field(default_factory=Counter)
    milliseconds: deque[float] = field(default_factory=lambda: deque(maxlen=TIMED))


class GateStats(Listener):
    """Counts every response that the gate sees, in Scrapy's stats and by domain."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._run = crawl.store.run
        self._domains = defaultdict[str, DomainTally](DomainTally)
        self._tagged = 0
        self._held, self._pages_held = 0, WeakSet[FollowedPage]()
        self._recoded = Counter[str]()
        self._changed: Counter[bool] = Counter()  # pages, by whether they are listings
        self._carried = Counter[str]()
        self._renamed = Counter[tuple[str, str]]()

    def opened(self, spider: Spider) -> None:
        """Warn of feeds that will be replaced. Held items count as items for CloseSpider."""
        crawler = self._crawl.crawler
        exporter = crawler.get_extension(FeedExporter)
        replaced = [
            without_credentials(slot.uri)
            for slot in (exporter.slots if exporter else ())
            if slot.feed_options.get("overwrite", isinstance(slot.storage, BlockingFeedStorage))
            and "time)s" not in slot.uri_template
            and (not isinstance(slot.storage, FileFeedStorage) or Path(slot.storage.path).exists())
        ]
        policy = self._policies.default
        if replaced and self._run.known and policy.revisit != "pass" and policy.action != "tag":
            logger.warning(
                "%s will be replaced, and items of pages that have not changed since an earlier "
                "crawl are held back. To keep them, append (-o, overwrite=False), set %sREVISIT = "
                "'pass', or sweep a database by the signal item_held",
                ", ".join(replaced), PREFIX,
            )  # fmt: skip
        self._closer = crawler.get_extension(CloseSpider)
        if self._closer is not None and self._closer.close_on["timeout_no_item"]:
            crawler.signals.connect(self._closer.item_scraped_no_item, item_held)
        if self._closer is not None and self._closer.close_on["pagecount_no_item"]:
            crawler.signals.connect(self._item_held, item_held)

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        domain = judged.domain
        if domain not in self._domains and len(self._domains) >= MOST_TALLIES:
            domain = OTHERS
        tally = self._domains[domain]
        if judged.skipped:
            tally.counts.update(("fetched", "skipped"))
            self._count("fetched", "skipped", f"skipped/{judged.skipped}")
            return
        verdict, outcome = judged.verdict, judged.verdict.outcome
        became = "dropped" if judged.dropped else "held" if judged.held else "passed"
        tally.counts.update(("fetched", "checked", outcome, became))
        self._count("fetched", "checked", outcome, became)
        tally.milliseconds.append(judged.seconds * 1000)
        if judged.dropped:
            size = len(judged.response.body)
            tally.counts["bytes_saved"] += size
            self._stats.inc_value("simhash_gate/bytes_saved", size)
            if verdict.match and not self._crawl.is_own(verdict.match.record):
                tally.counts["dropped_for_earlier"] += 1
                self._count("dropped_for_earlier")
        elif outcome == "unchanged" and judged.held:
            self._held += 1
            if page is not None:
                self._pages_held.add(page)
        elif verdict.means.changed:
            self._changed[verdict.listing] += 1
        elif verdict.rejected and verdict.policy.action == "tag":
            self._tagged += 1
        self._count_why(verdict)

    def _item_held(self) -> None:
        """The page is none without an item. `CLOSESPIDER_ITEMCOUNT` counts what is delivered."""
        assert self._closer is not None
        self._closer.counter["pagecount_since_last_item"] = 0

    def moved(self, page: FollowedPage) -> None:
        """Count a page that gave items which it had not given before."""
        if page.given and page in self._pages_held:
            self._pages_held.discard(page)
            self._held -= 1
            self._count("unpaid")

    def _count_why(self, verdict: Verdict) -> None:
        if verdict.not_compared:
            self._count(f"not_compared/{verdict.not_compared}")
        if verdict.unpaid:
            self._count("unpaid")
        if verdict.unpaid == "code" and verdict.match:
            self._recoded[verdict.match.record.callback] += 1
        if verdict.differs == "carried":
            self._count("requests_differ")
            if verdict.match and verdict.record:
                kept, record = verdict.match.record, verdict.record
                names = names_apart(kept, record)
                self._carried.update(names)
                if not self._crawl.is_own(kept) and "callback" in names:
                    self._renamed[kept.callback, record.callback] += 1

    async def closed(self) -> None:
        if checked := self._number("checked"):
            share = round(self._number("dropped") / checked, 6)
            self._stats.set_value("simhash_gate/dropped_share", share)
        if self._run.outages:
            self._stats.set_value("simhash_gate/store_outages", self._run.outages)
        passed = {name: number for name in NOT_COMPARED if (number := self._number(name))}
        if passed:
            listed = [f"{how_many(passed[it], 'page')}: {NOT_COMPARED[it]}" for it in passed]
            level = logging.INFO if passed.keys().isdisjoint(_FAILED) else logging.WARNING
            logger.log(level, "Passed without having been compared: %s", "; ".join(listed))
        self._tell_visited()
        if self._tagged:
            tagged = f"{how_many(self._tagged, 'page')} of {self._number('checked')}"
            self._crawl.note(
                f"{tagged} passed that would have been dropped.",
                f"A trial: {PREFIX}ACTION is 'tag'. `simhash-gate why URL` tells why.",
            )
        self._tell_carried()
        dropped = self._number("dropped")
        if dropped >= MANY and dropped > SHARE * self._number("checked"):
            self._crawl.note(
                f"{dropped} pages were fetched, and dropped as copies.",
                "`simhash-gate urls` suggests rules from a verdict log "
                f"({PREFIX}VERDICTS), so that later crawls need not fetch such pages.",
            )
        domains, named = self._domains, self._policies.of_domains
        if domains and named and domains.keys().isdisjoint(map(registered_domain, named)):
            self._crawl.note(
                f"{PREFIX}DOMAINS names no domain of this crawl, but {', '.join([*named][:3])}.",
                "Write names as they are in URLs. Subdomains are meant too.",
                wrong=True,
            )
        if self._domains:
            logger.info("Near-duplicates by domain:\n%s", self._table())

    def _tell_visited(self) -> None:
        if self._changed:
            pages, listings = self._changed[False], self._changed[True]
            changed = how_many(pages, "page"), how_many(listings, "listing")
            logger.info("Changed since an earlier crawl: %s and %s", *changed)
        if self._held:
            logger.info(
                "Unchanged since an earlier crawl: %s. Their links were followed, their items held "
                "back. To have them again: %sREVISIT = 'pass'. After you have mended your spider, "
                "see docs/revisits.md",
                how_many(self._held, "page"), PREFIX,
            )  # fmt: skip
        for callback, number in self._recoded.most_common(5):
            self._crawl.note(
                f"{how_many(number, 'page')} came again, though nothing on them has changed: the "
                f"code of {callback} has changed since they gave their items.",
                f"{PREFIX}IGNORE = ['code'] holds their items back.",
            )

    def _tell_carried(self) -> None:
        if number := self._number("requests_differ"):
            names = ", ".join(f"{name} ({count})" for name, count in self._carried.most_common(5))
            self._crawl.note(
                f"{how_many(number, 'page')} passed though like kept ones, since the requests are "
                f"for something else: another {names}.",
                f"{PREFIX}IGNORE names what makes no difference.",
            )
        for (old, new), number in self._renamed.most_common(5):
            self._crawl.note(
                f"{new} got {how_many(number, 'page')} that {old} had got in an earlier crawl.",
                "If you have renamed it, this happens once.",
            )

    def _number(self, name: str) -> int:
        return int(self._stats.get_value(f"simhash_gate/{name}", 0))

    def _table(self) -> str:
        ranked = sorted(self._domains.items(), key=lambda item: -item[1].counts["fetched"])
        total = sum((tally.counts for tally in self._domains.values()), Counter[str]())
        rows = [_row(domain or "(no host)", tally) for domain, tally in ranked[:MOST_DOMAINS]]
        rows.append(_row("all domains", DomainTally(total)))
        shown = [name for name, cell in rows[-1].items() if cell != "0" or name not in _IF_ANY]
        columns = [[name, *(row[name] for row in rows)] for name in shown]
        width = [max(map(len, column)) for column in columns]
        lines = [
            "  ".join([domain.ljust(width[0]), *map(str.rjust, cells, width[1:])])
            for domain, *cells in zip(*columns, strict=True)
        ]
        if len(ranked) > MOST_DOMAINS:
            lines.insert(-1, f"and {how_many(len(ranked) - MOST_DOMAINS, 'more domain')}")
        return "\n".join([*_LEGEND, *lines])


_LEGEND = (
    "fetched = skipped (not judged) + checked; checked = passed + held back (links followed, items "
    "not delivered) + dropped = the sum of the outcomes, from new on",
    "% dropped: of checked; bytes saved: bodies of dropped pages; ms: from response to verdict",
)
_CHECKED = [outcome for outcome in OUTCOMES if outcome != "skipped"]
_IF_ANY = (*_CHECKED, "held back", "of earlier crawls")
"""Columns that are left out if they are 0 for all domains."""


def _row(domain: str, tally: DomainTally) -> dict[str, str]:
    counts = tally.counts
    times = sorted(tally.milliseconds)
    share = 100 * counts["dropped"] / counts["checked"] if counts["checked"] else 0.0
    return {
        "domain": domain,
        **{name: str(counts[name]) for name in ("fetched", "skipped", "checked", *_CHECKED)},
        "passed": str(counts["passed"]),
        "held back": str(counts["held"]),
        "dropped": str(counts["dropped"]),
        "% dropped": f"{share:.1f}",
        "of earlier crawls": str(counts["dropped_for_earlier"]),
        "bytes saved": f"{counts['bytes_saved']:,}",
        "median ms": f"{median(times):.1f}" if times else "-",
        "p95 ms": f"{times[min(len(times) - 1, int(0.95 * len(times)))]:.1f}" if times else "-",
    }
