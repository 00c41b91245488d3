"""`simhash-gate idf`: a table of weights from the pages of a crawl."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import suppress
from math import log

import pytest

from simhash_gate.pipeline import Options, read_page
from simhash_gate.tuning.idf import Frequencies
from tests.offline.command import COMMAND

SITE = "https://hive.example"
PAGE = "<html><body><main><p>{}</p></main></body></html>"


@pytest.fixture
def crawl(tmp_path, manifest):
    """Three pages, of which one comes twice, all with the words `bees` and `fly`."""
    texts = (
        "bees fly to every flower of the garden",
        "bees fly out when summer comes",
        "bees fly home again at night",
        "bees fly home again at night",
    )
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.html").write_text(PAGE.format(text))
    names = range(len(texts))
    return manifest(*({"path": f"{n}.html", "url": f"{SITE}/{n}"} for n in names))


def test_a_word_weighs_less_the_more_pages_have_it(run, crawl, tmp_path) -> None:
    result = run("idf", crawl, "-o", "idf.json", "--min-pages", 1)
    assert (result.status, result.out) == (0, "")
    assert result.err.endswith(" words of 3 pages\n")  # a copy counts once
    (tmp_path / "other").touch()  # as the umask says
    assert (tmp_path / "idf.json").stat().st_mode == (tmp_path / "other").stat().st_mode
    table = json.loads((tmp_path / "idf.json").read_text())
    unseen = log(4) + 1
    assert table["bees"] == table["fly"] == round(1 / unseen, 4)
    assert table["garden"] == round((log(4 / 2) + 1) / unseen, 4)
    assert list(table) == sorted(table)


def test_pages_that_hang_or_kill_their_process_are_named_and_left_out(
    run, crawl, tmp_path, environment
) -> None:
    (tmp_path / "hostile.py").write_text(
        "import os, time\nfrom simhash_gate.page import SteadyExtractor\n"
        "class Hostile(SteadyExtractor):\n"
        "    def __call__(self, page):\n"
        "        if page.titles.title == 'endless': time.sleep(600)\n"
        "        if page.titles.title == 'deadly': os._exit(3)\n"
        "        return super().__call__(page)\n"
    )
    for title in ("endless", "deadly"):
        (tmp_path / f"{title}.html").write_text(f"<title>{title}</title>{PAGE.format('a b c')}")
    lines = [json.dumps({"path": f"{title}.html"}) for title in ("endless", "deadly")]
    crawl.write_text("\n".join([*lines, crawl.read_text()]))
    settings = ["-s", "SIMHASH_GATE_EXTRACTOR=hostile.Hostile", "-s", "SIMHASH_GATE_TIMEOUT=1"]
    paths = os.pathsep.join([environment["PYTHONPATH"], str(tmp_path)])
    result = run("idf", crawl, "--min-pages", 1, *settings, PYTHONPATH=paths)
    assert result.status == 1
    assert f"{crawl}:1: reading took longer than 1 s\n" in result.err
    assert f"{crawl}:2: the page-reading process ended with status 3\n" in result.err
    assert "words of 3 pages\n" in result.err
    assert "bees" in json.loads(result.out)


def test_the_gate_reads_the_table(run, crawl, tmp_path) -> None:
    run("idf", crawl, "-o", "idf.json")
    body = (tmp_path / "0.html").read_bytes()
    weighed = read_page(body, options=Options(idf=str(tmp_path / "idf.json")))
    assert weighed.fingerprint != read_page(body).fingerprint


def test_the_table_is_bounded_and_the_same_each_time(run, crawl) -> None:
    first, again = (run("idf", crawl, "--most", 2, "--min-pages", 1) for _ in range(2))
    assert list(json.loads(first.out)) == ["bees", "fly"]
    assert first.out == again.out


def test_shingles_can_be_weighed(run, crawl) -> None:
    result = run("idf", crawl, "--shingles", "--min-pages", 1)
    assert "bees fly home" in json.loads(result.out)
    assert " shingles of 3 pages" in result.err


def test_bad_input_is_named_and_leaves_an_earlier_table_alone(
    run, crawl, manifest, tmp_path
) -> None:
    (tmp_path / "idf.json").write_text("before")
    empty = manifest(name="empty.jsonl")
    for source, complaint in (
        (empty, "no page with words"),
        ("nowhere.jsonl", "No such file or directory"),
    ):
        result = run("idf", source, "-o", "idf.json")
        assert result.status == 1
        assert complaint in result.err
    result = run("idf", crawl, "-o", "idf.json", "--min-pages", 9)
    assert f"{crawl}: 3 pages, and no word is in 9 of them\n" in result.err
    assert (tmp_path / "idf.json").read_text() == "before"
    result = run("idf", crawl, "-o", "nowhere/idf.json")
    assert result.status == 1
    assert "Error: nowhere/idf.json: No such file or directory\n" in result.err
    assert run("idf", "sqlite:///pages.sqlite").status == 2
    assert not list(tmp_path.glob(".idf.json*"))


def test_the_table_of_a_truncated_list_is_written_and_the_rest_named(run, crawl) -> None:
    with crawl.open("a") as file:
        file.write('{"path": "3.ht')
    result = run("idf", crawl, "--min-pages", 1)
    assert result.status == 1
    assert f"{crawl}:5: not JSON" in result.err
    assert "bees" in json.loads(result.out)


def test_ctrl_c_leaves_nothing_behind(tmp_path, environment) -> None:
    (tmp_path / "pages.jsonl").touch()
    process = subprocess.Popen(
        [*COMMAND, "idf", "-", "-o", "idf.json", "--no-progress"],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"bad\n")
        process.stdin.flush()
        assert b"not JSON" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        with suppress(BrokenPipeError):
            # A signal just before a read is seen by Python when the read ends.
            process.stdin.write(b"bad\n")
            process.stdin.flush()
        assert process.wait(60) == 130
    assert [path.name for path in tmp_path.iterdir()] == ["pages.jsonl"]


def test_rare_words_are_forgotten_where_there_are_too_many() -> None:
    found = Frequencies(most=50)
    for page in range(200):
        found.add(["always", *["often"] * (page % 2), f"rare-{page}"], digest=page)
    assert len(found.counts) <= 50
    assert found.error > 0
    for word, pages in (("always", 200), ("often", 100)):
        assert pages <= found.counts[word] <= pages + found.error
    weights = found.weights(2, 2)
    assert weights["always"] < weights["often"]
