"""The crawler processes of a round, and what each of them left on the disk."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from benchmarks.reliability.plan import Crawl, Plan
from benchmarks.reliability.process import Process, settings_of
from benchmarks.reliability.scenes import digest_of
from benchmarks.reliability.site import CLEAN

SPIDER = Path(__file__).with_name("spider.py")
ADDRESS = "benchmarks.reliability.spider"
LONGEST_END = 90.0
"""Seconds that a crawl may take from the last answer it got, or the last stop, to its end."""
_RECORD = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[([^\]]+)\] ", re.MULTILINE)
_FRAME = re.compile(r'^\s+File "([^"]+)", line', re.MULTILINE)


class Running(Process):
    """A crawl from its start on. `folder` is its own; `where` is that of all of the round."""

    def __init__(self, plan: Plan, crawl: Crawl, where: Path, site: str, store: str) -> None:
        self.plan = plan
        self.crawl = crawl
        self.name = crawl.name
        self.folder = where / crawl.name
        self.folder.mkdir()
        self.ended_by = ""
        self.hung = False
        self.began = time.time()
        self.ended_at = float("inf")
        self._where = where
        self._busy_at = time.monotonic()
        self._answered = 0
        self._diary: list[dict[str, Any]] = []
        diary, said = os.pipe()
        told = self.folder / "plan.json"
        files = {name: str(self.folder / f"{name}.jsonl") for name in ("sink", "commit")}
        more = {"site": site, "order": plan.site.order, "diary": said}
        told.write_text(json.dumps(vars(crawl) | files | more))
        super().__init__(
            ["runspider", str(SPIDER), *settings_of(self._settings(store))],
            self.folder,
            environ={"CHAOS_PLAN": str(told)},
            cwd=self.folder,
            stderr=subprocess.PIPE,
            pass_fds=[said],
        )
        if crawl.file_limit:
            limits = (crawl.file_limit, crawl.file_limit)
            resource.prlimit(self.popen.pid, resource.RLIMIT_FSIZE, limits)
        os.close(said)
        # Both through pipes: what the crawl may write to files can be limited.
        assert self.popen.stderr is not None
        self._readers = [
            threading.Thread(target=self._listen, args=(diary,), daemon=True),
            threading.Thread(target=self._copy, args=(self.popen.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        if self.is_over and self.ended_at == float("inf"):
            self.ended_at = time.time()
        return self.is_over

    @property
    def status(self) -> int:
        """The exit status."""
        return self.popen.wait()

    def watch(self, answered: int) -> None:
        """Kill the crawl if it hangs."""
        if answered != self._answered:
            self._answered, self._busy_at = answered, time.monotonic()
        if time.monotonic() - self._busy_at > LONGEST_END:
            self.hung = True
            self.abort()

    def log(self) -> str:
        """Return what Scrapy logged, once the process is gone."""
        for reader in self._readers:
            reader.join(5)
        return (self.folder / "log").read_text("utf-8", "replace")

    def diary(self) -> list[dict[str, Any]]:
        """Return what the spider noted."""
        return list(self._diary)

    def reason(self) -> str:
        """Return why Scrapy closed the spider; "" if it never came so far."""
        return next((line["reason"] for line in self.diary() if line["event"] == "closed"), "")

    def stats(self) -> dict[str, Any]:
        """Return the final stats; none if it never came so far."""
        return next((line["stats"] for line in self.diary() if line["event"] == "stopped"), {})

    def faults(self) -> list[str]:
        """Return what is wrong with the crawl, now that it has ended."""
        found = [f"a traceback: {entry}" for entry in tracebacks(self.log())]
        if left := self.leftovers():
            found.append(f"processes that outlived it: {left}")
        if self.hung:
            found.append(f"it hung; the end of its log: {self.log()[-3000:]}")
        elif self.status and not self.ended_by:
            found.append(f"exit status {self.status}: {self.log()[-3000:]}")
        return [f"{self.name}: {what}" for what in found]

    def deleted_files(self, store: Path | None) -> list[str]:
        """Return the files of a store that the process has open and that are no longer there."""
        found = []
        with suppress(OSError):
            for name in os.listdir(f"/proc/{self.popen.pid}/fd"):  # noqa: PTH208 - they come and go
                with suppress(OSError):
                    found.append(os.readlink(f"/proc/{self.popen.pid}/fd/{name}"))  # noqa: PTH115
        gone = [file for file in found if file.endswith(" (deleted)") and ".lock" not in file]
        return [file for file in gone if store and file.startswith(f"{store}-")]

    def delivered(self) -> set[str]:
        """Return the digests of the texts that are in every output of the crawl, in full lines."""
        found = []
        for number in range(self.crawl.feeds):
            files = sorted(self._feed_folder(number).glob(f"feed{number}-*.jsonl"))
            found.append({text for file in files for text in _texts(file)})
        own = [name for name in ("sink", "commit") if getattr(self.crawl, name)]
        found += [_texts(self.folder / f"{name}.jsonl") for name in own]
        return set.intersection(*found) if found else set()

    def _feed_folder(self, number: int) -> Path:
        if self.crawl.feed_on == "disk" and number == 0:
            return self._where / "disk" / self.name
        return self.folder

    def _feeds(self) -> dict[str, dict[str, Any]]:
        feeds: dict[str, dict[str, Any]] = {}
        for number in range(self.crawl.feeds):
            batch = "%(batch_id)d" if self.crawl.batch else "1"
            place = self._feed_folder(number)
            place.mkdir(parents=True, exist_ok=True)
            if number == 0 and self.crawl.feed_on == "nowhere":
                place = Path("/proc/nowhere")
            if number == 0 and self.crawl.feed_on == "blocked":
                (place / f"feed{number}-2.jsonl").mkdir()
            feed: dict[str, Any] = {"format": "jsonlines"}
            if self.crawl.batch:
                feed["batch_item_count"] = self.crawl.batch
            feeds[str(place / f"feed{number}-{batch}.jsonl")] = feed
        return feeds

    def _settings(self, store: str) -> dict[str, Any]:
        crawl, plan = self.crawl, self.plan
        used = {"Refuse": True, "Sink": crawl.sink, "Commit": crawl.commit}
        pipelines = {f"{ADDRESS}.{name}": n for n, name in enumerate(used, 100) if used[name]}
        settings = {
            "ADDONS": {"simhash_gate.Addon": 0},
            "EXTENSIONS": {f"{ADDRESS}.Witness": 0},
            "ITEM_PIPELINES": pipelines,
            "TELNETCONSOLE_ENABLED": False,
            "LOG_LEVEL": "INFO",
            "USER_AGENT": crawl.name,
            "RETRY_TIMES": 3,
            "RETRY_BACKOFF_BASE": 0,
            "DOWNLOAD_TIMEOUT": 20,
            "CONCURRENT_REQUESTS": crawl.concurrency,
            "CONCURRENT_REQUESTS_PER_DOMAIN": crawl.concurrency,
            "SIMHASH_GATE_STORE": store,
            "SIMHASH_GATE_VERIFY": plan.verify,
            "SIMHASH_GATE_ACTION": plan.action,
            # At last, what counts as delivered must not come again: so it shows what was not.
            "SIMHASH_GATE_REVISIT": "drop" if crawl.name == CLEAN else plan.revisit,
            "SIMHASH_GATE_DURABLE": crawl.durable,
            "SIMHASH_GATE_WORKERS": crawl.workers,
            "SIMHASH_GATE_VERDICTS": self.folder / "verdicts.jsonl",
        }
        if feeds := self._feeds():
            settings["FEEDS"] = feeds
        if crawl.export_fails:
            settings["FEED_EXPORTERS"] = {"jsonlines": f"{ADDRESS}.Exporter"}
        if crawl.job:
            settings["JOBDIR"] = self._where / crawl.job
        return settings

    def _listen(self, diary: int) -> None:
        with os.fdopen(diary, "rb") as lines:
            for line in lines:
                with suppress(ValueError):
                    self._diary.append(json.loads(line))

    def _copy(self, log: IO[bytes]) -> None:
        with log, (self.folder / "log").open("wb") as file:
            shutil.copyfileobj(log, file)


def tracebacks(log: str) -> list[str]:
    """Return the log entries with a traceback of ours: logged by us, or raised in our code."""
    starts = [match.start() for match in _RECORD.finditer(log)]
    found = [] if starts else [log] * ("Traceback" in log)
    for start, end in zip(starts, [*starts[1:], len(log)], strict=False):  # a log may be empty
        entry = log[start:end]
        if "Traceback (most recent call last)" not in entry:
            continue
        logger = _RECORD.match(entry)
        ours = logger is not None and logger[1].startswith("simhash_gate")
        frames = _FRAME.findall(entry)
        if ours or (frames and "/simhash_gate/" in frames[-1]):
            found.append(entry.strip())
    return found


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the full lines of a file that are JSON: a kill may leave the last one unfinished."""
    with suppress(FileNotFoundError, IsADirectoryError), path.open("rb") as lines:
        for line in lines:
            with suppress(ValueError):
                if line.endswith(b"\n"):
                    yield json.loads(line)


def _texts(path: Path) -> set[str]:
    return {digest_of(line["text"]) for line in lines_of(path)}
