"""The demonstration with all features on, killed or paused at random instants, and taken up again.

After a kill it is begun anew on the same store, for Scrapy's queue is gone; after a pause it is
resumed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from benchmarks.reliability.crawls import LONGEST_END, ROOT
from benchmarks.reliability.faults import workers_of
from benchmarks.reliability.plan import AnyPlan
from benchmarks.reliability.rounds import Outcome, tell
from benchmarks.reliability.soundness import tracebacks, wrong_with_store
from benchmarks.reliability.stores import Memory, Servers
from benchmarks.reliability.truth import is_refused
from crawler.site.news import Site
from crawler.site.process import contents, running_site, serve_number, truth
from crawler.site.scenes.traps import TRAPS
from crawler.site.scenes.variants import VARIANTS

INSTANTS = 5
"""In a round."""
CONCURRENCY = 16
PAGES = {"": 9, **dict.fromkeys(VARIANTS, 3), **dict.fromkeys(TRAPS, 6)}
"""About so many pages of a site are fetched for each of its articles."""
ALL_ON = {
    "SIMHASH_GATE_URLS": "skip",
    "SIMHASH_GATE_TRAPS": "limit",
    "SIMHASH_GATE_REVALIDATE": True,
    "SIMHASH_GATE_REVISIT": "links",
    "SIMHASH_GATE_KEEP_MARKDOWN": 8 << 20,
    "SIMHASH_GATE_AUDIT": 0.2,
    "ROBOTSTXT_OBEY": False,
    "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
}


class End(NamedTuple):
    """How a part of the crawl ends: by a `kill` or a `pause`, so long after so many answers."""

    kind: str
    answers: int
    delay: float


@dataclass
class DemoPlan(AnyPlan):
    """A site, how its crawl remembers, and how the parts of it end, but for the last one.

    The site was `crawled` so often before that, from beginning to end.
    """

    urls: str
    articles: int
    durable: str
    workers: int
    crawled: int
    ends: list[End]


class Part(NamedTuple):
    """What one process delivered, and how it ended: by itself if `end` is "".

    Of the URLs in `anew` the page had changed, or it has too few words to be compared. Those in
    `unsent` were not fetched, for a rule or a trap.
    """

    end: str
    items: list[dict[str, Any]]
    anew: set[str]
    unsent: dict[str, str]


def random_demo(seed: int, number: int) -> DemoPlan:
    """Return round `number` of a seed. In half of them all parts but the last are paused."""
    rng = Random(f"demo/{seed}/{number}")
    urls = rng.choice(["", rng.choice([*VARIANTS]), rng.choice([*TRAPS])])
    articles = rng.randint(30, 50) if urls in TRAPS else rng.randint(12, 20) if not urls else 80
    pages = PAGES[urls] * articles
    pauses = rng.random() < 0.5
    ends = []
    for _ in range(INSTANTS):
        kind = "pause" if pauses else rng.choice(["kill", "kill", "pause"])
        most = pages // (INSTANTS if pauses else 2)
        ends.append(End(kind, rng.randint(1, max(1, most)), rng.random() / 2))
    # Two visits make validators believed: then pages are asked for with conditions.
    crawled = 2 if urls in VARIANTS and rng.random() < 0.5 else 0
    durable = "page" if rng.random() < 0.6 else "run"
    return DemoPlan(
        seed, number, "sqlite", urls, articles, durable, rng.choice([0, 0, 1]), crawled, ends
    )


class DemoRound:
    """A site, a store, and the parts of one crawl."""

    def __init__(self, plan: DemoPlan, folder: Path, servers: Servers) -> None:
        self.plan = plan
        self.folder = folder
        self.memory = Memory(plan, folder, servers)
        self.outcome = Outcome()
        self.parts: list[Part] = []
        self.wanted: set[str] = set()

    def run(self) -> Outcome:
        """Run all parts; then count what is lost, and what was delivered again."""
        plan, outcome = self.plan, self.outcome
        seed = plan.seed * 1000 + plan.number
        with running_site(plan.articles, seed, urls=plan.urls) as url, closing(self.memory):
            for end in [*[None] * plan.crawled, *plan.ends]:
                self._part(url, end)
            if self.parts[-1].end:
                self._part(url, None)
            known = truth(url)
            unsent = {url: kind for part in self.parts for url, kind in part.unsent.items()}
            would_show = dict(zip(unsent, contents(url, list(unsent)), strict=True))
        outcome.unsound += wrong_with_store(self.memory)
        self.wanted = {f"article {each}" for each in known.articles}
        if not plan.urls:
            site = Site(plan.articles, seed)
            self.wanted |= {f"offer {each}" for each in site.shop.offers}
        shown = [(e.path, e.offer or f"{e.article};") for e in known.log if e.status == 200]
        shown += [each for each in would_show.items() if unsent[each[0]] != "trap"]
        held = [each for each in would_show.items() if unsent[each[0]] == "trap"]
        likely, trapped = ({_name(w) for u, w in x if not is_refused(u)} for x in (shown, held))
        # What is refused under all URLs that were asked for, nobody can deliver.
        hopeless = {_name(what) for _, what in [*shown, *held]} - likely
        outcome.counts["only in a trap"] = len(hopeless & trapped & self.lost())
        self.wanted -= hopeless
        outcome.counts["articles and offers"] = len(self.wanted)
        outcome.counts["answers"] = len(known.log)
        outcome.lost = sorted(self.lost())
        outcome.kept_twice = self.repeated()
        return outcome

    def lost(self) -> set[str]:
        """Return the articles and offers that no part delivered."""
        had = {name for part in self.parts for item in part.items for name in _names(item)}
        return self.wanted - had

    def repeated(self) -> list[str]:
        """Count what two parts delivered of a URL with the same words; return what they must not.

        What was delivered before a pause counts; of what was delivered page by page before a kill,
        all counts but what was in flight.
        """
        last: dict[tuple[str, ...], int] = {}
        found: dict[int, list[str]] = {number: [] for number, _ in enumerate(self.parts)}
        for number, part in enumerate(self.parts):
            for item in part.items:
                what = (item["url"], *_names(item), item["fingerprint"] or "")
                before = last.get(what, number)
                last[what] = number
                if before != number and item["url"] not in part.anew:
                    found[before].append(f"{what}, by parts {before} and {number}")
        wrong = []
        for number, part in enumerate(self.parts):
            name, again = f"killed, durable by {self.plan.durable}", found[number]
            if part.end == "kill":
                self.outcome.counts[name] += 1
                self.outcome.counts[f"{name}: repeated"] += len(again)
            if part.end != "kill" or (self.plan.durable == "page" and len(again) > CONCURRENCY):
                wrong += again
        return wrong

    def _part(self, url: str, end: End | None) -> None:
        """Run the crawl until its end, or until it is ended."""
        job, number = self.folder / "job", len(self.parts)
        if self.parts and self.parts[-1].end != "pause":
            shutil.rmtree(job, ignore_errors=True)
        served = serve_number(url)
        with (self.folder / f"{number}.log").open("wb") as log:
            process = self._start(url, number, log.fileno())
        try:
            ended = "" if end is None else self._end(process, end, url, served)
            with suppress(subprocess.TimeoutExpired):
                process.wait(LONGEST_END if end else 4 * LONGEST_END)
        finally:
            hung = process.poll() is None
            process.kill()
            process.wait()
        said = (self.folder / f"{number}.log").read_text("utf-8", "replace")
        unsound = [f"a traceback: {entry}" for entry in tracebacks(said)]
        unsound += [f"it hung: {said[-3000:]}"] * hung
        if process.returncode and ended != "kill":
            unsound.append(f"exit status {process.returncode}: {said[-3000:]}")
        deadline = time.monotonic() + 10
        while (left := workers_of(self._token(number))) and time.monotonic() < deadline:
            time.sleep(0.05)
        unsound += [f"processes that outlived it: {left}"] * bool(left)
        self.outcome.unsound += [f"part {number}: {what}" for what in unsound]
        self.outcome.counts[ended or "ended by itself"] += 1
        verdicts = list(_lines(self.folder / f"{number}-verdicts.jsonl"))
        unsent = {line["url"]: line["not_sent"] for line in verdicts if "not_sent" in line}
        anew = {line["url"] for line in verdicts if _is_anew(line)}
        self.parts.append(Part(ended, list(_lines(self.folder / f"{number}.jsonl")), anew, unsent))

    def _end(self, process: subprocess.Popen[bytes], end: End, url: str, served: int) -> str:
        """End a process in its time; return how it was ended."""
        while process.poll() is None and serve_number(url) - served < end.answers:
            time.sleep(0.02)
        time.sleep(end.delay)
        if process.poll() is not None:
            return ""
        process.send_signal(signal.SIGKILL if end.kind == "kill" else signal.SIGINT)
        return end.kind

    def _token(self, number: int) -> str:
        return f"SIMHASH_GATE_CHAOS={os.getpid()}-{self.folder.name}-{number}"

    def _start(self, url: str, number: int, log: int) -> subprocess.Popen[bytes]:
        plan, folder = self.plan, self.folder
        items = folder / f"{number}.jsonl"
        settings = {
            **ALL_ON,
            "JOBDIR": folder / "job",
            "SIMHASH_GATE_STORE": self.memory.url,
            "SIMHASH_GATE_DURABLE": plan.durable,
            "SIMHASH_GATE_WORKERS": plan.workers,
            "SIMHASH_GATE_JOURNAL": folder / "journal",
            "SIMHASH_GATE_REPORT": folder / "report.html",
            "SIMHASH_GATE_VERDICTS": folder / f"{number}-verdicts.jsonl",
        }
        # What counts page by page must be on the disk page by page.
        pipelines = ["Unlucky", "Sink"] if plan.durable == "page" else ["Unlucky"]
        named = {f"benchmarks.reliability.spider.{name}": n for n, name in enumerate(pipelines)}
        settings["ITEM_PIPELINES"] = json.dumps(named)
        told = folder / "plan.json"
        told.write_text(json.dumps({"sink": str(items), "diary": None}))
        output = ["-O", str(items)] if plan.durable == "run" else []
        arguments = ["-a", f"site={url}", *(["-a", f"urls={plan.urls}"] if plan.urls else [])]
        options = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        name, _, token = self._token(number).partition("=")
        return subprocess.Popen(
            [sys.executable, "-m", "scrapy", "crawl", "demo", *arguments, *output, *options],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "CHAOS_PLAN": str(told), name: token},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
        )


def run_demo(plan: DemoPlan, servers: Servers, *, keep: Path | None = None) -> Outcome:
    """Run a round in a folder of its own, which goes with it unless it is to be kept."""
    folder = keep or Path(tempfile.mkdtemp(prefix="simhash-gate-chaos-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        outcome = DemoRound(plan, folder, servers).run()
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    if not outcome.balanced:
        tell(plan, outcome)
    return outcome


def _is_anew(verdict: dict[str, Any]) -> bool:
    changed = verdict.get("outcome") in ("updated", "rewritten")
    return changed or "compared with nothing" in verdict.get("reason", "")


def _name(shown: str) -> str:
    """Return an article or an offer, as the site calls what a page shows."""
    first, _, rest = shown.partition(";")
    return f"offer {shown}" if ";" in rest else f"article {first}"


def _names(item: dict[str, Any]) -> list[str]:
    """Return the article or the offer of an item, as the site calls it."""
    found = []
    if item["article_id"]:
        found.append(f"article {item['article_id']}")
    if item["sku"]:
        found.append(f"offer {item['sku']};{item['variant'] or ''};{item['price']}")
    return found


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the items in a file; a kill may leave its last line unfinished."""
    for line in path.read_bytes().split(b"\n") if path.exists() else ():
        with suppress(ValueError):
            yield json.loads(line)
