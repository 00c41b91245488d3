"""Bad input is reported with its place and counted; the rest goes on; nothing is half-written."""

import json
import os
import signal
import sys
from contextlib import closing
from pathlib import Path

import pytest

from simhash_gate.cli import main
from simhash_gate.sources import find
from simhash_gate.stores import open_store
from tests.crawls.harness import alive, until
from tests.offline.test_replay_warc import record as warc_record

BAD = [
    ("not json", "not JSON"),
    (b'{"path": "\xff.html"}', "not UTF-8"),
    ("[" * 100_000, "not JSON"),
    ("{}", "no 'html', 'path', 'markdown' or 'text'"),
    ('{"path": 5, "url": "http://a.com/"}', "'path' is 5: expected a string"),
    ('{"path": "nowhere.html", "url": "http://a.com/"}', "'nowhere.html': No such file"),
    ('{"path": "a\\u0000", "url": "http://a.com/"}', "'a\\x00': embedded null byte"),
]


@pytest.mark.parametrize("command", ["fingerprint", "replay"])
def test_bad_lines_of_a_manifest_are_named_counted_and_passed_over(
    run, write, manifest, command: str
) -> None:
    write("a.html", 1)
    good = {"path": "a.html", "url": "http://example.com/", "id": 1}
    path = manifest(good, *(line for line, _ in BAD), good)
    result = run(*command.split(), path)
    assert result.status == 1
    assert result.column("id") == [1, 1]
    for number, (_, complaint) in enumerate(BAD, 2):
        assert f"{path}:{number}: {complaint}" in result.err
    assert result.err.endswith(f"could not be used: {len(BAD)}\n")


def test_a_file_of_another_kind_is_not_complained_of_line_by_line(run, manifest) -> None:
    path = manifest(*("not json" for _ in range(50)))
    result = run("replay", path)
    said = result.err.splitlines()
    assert said[9].startswith(f"{path}:10: not JSON: ")
    assert said[10] == f"{path}: not JSON: more lines are like this"
    assert sum("not JSON" in line for line in said) == 11
    assert said[-1] == "inputs that could not be used: 50"


@pytest.mark.parametrize(
    "command",
    [
        "fingerprint {}",
        "replay {}",
        "report {} -o out",
        "pairs {} -o out",
        "similar {} 0000000000000000",
        "dedupe {} -o out",
        "store import sqlite:///store {}",
    ],
)
def test_a_source_without_a_page_is_named_and_nothing_is_written(
    run, tmp_path, manifest, command: str
) -> None:
    manifest(name="empty.jsonl")
    (tmp_path / "bare").mkdir()
    before = {*tmp_path.iterdir(), tmp_path / "store"}
    for source in ("empty.jsonl", "nowhere.jsonl", "nowhere.parquet", "bare"):
        result = run(*command.format(source).split())
        assert (result.status, result.out) == (1, "")
        assert f"{source}: no {'verdict' if 'report' in command else 'page'}" in result.err
        assert result.err.endswith("could not be used: 1\n")
        assert {*tmp_path.iterdir()} <= before


def test_an_output_that_can_not_be_is_refused_before_anything_is_read(run) -> None:
    for command, output, why in (
        ("pairs", "nowhere/out", "No such file or directory"),
        ("report", ".", "Is a directory"),
    ):
        result = run(command, "nowhere.jsonl", "-o", output)
        assert (result.status, result.out) == (1, "")
        assert result.err == f"Error: {output}: {why}\n"


@pytest.mark.parametrize("command", ["dedupe", "pairs", "report"])
def test_a_source_is_not_written_over(run, manifest, tmp_path, command: str) -> None:
    manifest({"text": "A worker bee lives six weeks."}, name="pages.jsonl")
    before = (tmp_path / "pages.jsonl").read_bytes()
    result = run(command, "pages.jsonl", "-o", str(tmp_path / "pages.jsonl"))
    assert (result.status, result.out) == (2, "")
    assert "pages.jsonl is a source. Name another file for the output" in result.err
    assert (tmp_path / "pages.jsonl").read_bytes() == before


