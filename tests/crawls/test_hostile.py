"""What pages say goes into logs, files and terminals: it forges no line, and moves nothing."""

from __future__ import annotations

import json
import subprocess
from html import escape
from pathlib import Path

import pytest

from simhash_gate.cli import main
from tests.crawls.harness import Site, crawl, html_answer, text
from tests.offline.command import COMMAND

FORGED = "2030-01-01 00:00:00 [scrapy.core.engine] ERROR: forged"
HOSTILE = (
    f"A\r\n{FORGED}\x85{FORGED}\u2028{FORGED} \x1b[31mred\x1b]0;title\x07 \x9b2J "
    "\u202egnp.exe\u2066 <script>window.pwned=1</script> javascript:alert(1)"
)
SETTINGS = {
    "CONCURRENT_REQUESTS": 1,
    "SIMHASH_GATE_COMPARE": '[".own"]',
    "SIMHASH_GATE_AUDIT": 1,
    "SIMHASH_GATE_VERDICTS": "verdicts.jsonl",
    "SIMHASH_GATE_REPORT": "report.html",
    "SIMHASH_GATE_TRAPS": "limit",
    "SIMHASH_GATE_URLS": "skip",
    "SIMHASH_GATE_KEEP_MARKDOWN": 10_000_000,
}
SPIDER = """
    def parse(self, response):
        yield {"path": response.url[len(self.settings["TEST_SITE"]):],
               **{cell.attrib["title"]: cell.attrib["data-n"] for cell in response.css("td")}}
"""


def story(number: int, *, name: str, own: str, sold: str, cell: str) -> str:
    """Return a page that says what the others say, but for what it is called, sells and shows."""
    offers = {"@type": "Offer", "price": sold, "priceCurrency": sold, "sku": sold}
    data = json.dumps({"@type": "Product", "name": name, "sku": sold, "offers": offers})
    data = data.replace("<", "\\u003c")
    return f"""<!doctype html><html><head><meta charset="utf-8"><title>{escape(name)}</title>
    <script type="application/ld+json">{data}</script></head>
    <body><main><article><h1>{escape(name)}</h1><p class="own">{escape(own)}</p>
    <p>{text(1)}</p><table><tr><td title="{escape(cell)}" data-n="{number}">c</td></tr>
    </table></article></main></body></html>"""


def routes() -> dict:
    found = {}
    for number in range(12):
        said = f"{HOSTILE} {'abcdefghijkl'[number] * 9}"
        plain = {"name": "One name", "own": "the same", "sold": "1", "cell": "c"}
        changed = ["name", "own", "sold", "cell"][number % 4]
        if number > 3:
            plain[changed] = said.replace("/", "") if changed == "cell" else said
        found[f"/{number}"] = html_answer(story(number, **plain))
    return found


def is_harmless(line: str) -> bool:
    return line.isprintable() and len(line.splitlines()) <= 1


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    settings = {**SETTINGS, "SIMHASH_GATE_STORE": f"sqlite:///{folder}/store.sqlite"}
    with Site(routes()).running() as site:
        done = [
            crawl(folder / n, site, " ".join(site.routes), spider=SPIDER, settings=settings)
            for n in ("first", "second")
        ]
    assert [each.status for each in done] == [0, 0]
    return folder, done


def test_no_line_of_the_log_is_forged(crawled) -> None:
    _, done = crawled
    for each in done:
        lines = each.log.split("\n")
        ours = [line for line in lines if "[simhash_gate" in line]
        assert len(ours) > 10
        assert [line for line in ours if not is_harmless(line)] == []
        assert not [line for line in each.log.splitlines() if line.startswith(FORGED)]
    assert "Wrong drop?" in done[0].log


def test_lines_of_json_stay_lines_wherever_they_are_shown(crawled) -> None:
    folder, _ = crawled
    files = [*folder.glob("*/verdicts.jsonl")]
    assert len(files) == 2
    assert any('"audit": "pair"' in file.read_text("utf-8") for file in files)
    for file in files:
        lines = file.read_text("utf-8").split("\n")[:-1]
        assert [line for line in lines if not is_harmless(line)] == []
        assert FORGED in "".join(lines)


def test_commands_print_nothing_that_moves_a_terminal(
    crawled, tmp_path, monkeypatch, capsys
) -> None:
    folder, _ = crawled
    for name, answer in routes().items():
        (tmp_path / f"{name[1:]}.html").write_bytes(answer.body)
    store = f"sqlite:///{folder}/store.sqlite"
    log = str(folder / "first/verdicts.jsonl")
    logged = map(json.loads, Path(log).read_text("utf-8").splitlines())
    urls = {line["url"] for line in logged if "url" in line}
    assert urls
    for command in (
        ["fingerprint", "--text", "."],
        ["replay", "."],
        ["pairs", "."],
        ["why", "5.html", "6.html"],
        ["why", "5.html", "6.html", "--json"],
        ["store", "list", store],
        ["store", "info", store],
        ["history", "list", store],
        ["report", log, "-o", "report.html"],
        ["urls", "list", store],
    ):
        done = subprocess.run(
            [*COMMAND, *command], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode in (0, 1), done.stderr
        assert "Traceback" not in done.stderr
        lines = [*done.stdout.split("\n"), *done.stderr.split("\n")]
        assert [(command, line) for line in lines if not is_harmless(line)] == []
    monkeypatch.chdir(tmp_path)
    for url in urls:
        assert main(["why", url, "--in", log, "--in", store, "--in", "."]) in (0, 1)
        lines = "\n".join(capsys.readouterr()).split("\n")
        assert [(url, line) for line in lines if not is_harmless(line)] == []
