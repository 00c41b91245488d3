"""What a crawl drops is kept in a journal, whatever becomes of the disk and of the crawl."""

import gzip
import signal
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from simhash_gate.history.texts import KeptPage
from simhash_gate.history.versions import History
from simhash_gate.journal.segments import drops, segments
from simhash_gate.stores import open_store
from tests.crawls.harness import Answer, Site, crawl, html_answer, page, start, text, until
from tests.stores.kept import histories
from tests.stores.kept import text as text_of

COPIES = {f"/{n}": page(1, noise=n) for n in range(5)}
KEEP = {"SIMHASH_GATE_JOURNAL": "journal"}


def dropped(path: Path) -> list:
    """The pages in a journal, all of which can be read."""
    return [found.drop for found in drops(str(path), pytest.fail)]


def pages_in_a_row(count: int, size: int) -> dict[str, Answer]:
    """Copies of one article, each with so many bytes of its own, which compress to about half."""
    routes = {}
    for number in range(count):
        noise = bytes(text(number, size // 7), "ascii")
        routes[f"/{number}"] = html_answer(page(1, noise=number).body + b"<!--" + noise + b"-->")
    return routes


def a_file(journal: Path) -> str:
    journal.touch()
    return "dropped pages are not kept in"


def too_little_room(_: Path) -> str:
    return "more than 100 bytes wait to be written"


def locked(journal: Path) -> str:
    journal.mkdir()
    return "The crawl ends without all of its dropped pages written"


@pytest.mark.parametrize("obstacle", [a_file, too_little_room, locked])
def test_pages_that_can_not_be_kept_are_counted_and_told_once_and_the_crawl_goes_on(
    tmp_path, obstacle
) -> None:
    said = obstacle(tmp_path / "journal")
    patches = {
        too_little_room: "from simhash_gate.plugin.features import journal\n"
        "journal.MOST_WAITING = 100\n",
        locked: "from simhash_gate.plugin import threads\nthreads.LONGEST_CLOSING = 0.1\n",
    }
    lock = FileLock(tmp_path / "journal/.lock") if obstacle is locked else nullcontext()
    with lock:
        spider = "\n" + patches.get(obstacle, "")
        result = crawl(tmp_path, COPIES, spider=spider, settings=KEEP)
    assert result.status == 0
    assert len(result.delivered()) == 1
    assert result.count("journal_failed") == result.count("dropped") == 4
    assert result.log.count(said) == 1
    assert "Traceback" not in result.log


def test_pages_that_the_thread_has_no_room_for_take_no_room(tmp_path) -> None:
    limits = """
from simhash_gate.plugin import threads
from simhash_gate.plugin.features import journal
threads.MOST_WAITING = 0
journal.MOST_WAITING = 6_000
"""
    result = crawl(tmp_path, COPIES, spider=limits, settings=KEEP)  # each has 2.5 kB
    assert "Not written down: 4 dropped pages" in result.log
    assert "bytes wait to be written" not in result.log


def test_a_disk_that_fills_up_costs_the_pages_that_did_not_fit_and_no_other(tmp_path) -> None:
    # Of all files, only the journal's grows to the limit.
    limit = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
"""
    routes = pages_in_a_row(15, 20_000)
    result = crawl(tmp_path, routes, spider=limit, settings=KEEP)
    assert len(result.delivered()) == 1
    assert result.count("journaled") > 0
    assert result.count("journal_failed") > 0
    assert result.count("journaled") + result.count("journal_failed") == 14
    assert result.log.count("File too large") == 1
    assert len(dropped(tmp_path / "journal")) == result.count("journaled")


SMALL = """
from simhash_gate.plugin.features import journal
journal.MOST_BYTES = 1 << 20
"""


def test_the_journal_keeps_its_bound_over_several_crawls(tmp_path) -> None:
    routes = pages_in_a_row(20, 100_000)
    with Site(routes).running() as site:
        for _ in range(2):
            result = crawl(tmp_path, site, " ".join(routes), spider=SMALL, settings=KEEP)
    assert result.count("journaled") == 19
    files = segments(tmp_path / "journal")
    assert sum(path.stat().st_size for path in files) <= 1 << 20
    assert 19 <= len(dropped(tmp_path / "journal")) < 38


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_what_was_dropped_before_ctrl_c_or_a_kill_is_there(tmp_path, sent: signal.Signals) -> None:
    routes = pages_in_a_row(100, 20_000)
    journal = tmp_path / "journal"
    with Site(routes).running() as site:
        process, finish = start(tmp_path, site, " ".join(routes), settings=KEEP)
        until(lambda: journal.exists() and any(p.stat().st_size > 5e4 for p in segments(journal)))
        process.send_signal(sent)
        result = finish()
    there = dropped(journal)
    assert 0 < len(there) < 99
    if sent == signal.SIGINT:
        assert len(there) == result.count("journaled") == result.count("dropped")


TELLS = """
    def failed(self, failure):
        kept = failure.value.verdict.kept
        yield {"path": failure.request.url[len(self.settings["TEST_SITE"]):], "failure": "dropped",
               "url": kept and kept.url, "markdown": kept and kept.markdown,
               "links": kept and [list(link) for link in kept.links]}
"""


def test_verdicts_and_the_journal_know_the_text_of_the_kept_page_and_the_store_that_of_each_version(
    tmp_path,
) -> None:
    url = f"sqlite:///{tmp_path}/pages.sqlite"
    settings = {"SIMHASH_GATE_STORE": url, "SIMHASH_GATE_KEEP_MARKDOWN": 1 << 20}
    original = page(1, links='<a href="/more">More</a>')
    corrected = replace(original, body=original.body.replace(b"</p>", b" Lately.</p>", 1))
    copy = page(1, noise=7).body
    packed = html_answer(gzip.compress(copy), headers={"Content-Encoding": "gzip"})
    routes = {"/a": original, "/b": packed}
    with Site(routes).running() as site:
        in_order = {**settings, **KEEP, "CONCURRENT_REQUESTS": 1}
        first = crawl(tmp_path, site, "/a /b", spider=TELLS, settings=in_order)
        routes["/a"] = corrected
        later = [crawl(tmp_path, site, "/a", settings=settings) for _ in range(2)]
    kept, dropped = first.items
    assert dropped["url"] == f"{site.url}/a"
    assert dropped["markdown"] == kept["markdown"]
    assert len(dropped["markdown"]) > 1_000
    assert [f"{site.url}/more", "More"] in dropped["links"]
    (found,) = drops(f"{tmp_path}/journal", pytest.fail)
    assert found.drop.matched_markdown == kept["markdown"]
    assert found.body == copy
    with closing(open_store(url)) as store:
        (history,) = histories(store)
        versions = History.decode(history.history).versions
        texts = [
            KeptPage.of(text_of(store, history.scope, version.digest)).markdown
            for version in versions
        ]
    assert [each.count("updated") for each in later] == [1, 0]
    assert ["Lately." in text for text in texts] == [False, True]