@pytest.mark.parametrize("command", ["dedupe {} -o corpus.jsonl", "fingerprint {}", "pairs {}"])
def test_a_store_that_is_named_by_its_path_is_named(run, tmp_path, command: str) -> None:
    with closing(open_store(f"sqlite:///{tmp_path}/pages.sqlite")):
        result = run(*command.format("pages.sqlite").split())
    assert (result.status, result.out) == (2, "")
    remedy = "Write sqlite:///pages.sqlite" if "pairs" in command else "Name the files of the crawl"
    assert remedy in result.err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("fingerprint", "SOURCE"),
        ("fingerprint a.html -s SIMHASH_GATE_THRESHHOLD=3", "SIMHASH_GATE_THRESHOLD"),
        ("replay m.jsonl -s SIMHASH_GATE_THRESHOLD", "SIMHASH_GATE_THRESHOLD"),
        ("why a.html", "two pages to compare"),
        ("replay sqlite:///pages.sqlite", "a store has no pages to read"),
        ("pairs http://example.com/", "nothing is fetched"),
        ("similar http://example.com/ sqlite:///pages.sqlite", "the page comes last"),
        ("store list pages.jsonl", "Write its URL, such as sqlite:///pages.sqlite"),
        ("store import a.jsonl sqlite:///pages.sqlite", "Write its URL, such as"),
        ("history diff http://example.com/ sqlite:///pages.sqlite", "The store comes first"),
        ("replay a.html -s SIMHASHGATE_THRESHOLD=3", "SIMHASH_GATE_NAME=VALUE"),
        ("juggle", "known are crawl, dedupe"),
        ("dedup a.html", "did you mean dedupe?"),
        ("pairs a.html ''", "the argument is empty"),
        ("pairs a.html -k 9", "-k"),
        ("pairs a.html --format parquet", "-o FILE"),  # a terminal can't show it
        ("dedupe a.html -o corpus.csv", "a corpus is a folder"),
        ("store forget sqlite:///pages.sqlite", "--domain, --scope, --page, --age, or --all"),
        ("store forget sqlite:///pages.sqlite --age -7d", "such as 7d"),
    ],
)
def test_a_wrong_command_line_is_refused_before_anything_is_read(
    run, tmp_path, command: str, said: str
) -> None:
    result = run(*(word.strip("'") for word in command.split()))
    assert (result.status, result.out) == (2, "")
    assert "Error: " in result.err
    assert said in result.err
    assert "Traceback" not in result.err
    assert [*tmp_path.iterdir()] == []


@pytest.fixture
def without(monkeypatch):
    """Let a package be missing."""

    def without(package: str) -> None:
        monkeypatch.setitem(sys.modules, package, None)
        find._missing.cache_clear()

    yield without
    find._missing.cache_clear()


