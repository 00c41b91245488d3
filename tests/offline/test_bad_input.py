"""Bad input is reported with its place and counted; the rest goes on; nothing is half-written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.crawls.harness import alive, until
from tests.offline.command import COMMAND

BAD = [
    ("not json", "not JSON"),
    (b'{"path": "\xff.html"}', "not UTF-8"),
    ('["a.html"]', "not a JSON object"),
    ("[" * 100_000, "not JSON"),
    ("{}", "no 'html', 'path', 'markdown' or 'text'"),
    ('{"path": 5, "url": "http://a.com/"}', "'path' is 5: expected a string"),
    ('{"path": "a.html", "url": ["x"]}', "'url' is ['x']: expected a string"),
    ('{"path": "nowhere.html", "url": "http://a.com/"}', "'nowhere.html': No such file"),
    ('{"path": ".", "url": "http://a.com/"}', "'.': Is a directory"),
    ('{"path": "a\\u0000", "url": "http://a.com/"}', "'a\\x00': embedded null byte"),
]


@pytest.mark.parametrize("command", [["fingerprint", "--input"], ["replay"]])
def test_bad_lines_of_a_manifest_are_named_counted_and_passed_over(
    run, write, manifest, command: list[str]
) -> None:
    write("a.html", 1)
    good = {"path": "a.html", "url": "http://example.com/", "id": 1}
    path = manifest(good, *(line for line, _ in BAD), good)
    result = run(*command, path)
    assert result.status == 1
    assert result.column("id") == [1, 1]
    for number, (_, complaint) in enumerate(BAD, 2):
        assert f"{path}:{number}: {complaint}" in result.err
    assert result.err.endswith(f"could not be used: {len(BAD)}\n")


def test_a_replay_names_a_page_without_a_url_by_its_path(run, write, manifest) -> None:
    write("a.html", 1)
    write("copy.html", 1, noise=2)
    result = run("replay", manifest({"path": "a.html"}, {"path": "copy.html"}))
    assert result.status == 0
    assert result.column("url") == ["a.html", "copy.html"]
    assert result.column("matched_url") == [None, "a.html"]


def test_missing_files_and_folders_without_pages_are_reported(run, tmp_path, write) -> None:
    write("a.html", 1)
    (tmp_path / "bare").mkdir()
    result = run("fingerprint", "nowhere.html", "bare", "a.html")
    assert result.status == 1
    assert result.column("path") == ["a.html"]
    assert "nowhere.html: No such file or directory" in result.err
    assert "bare: no page in this folder: no file in it ends in .html" in result.err
    assert run("fingerprint", "--input", "nowhere.jsonl").status == 1
    assert run("replay", "nowhere.jsonl").status == 1


@pytest.mark.parametrize(
    "command",
    [
        ["fingerprint", "--input"],
        ["replay"],
        ["report"],
        ["pairs"],
        ["tune"],
        ["idf"],
        ["store", "import", "sqlite:///pages.sqlite"],
    ],
)
def test_a_source_without_a_page_is_one_that_can_not_be_used(run, manifest, command) -> None:
    for source in (manifest(name="empty.jsonl"), "nowhere.jsonl"):
        result = run(*command, source)
        assert (result.status, result.out) == (1, "")
        assert f"{source}: no {'verdict' if command == ['report'] else 'page'}" in result.err
        assert result.err.endswith("could not be used: 1\n")


@pytest.mark.parametrize(
    ("command", "output", "why"),
    [
        ("pairs", "nowhere/out", "No such file or directory"),
        ("idf", "nowhere/out", "No such file or directory"),
        ("pairs", ".", "Is a directory"),
        ("idf", ".", "Is a directory"),
        ("report", ".", "Is a directory"),
    ],
)
def test_an_output_that_can_not_be_is_refused_before_anything_is_read(
    run, command: str, output: str, why: str
) -> None:
    result = run(command, "nowhere.jsonl", "-o", output)
    assert (result.status, result.out) == (1, "")
    assert result.err == f"Error: {output}: {why}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["fingerprint"],
        ["fingerprint", "a.html", "--input", "m.jsonl"],
        ["fingerprint", "a.html", "-s", "SIMHASH_GATE_THRESHHOLD=3"],
        ["fingerprint", "a.html", "-s", "SIMHASH_GATE_SHINGLE_SIZE=many"],
        ["fingerprint", "a.html", "-s", "LOG_LEVEL=INFO"],
        ["replay", "m.jsonl", "-s", "SIMHASH_GATE_THRESHOLD"],
        ["compare", "a.html"],
        ["replay", "sqlite:///pages.sqlite"],
        ["juggle"],
        ["replay", ""],
        ["pairs", "a.html", ""],
        ["store", "import", "sqlite:///pages.sqlite", ""],
    ],
)
def test_a_wrong_command_line_is_refused_before_anything_is_read(run, arguments) -> None:
    result = run(*arguments)
    assert (result.status, result.out) == (2, "")
    assert "Error: " in result.err
    assert "Traceback" not in result.err


def many(tmp_path: Path, write) -> Path:
    """A manifest that takes far longer to read than a test lasts."""
    write("a.html", 1, words=5000)
    path = tmp_path / "many.jsonl"
    path.write_text('{"path": "a.html", "url": "http://example.com/"}\n' * 100_000)
    return path


def test_a_reader_that_leaves_ends_the_command_quietly(tmp_path, write, environment) -> None:
    process = subprocess.Popen(
        [*COMMAND, "fingerprint", "--input", many(tmp_path, write)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert json.loads(process.stdout.readline())["path"] == "a.html"
    process.stdout.close()
    assert process.wait(60) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.fixture
def printing_to(tmp_path, write, manifest, environment):
    """Run a command on two pages with its stdout in a file; return its status, and stderr."""
    for number in range(2):
        write(f"{number}.html", 1, noise=number)
    lines = [{"path": f"{n}.html", "url": f"http://example.com/{n}"} for n in range(2)]
    manifest(*lines, name="pages.jsonl")

    def start(stdout, command: list[str]) -> tuple[int, str]:
        ended = subprocess.run(
            [*COMMAND, *command],
            cwd=tmp_path,
            env=environment,
            stdout=stdout,
            stderr=subprocess.PIPE,
            check=False,
        )
        return ended.returncode, ended.stderr.decode()

    return start


@pytest.mark.parametrize(
    "command",
    [
        ["tune", "pages.jsonl"],
        ["idf", "pages.jsonl", "--min-pages", "1"],
        ["compare", "0.html", "1.html"],
    ],
)
def test_what_is_shown_to_nobody_ends_as_quietly(printing_to, command) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    assert printing_to(writer, command) == (141, "")
    os.close(writer)


@pytest.mark.parametrize(
    "command",
    [
        ["fingerprint", "0.html"],
        ["replay", "pages.jsonl"],
        ["report", "pages.jsonl"],
        ["compare", "0.html", "1.html"],
        ["pairs", "pages.jsonl"],
        ["tune", "pages.jsonl"],
        ["idf", "pages.jsonl", "--min-pages", "1"],
    ],
)
def test_a_full_disk_under_the_results_is_said_in_one_line(printing_to, command) -> None:
    with Path("/dev/full").open("wb") as full:
        assert printing_to(full, command) == (1, "Error: <stdout>: No space left on device\n")


def test_ctrl_c_ends_the_command_its_workers_and_its_run(tmp_path, write, environment, run) -> None:
    store = f"SIMHASH_GATE_STORE=sqlite:///{tmp_path}/kept.sqlite"
    source = many(tmp_path, write)
    process = subprocess.Popen(
        [*COMMAND, "replay", source, "-s", store],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
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
