"""One round from its plan to its balance."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.reliability.books import Books
from benchmarks.reliability.crawls import Running
from benchmarks.reliability.faults import ENDS, LOOKS, Fault, befall, small_disk
from benchmarks.reliability.plan import AnyPlan, Crawl, Plan, cleaning
from benchmarks.reliability.site import Server
from benchmarks.reliability.stores import Memory, run_command

TICK = 0.03
MOST_TOLD = 5
"""Findings of a kind that are told in full."""


@dataclass
class Outcome:
    """What a round came to: findings in words, and counts of what happened."""

    lost: list[str] = field(default_factory=list)
    kept_twice: list[str] = field(default_factory=list)
    unsound: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def balanced(self) -> bool:
        """Whether nothing was found."""
        return not (self.lost or self.kept_twice or self.unsound)


class Faults:
    """Lets the faults of a round happen when their time has come."""

    def __init__(self, faults: list[Fault], memory: Memory) -> None:
        self.waiting = list(faults)
        self.happened: list[Fault] = []
        self.complaints: list[str] = []
        self._due: dict[int, float] = {}
        self._memory = memory
        self._threads: list[threading.Thread] = []

    def look(self, crawls: dict[str, Running], answered: dict[str, int]) -> None:
        """Let happen what is due."""
        for fault in list(self.waiting):
            crawl = crawls.get(fault.crawl)
            if crawl is None:
                continue
            if crawl.ended:
                self.waiting.remove(fault)
            elif answered[fault.crawl] >= fault.answers or crawl.reason():
                due = self._due.setdefault(id(fault), time.monotonic() + fault.delay)
                if time.monotonic() >= due:
                    self.waiting.remove(fault)
                    self.happened.append(fault)
                    thread = threading.Thread(target=self._happen, args=(fault, crawl), daemon=True)
                    thread.start()
                    self._threads.append(thread)

    def join(self) -> None:
        """Wait until everything is as before."""
        for thread in self._threads:
            thread.join()

    def _happen(self, fault: Fault, crawl: Running) -> None:
        try:
            if fault.kind in ENDS:
                crawl.ended_by = fault.kind
            if fault.kind in LOOKS:
                words = ["pairs"] if fault.kind == "pairs" else ["store", fault.kind]
                done = run_command([*words, self._memory.direct_url], self._memory.place)
                if "Traceback" in done.stderr or done.returncode not in (0, 1):
                    self.complaints.append(f"simhash-gate {words}: {done.stderr[-2000:]}")
            else:
                befall(fault, crawl, self._memory)
        except Exception as error:  # a fault that can't happen must not pass for one that did
            self.complaints.append(f"{fault}: {type(error).__name__}: {error}")


class Round:
    """A site, a store and the crawls of a plan."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.contents = plan.site.contents()
        self.memory = Memory(plan.store, folder)
        self.server = Server(plan.site, self.contents)
        self.crawls: dict[str, Running] = {}
        self.faults = Faults(plan.faults, self.memory)
        self.outcome = Outcome()

    def run(self) -> Outcome:
        """Run it all; nothing of it is left afterwards but what is in the folder."""
        with ExitStack() as stack:
            stack.enter_context(closing(self.memory))
            stack.enter_context(self.server.running())
            stack.callback(self._close)
            mounted = stack.enter_context(small_disk(self.folder / "disk", self.plan.disk))
            for crawl in self.plan.crawls:
                if crawl.feed_on == "disk" and not mounted:
                    crawl.feed_on, crawl.file_limit = "folder", self.plan.disk
            self._crawl(self.plan.crawls)
            self.faults.join()
            if any(crawl.ended_by in ("kill", "twice") for crawl in self.crawls.values()):
                self.memory.wait_for_leases()
            self._crawl([cleaning(self.plan)])
            self._balance()
        return self.outcome

    def _crawl(self, waiting: list[Crawl]) -> None:
        """Run crawls, each from its moment on, until the last has ended."""
        waiting = list(waiting)
        while waiting or not all(crawl.ended for crawl in self.crawls.values()):
            for crawl in list(waiting):
                if self._is_due(crawl):
                    waiting.remove(crawl)
                    self.crawls[crawl.name] = Running(
                        self.plan, crawl, self.folder, self.server.url, self.memory.url
                    )
            answered = {name: self.server.answered[name] for name in self.crawls}
            for name, running in self.crawls.items():
                if not running.ended:
                    running.watch(answered[name])
                    for file in running.deleted_files(self.memory.path):
                        what = f"{name}: its file is gone: {file.replace(str(self.folder), '')}"
                        if what not in self.outcome.unsound:
                            self.outcome.unsound.append(what)
            self.faults.look(self.crawls, answered)
            time.sleep(TICK)

    def _close(self) -> None:
        for crawl in self.crawls.values():
            crawl.close()

    def _is_due(self, crawl: Crawl) -> bool:
        if crawl.after:
            other = self.crawls.get(crawl.after)
            return other is not None and other.ended
        if crawl.beside:
            name, answers = crawl.beside
            other = self.crawls.get(name)
            return other is not None and (other.ended or self.server.answered[name] >= answers)
        return True

    def _balance(self) -> None:
        crawls, outcome = list(self.crawls.values()), self.outcome
        outcome.unsound += self.faults.complaints
        outcome.unsound += [what for crawl in crawls for what in crawl.faults()]
        outcome.unsound += self.memory.faults()
        books = Books(self.plan, self.contents, self.server.served, crawls, self.faults.happened)
        outcome.lost = books.lost() + books.stranded()
        outcome.kept_twice = books.kept_twice()
        outcome.counts.update(
            {"crawls": len(crawls), "articles": len(set(self.plan.site.pages.values()))}
            | {"answers": len(self.server.served), "delivered": books.delivered()}
            | {f"store {self.plan.store}": 1}
        )
        outcome.counts.update(fault.kind for fault in self.faults.happened)


def run_round(plan: AnyPlan, run: Callable[[Path], Outcome], keep: Path | None = None) -> Outcome:
    """Run a round in a folder of its own, which goes with it unless it is to be kept."""
    folder = keep or Path(tempfile.mkdtemp(prefix="simhash-gate-chaos-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        outcome = run(folder)
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    if not outcome.balanced:
        _tell(plan, outcome)
    return outcome


def _tell(plan: AnyPlan, outcome: Outcome) -> None:
    """Print the findings of a round, and its plan."""
    kinds = {"LOST": outcome.lost, "KEPT TWICE": outcome.kept_twice, "UNSOUND": outcome.unsound}
    told = []
    for kind, findings in kinds.items():
        told += [f"round {plan.number}: {kind}: {finding}" for finding in findings[:MOST_TOLD]]
        if len(findings) > MOST_TOLD:
            told.append(f"round {plan.number}: {kind}: and {len(findings) - MOST_TOLD} more")
    told.append(f"round {plan.number}: its plan: {json.dumps(asdict(plan))}")
    print("\n".join(told), file=sys.stderr, flush=True)