@pytest.mark.parametrize(
    ("package", "extra", "command"),
    [
        ("pyarrow", "parquet", "pairs a.html -o out.parquet"),
        ("fastwarc", "warc", "replay journal.warc.gz"),
        ("jinja2", "report", "report a.html"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    run, tmp_path, write, without, package: str, extra: str, command: str
) -> None:
    write("a.html", 1)
    (tmp_path / "journal.warc.gz").write_bytes(warc_record(b"<p>Bees"))
    without(package)
    result = run(*command.split())
    assert (result.status, result.out) == (1, "")
    assert package in result.err
    assert f"pip install 'simhash-gate[{extra}]'" in result.err
    assert not (tmp_path / "out.parquet").exists()


def test_without_a_package_a_folder_gives_its_other_pages(run, tmp_path, write, without) -> None:
    for number in range(2):
        write(f"crawl/{number}.html", 1, noise=number)
        (tmp_path / f"crawl/{number}.warc").write_bytes(warc_record(b"<p>Bees"))
    without("fastwarc")
    result = run("replay", "crawl")
    assert (result.status, result.column("outcome")) == (1, ["new", "duplicate"])
    assert "crawl: 2 files can't be read: reading WARC files needs fastwarc: pip" in result.err
    assert "crawl: 2 HTML files, 2 other files not read (0.warc, 1.warc)\n" in result.err


OF_STORES = ["store info", "store list", "store export", "store forget --all"]
OF_PAGES = ["pairs", "report"]
OTHERS = [*("store forget --age 1d", "history list")]


@pytest.mark.parametrize(
    ("url", "commands", "why"),
    [
        ("sqlite:///missing.sqlite", OF_STORES + OF_PAGES + OTHERS, "there is no such file"),
        ("sqlite:", OF_STORES + OF_PAGES, "name the file"),
        ("memory:", OF_STORES, "ends with its crawl"),
        ("memory:", ["store import {} a.html"], "ends with this command"),
        ("nonsense", OF_STORES, "nonsense is no store. Write its URL"),
        ("sqlite:///empty", OF_STORES, "an empty file"),
    ],
)
def test_a_store_that_is_not_there_is_named_and_not_made(
    run, tmp_path, url: str, commands: list[str], why: str
) -> None:
    (tmp_path / "empty").touch()
    for command in commands:
        words = command.split() if "{}" in command else [*command.split(), "{}"]
        result = run(*(word.format(url) for word in words))
        assert (result.status, result.out) == (1 if url.startswith("sqlite:///") else 2, "")
        assert why in result.err
        assert "Traceback" not in result.err
        assert [path.name for path in tmp_path.iterdir()] == ["empty"]
        assert (tmp_path / "empty").stat().st_size == 0


def many(tmp_path: Path, write) -> Path:
    """A manifest that takes far longer to read than a test lasts."""
    write("a.html", 1, words=5000)
    path = tmp_path / "many.jsonl"
    path.write_text('{"path": "a.html", "url": "http://example.com/"}\n' * 100_000)
    return path


def test_a_reader_that_leaves_ends_the_command_quietly(tmp_path, write, start) -> None:
    process = start("fingerprint", many(tmp_path, write))
    assert json.loads(process.stdout.readline())["path"] == "a.html"
    process.stdout.close()
    assert process.wait(60) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


def test_what_can_not_be_shown_is_said_in_one_line_and_not_to_nobody(write, start) -> None:
    """Pages for people are flushed once more when Python ends."""
    for name in ("a.html", "b.html"):
        write(name, 1)
    reader, nobody = os.pipe()
    os.close(reader)
    full = os.open("/dev/full", os.O_WRONLY)
    for stdout, status, said in (
        (nobody, 141, b""),
        (full, 1, b"Error: <stdout>: No space left on device\n"),
    ):
        process = start("why", "a.html", "b.html", stdout=stdout)
        assert process.communicate(timeout=60) == (None, said)
        assert process.returncode == status
        os.close(stdout)


@pytest.mark.parametrize("command", ["replay", "report", "pairs"])
def test_a_full_disk_under_the_results_is_said_in_one_line(
    tmp_path, write, manifest, monkeypatch, capsys, command: str
) -> None:
    for number in range(2):
        write(f"{number}.html", 1, noise=number)
    log = {"outcome": "new"} if command == "report" else {}
    lines = [{"path": f"{n}.html", "url": f"http://example.com/{n}", **log} for n in range(2)]
    manifest(*lines, name="pages.jsonl")
    monkeypatch.chdir(tmp_path)
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        status = main([command, "pages.jsonl", "-s", "SIMHASH_GATE_WORKERS=0"])
    assert (status, capsys.readouterr().err) == (1, "Error: <stdout>: No space left on device\n")


def test_ctrl_c_ends_the_command_its_workers_and_its_run(tmp_path, write, start, run) -> None:
    store = f"SIMHASH_GATE_STORE=sqlite:///{tmp_path}/kept.sqlite"
    process = start("replay", many(tmp_path, write), "-s", store)
    lines = [process.stdout.readline() for _ in range(2)]
    workers = children(process.pid)
    assert workers
    process.send_signal(signal.SIGINT)
    rest, complaints = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in complaints
    for line in [*lines, *rest.splitlines(keepends=True)]:
        assert line.endswith(b"\n")
        json.loads(line)
    until(lambda: not any(map(alive, workers)))
    # The run did not end: what it kept does not count.
    one = tmp_path / "one.jsonl"
    one.write_text('{"path": "a.html", "url": "http://example.com/"}\n')
    assert run("replay", one, "-s", store).column("outcome") == ["new"]


def children(pid: int) -> list[int]:
    return [
        int(child)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]
