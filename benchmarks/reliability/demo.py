"""The demonstration with all features on, through random faults, and taken up again.

After a kill it is begun anew on the same store, for Scrapy's queue is gone; after a pause it is
resumed. What comes last is a crawl without a fault.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from benchmarks.reliability.crawls import LONGEST_END, lines_of, tracebacks
from benchmarks.reliability.faults import Fault, befall, jump, of_store, pause, small_disk
from benchmarks.reliability.plan import STORES, AnyPlan
from benchmarks.reliability.process import ROOT, Process, clock_library, settings_of
from benchmarks.reliability.rounds import Outcome
from benchmarks.reliability.scenes import is_refused
from benchmarks.reliability.stores import Memory
from crawler.site.news import Site
from crawler.site.process import running_site, serve_number, truth
from crawler.site.scenes.variants import SCENES

INSTANTS = 40
"""In a round; of them so many end a part of the crawl."""
ENDS = 6
CONCURRENCY = 16
DISK = 256 << 20
PAGES = {"": 9, **dict.fromkeys(SCENES, 3)}
"""About so many pages of a site are fetched for each of its articles."""
ALL_ON = {
    "SIMHASH_GATE_REVALIDATE": True,
    "SIMHASH_GATE_REVISIT": "links",
    "SIMHASH_GATE_KEEP_MARKDOWN": 8 << 20,
    "ROBOTSTXT_OBEY": False,
    "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
}
LOST = (
    "Pages can't be judged until the store works again",
    "The store has lost what this crawl kept",
)
"""What a crawl says when pages may come twice."""
UNCOUNTED = "won't take these pages as seen", "its pages won't count as seen"
"""What a crawl says that ends with status 1."""


@dataclass
class DemoPlan(AnyPlan):
    """A site, how its crawl remembers, and what befalls it.

    The site was `crawled` so often before that, from beginning to end.
    """

    urls: str
    articles: int
    durable: str
    workers: int
    crawled: int
    faults: list[Fault]


class Part(NamedTuple):
    """What one process delivered, and how it ended: by itself if `end` is "".

    Of the URLs in `anew` the page had changed, or it has too few words to be compared. With
    `upset`, pages may come twice: its store or its disk failed, or it was taken for dead.
    """

    end: str
    items: list[dict[str, Any]]
    anew: set[str]
    upset: bool = False


def random_demo(seed: int, number: int, stores: Sequence[str]) -> DemoPlan:
    """Return round `number` of a seed. In a third of them, parts are paused and none is killed."""
    rng = Random(f"demo/{seed}/{number}")
    lasting = [name for name in stores if name != "memory"]
    store = rng.choices(lasting, [STORES[name] for name in lasting])[0]
    urls = rng.choice(["", rng.choice([*SCENES])])
    articles = 80 if urls else rng.randint(12, 20)
    ends = ["pause"] if rng.random() < 1 / 3 else ["kill", "kill", "pause"]
    kinds = [rng.choice(ends) for _ in range(ENDS)]
    others = ["stop", "clock", "full", "store", "stop readers", "kill readers"]
    kinds += rng.choices(others, [3, 4, 1, 3, 1, 1], k=INSTANTS - ENDS)
    rng.shuffle(kinds)
    faults = [_fault(rng, kind, store, PAGES[urls] * articles) for kind in kinds]
    # Two visits make validators believed: then pages are asked for with conditions.
    crawled = 2 if urls and rng.random() < 0.5 else 0
    durable = "page" if rng.random() < 0.6 else "run"
    workers = rng.choice([0, 1, 2])
    return DemoPlan(seed, number, store, urls, articles, durable, workers, crawled, faults)


def _fault(rng: Random, kind: str, store: str, pages: int) -> Fault:
    seconds = {"stop": pause(rng, store), "clock": jump(rng), "full": rng.uniform(0.3, 3)}
    if kind == "store":
        kind, seconds["store"] = of_store(rng, store)
        seconds[kind] = seconds["store"]
    answers = rng.randint(1, max(1, pages // INSTANTS))
    return Fault(kind, "", answers, rng.random() / 5, seconds.get(kind, 0.0))


class DemoRound:
    """A site, a store, and the parts of one crawl."""

    def __init__(self, plan: DemoPlan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.disk = folder / "disk"
        self.outcome = Outcome()
        self.parts: list[Part] = []
        self.wanted: set[str] = set()

    def run(self) -> Outcome:
        """Run all parts; then count what is lost, and what was delivered again."""
        with ExitStack() as stack:
            self.mounted = stack.enter_context(small_disk(self.disk, DISK))
            self.memory = Memory(self.plan.store, self.folder, self.disk)
            stack.enter_context(closing(self.memory))
            self._run()
        return self.outcome

    def _run(self) -> None:
        plan, outcome = self.plan, self.outcome
        seed = plan.seed * 1000 + plan.number
        # To fill a disk that others use is not for here.
        absent = {"full"} if not self.mounted else set()
        absent |= {"clock", "server clock"} if clock_library() is None else set()
        waiting = [fault for fault in plan.faults if fault.kind not in absent]
        with running_site(plan.articles, seed, urls=plan.urls) as url:
            for _ in range(plan.crawled):
                self._part(url, [])
            while waiting:
                self._part(url, waiting)
            self.memory.wait_for_leases()
            self._part(url, [])
            known = truth(url)
        outcome.unsound += self.memory.faults()
        self.wanted = {f"article {each}" for each in known.articles}
        if not plan.urls:
            site = Site(plan.articles, seed)
            self.wanted |= {f"offer {each}" for each in site.shop.offers}
        shown = [(e.path, e.offer or f"{e.article};") for e in known.log if e.status == 200]
        # What is refused under all URLs that were asked for, nobody can deliver.
        likely = {_name(what) for url, what in shown if not is_refused(url)}
        self.wanted -= {_name(what) for _, what in shown} - likely
        outcome.counts["answers"] = len(known.log)
        outcome.counts["articles and offers"] = len(self.wanted)
        outcome.lost = sorted(self.lost())
        outcome.kept_twice = self.repeated()

    def lost(self) -> set[str]:
        """Return the articles and offers that no part delivered."""
        had = {name for part in self.parts for item in part.items for name in _names(item)}
        return self.wanted - had

    def repeated(self) -> list[str]:
        """Count what two parts delivered of a URL with the same words; return what they must not.

        An item with other links says something else, and may come. What was delivered before a
        pause counts; of what was delivered page by page before a kill, all counts but what was in
        flight.
        """
        last: dict[tuple[str, ...], tuple[int, list[str]]] = {}
        found: dict[int, list[tuple[int, str]]] = {number: [] for number in range(len(self.parts))}
        for number, part in enumerate(self.parts):
            for item in part.items:
                what = (item["url"], *_names(item), item["fingerprint"] or "")
                says = _without_byline(item)
                before, said = last.get(what, (number, says))
                last[what] = number, says
                if before != number and says == said and item["url"] not in part.anew:
                    found[before].append((number, f"{what}, by parts {before} and {number}"))
        wrong = []
        for number, part in enumerate(self.parts):
            how = f"killed, durable by {self.plan.durable}" if part.end == "kill" else part.end
            how = f"upset, {how or 'ended'}" if part.upset else how or "ended"
            self.outcome.counts[how] += 1
            again = []
            for later, told in found[number]:
                is_upset = any(each.upset for each in self.parts[number : later + 1])
                self.outcome.counts[f"{how}: repeated{' as upset' if is_upset else ''}"] += 1
                again += [] if is_upset else [told]
            if part.end == "kill" and (self.plan.durable == "run" or len(again) <= CONCURRENCY):
                continue
            wrong += again
        return wrong

    def _part(self, url: str, waiting: list[Fault]) -> None:
        """Run the crawl until its end, or until one of those that wait ends it; these go."""
        number = len(self.parts)
        if self.parts and (self.parts[-1].end != "pause" or self.parts[-1].upset):
            shutil.rmtree(self.disk / "job", ignore_errors=True)
        served = serve_number(url)
        with (self.folder / f"{number}.log").open("wb") as log:
            process = self._start(url, number, log.fileno())
        kinds: list[str] = []
        try:
            while waiting and not process.is_over and not {"kill", "pause"} & {*kinds}:
                if self._happens(process, waiting[0], url, served):
                    kinds.append(waiting.pop(0).kind)
                    served = serve_number(url)
            with suppress(subprocess.TimeoutExpired):
                process.popen.wait(2 * LONGEST_END if kinds else 4 * LONGEST_END)
        finally:
            if hung := not process.is_over:
                process.abort()
            status = process.popen.wait()
            left = process.leftovers()
        ended = kinds[-1] if kinds and kinds[-1] in ("kill", "pause") else ""
        said = (self.folder / f"{number}.log").read_text("utf-8", "replace")
        unsound = [f"a traceback: {entry}" for entry in tracebacks(said)]
        unsound += [f"it hung: {said[-9000:]}"] * hung
        promised = any(text in said for text in UNCOUNTED)
        unsound += [f"exit status {status}: {said[-3000:]}"] * (
            status != promised and ended != "kill"
        )
        unsound += [f"processes that outlived it: {left}"] * bool(left)
        self.outcome.unsound += [f"part {number}: {what}" for what in unsound]
        self.outcome.counts.update(f"instant: {kind}" for kind in kinds)
        self.outcome.counts["instants"] += len(kinds)
        verdicts = list(lines_of(self.folder / f"{number}-verdicts.jsonl"))
        anew = {line["url"] for line in verdicts if _is_anew(line)}
        upset = any(text in said for text in LOST) or not {"full", "crash"}.isdisjoint(kinds)
        items = list(lines_of(self.disk / f"{number}.jsonl"))
        self.parts.append(Part(ended, items, anew, upset))

    def _happens(self, process: Process, fault: Fault, url: str, served: int) -> bool:
        """Let a fault happen in its time; False if the process is gone before that."""
        while not process.is_over and serve_number(url) - served < fault.answers:
            time.sleep(0.02)
        time.sleep(fault.delay)
        if process.is_over:
            return False
        befall(fault, process, self.memory)
        return True

    def _start(self, url: str, number: int, log: int) -> Process:
        plan, disk = self.plan, self.disk
        items = disk / f"{number}.jsonl"
        settings = {
            **ALL_ON,
            "JOBDIR": disk / "job",
            "SIMHASH_GATE_STORE": self.memory.url,
            "SIMHASH_GATE_DURABLE": plan.durable,
            "SIMHASH_GATE_WORKERS": plan.workers,
            "SIMHASH_GATE_JOURNAL": disk / "journal",
            "SIMHASH_GATE_REPORT": disk / "report.html",
            "SIMHASH_GATE_VERDICTS": self.folder / f"{number}-verdicts.jsonl",
        }
        # What counts page by page must be on the disk page by page.
        pipelines = ["Unlucky", "Sink"] if plan.durable == "page" else ["Unlucky"]
        named = {f"benchmarks.reliability.spider.{name}": n for n, name in enumerate(pipelines)}
        settings["ITEM_PIPELINES"] = named
        own = self.folder / str(number)
        own.mkdir()
        (own / "plan.json").write_text(json.dumps({"sink": str(items), "diary": None}))
        output = ["-O", str(items)] if plan.durable == "run" else []
        arguments = ["-a", f"site={url}", *(["-a", f"urls={plan.urls}"] if plan.urls else [])]
        environ = {"CHAOS_PLAN": str(own / "plan.json")}
        words = ["crawl", "demo", *arguments, *output, *settings_of(settings)]
        return Process(words, own, environ=environ, cwd=ROOT, stderr=log)


def _is_anew(verdict: dict[str, Any]) -> bool:
    changed = verdict.get("outcome") in ("updated", "rewritten", "error")  # not read: it passes
    return changed or "compared with nothing" in verdict.get("reason", "")


def _without_byline(item: dict[str, Any]) -> list[str]:
    """Return the lines of an item's Markdown but the one that is another at each visit."""
    return [line for line in (item["markdown"] or "").split("\n") if " · " not in line]


def _name(shown: str) -> str:
    """Return an article or an offer, as the site calls what a page shows."""
    first, _, rest = shown.partition(";")
    return f"offer {shown}" if ";" in rest else f"article {first}"


def _names(item: dict[str, Any]) -> list[str]:
    """Return the article or the offer of an item, as the site calls it."""
    found = [f"article {item['article_id']}"] if item["article_id"] else []
    offer = f"offer {item['sku']};{item['variant'] or ''};{item['price']}"
    return found + ([offer] if item["sku"] else [])
