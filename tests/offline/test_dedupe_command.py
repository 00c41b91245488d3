"""`simhash-gate dedupe`: what is kept, in every form, whatever goes wrong on the way."""

from __future__ import annotations

import csv
import gzip
import json
import os
import random
import resource
import signal
import subprocess

import pyarrow.parquet
import pytest

from tests.crawls.harness import page, text, until
from tests.offline.command import COMMAND
from tests.offline.test_replay_warc import record

FIELDS = ["id", "url", "title", "date", "words", "fingerprint", "pipeline", "markdown"]
OTHERS = ["id", "url", "kept", "distance", "reason"]


def lines(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def ids(path) -> list:
    return [line["id"] for line in lines(path)]


@pytest.fixture
def stories(tmp_path, manifest):
    """Twelve pages of five stories; each later one of a story is a copy among other furniture."""
    order = [1, 2, 1, 3, 3, 1, 4, 2, 5, 5, 4, 1]
    rows = []
    for number, seed in enumerate(order):
        name = f"{number}.html"
        (tmp_path / name).write_bytes(page(seed, noise=number).body)
        rows.append({"id": number, "path": name, "url": f"https://example.com/{seed}/{number}"})
    return manifest(*rows)


KEPT = [0, 1, 3, 6, 8]
COPY_OF = {2: 0, 4: 3, 5: 0, 7: 1, 9: 8, 10: 6, 11: 0}


def test_the_corpus_has_the_kept_pages_in_their_order(run, tmp_path, stories) -> None:
    result = run("dedupe", stories, "-o", "corpus.jsonl", "--duplicates", "others.jsonl")
    assert (result.status, result.out) == (0, "")
    assert result.err == (
        "pages: 12, kept: 5, copies: 7, without text to compare: 0, not read: 0\n"
    )
    corpus, others = lines(tmp_path / "corpus.jsonl"), lines(tmp_path / "others.jsonl")
    assert [[*line] for line in corpus] == [FIELDS] * 5
    assert [line["id"] for line in corpus] == KEPT
    assert corpus[0]["markdown"].startswith(f"# {text(1, 5)}")
    assert corpus[0]["url"] == "https://example.com/1/0"
    assert [[*line] for line in others] == [OTHERS] * 7
    assert {line["id"]: line["kept"] for line in others} == COPY_OF
    assert others[0]["reason"] == "distance 0, threshold 3"
    assert not (tmp_path / "corpus.jsonl.work").exists()


def test_a_corpus_can_be_a_folder_or_parquet(run, tmp_path, stories) -> None:
    assert run("dedupe", stories, "-o", "lines.jsonl").status == 0
    expected = lines(tmp_path / "lines.jsonl")
    result = run("dedupe", stories, "-o", "a.parquet", "--duplicates", "b.parquet")
    assert result.status == 0
    table = pyarrow.parquet.read_table(tmp_path / "a.parquet")
    assert table.to_pylist() == [line | {"id": str(line["id"])} for line in expected]
    others = pyarrow.parquet.read_table(tmp_path / "b.parquet").to_pylist()
    assert {int(row["id"]): int(row["kept"]) for row in others} == COPY_OF

    assert run("dedupe", stories, "-o", "folder/", "--duplicates", "b.csv").status == 0
    files = sorted(path for path in (tmp_path / "folder").rglob("*") if path.is_file())
    names = [str(path.relative_to(tmp_path / "folder")) for path in files]
    assert names == [f"example.com/{n}.md" for n in ("1/0", "2/1", "3/3", "4/6", "5/8")]
    _, front, markdown = files[0].read_text("utf-8").split("---\n", 2)
    said = dict(line.split(": ", 1) for line in front.splitlines())
    assert {k: json.loads(v) for k, v in said.items()} | {"markdown": markdown.strip()} == (
        expected[0]
    )
    with (tmp_path / "b.csv").open() as file:
        assert {int(row["id"]): int(row["kept"]) for row in csv.DictReader(file)} == COPY_OF


@pytest.mark.parametrize("name", ["corpus", "corpus.jsonl", "corpus.parquet"])
def test_other_commands_know_the_pages_of_a_corpus(run, tmp_path, stories, name: str) -> None:
    run("dedupe", stories, "-o", "lines.jsonl")
    known = {line["url"]: line["fingerprint"] for line in lines(tmp_path / "lines.jsonl")}
    assert run("dedupe", stories, "-o", name).status == 0
    for url, fingerprint in known.items():
        found = run("similar", name, fingerprint, "-k", "0")
        assert found.column("page") == [url]
        assert found.column("fingerprint") == [fingerprint]
    store = f"sqlite:///{tmp_path}/kept.sqlite"
    assert run("store", "import", store, name).status == 0
    listed = run("store", "list", store).lines
    assert {line["url"]: line["fingerprint"] for line in listed} == known
    seeded = run("replay", stories, "-s", f"SIMHASH_GATE_STORE={store}")
    assert set(seeded.column("outcome")) == {"unchanged", "duplicate"}
    assert {line["matched_url"] for line in seeded.lines} == known.keys()


def test_it_keeps_what_a_replay_in_that_order_keeps(run, tmp_path, write_named, manifest) -> None:
    chance = random.Random(5)
    rows = []
    for number in range(60):
        seed = chance.randrange(8)
        name = f"{number}.html"
        if number % 3:
            (tmp_path / name).write_bytes(page(seed, noise=number, words=60 + seed * 9).body)
        else:
            write_named(name, f"Lamp {seed}", f"{10 + seed % 3} EUR")
        rows.append({"id": number, "path": name, "url": f"https://example.com/{number}"})
    source = manifest(*rows)
    replayed = run("replay", source).lines
    kept = [line["id"] for line in replayed if line["outcome"] in ("new", "near")]
    assert 10 < len(kept) < 50
    assert run("dedupe", source, "-o", "corpus.jsonl").status == 0
    assert ids(tmp_path / "corpus.jsonl") == kept


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_number_of_processes_changes_nothing(run, tmp_path, stories, workers: int) -> None:
    run("dedupe", stories, "-o", "one.jsonl")
    own = f"SIMHASH_GATE_WORKERS={workers}"
    result = run("dedupe", stories, "-o", "corpus.jsonl", "-s", own)
    assert result.status == 0
    assert (tmp_path / "corpus.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()


def test_html_and_warc_give_the_same_pages(run, tmp_path, stories) -> None:
    rows = lines(stories)
    pages = [record((tmp_path / row["path"]).read_bytes(), url=row["url"]) for row in rows]
    (tmp_path / "crawl.warc.gz").write_bytes(b"".join(map(gzip.compress, pages)))
    run("dedupe", stories, "-o", "html.jsonl")
    assert run("dedupe", "crawl.warc.gz", "-o", "warc.jsonl").status == 0
    from_html, from_warc = lines(tmp_path / "html.jsonl"), lines(tmp_path / "warc.jsonl")
    for line in (*from_html, *from_warc):
        del line["id"]
    assert from_warc == from_html


def test_a_chain_is_no_cluster(run, tmp_path, manifest) -> None:
    """Pages, each with a few words more than the one before: the last is no copy of the first."""
    words = text(1, 300).split()
    rows = []
    for number in range(12):
        said = " ".join([*words[: 300 - 3 * number], *text(50, 3 * number).split()])
        rows.append({"id": number, "url": f"https://example.com/{number}", "html": f"<p>{said}"})
    source = manifest(*rows)
    run("dedupe", source, "-o", "corpus.jsonl", "--duplicates", "others.jsonl")
    bits = {line["id"]: int(line["fingerprint"], 16) for line in run("fingerprint", source).lines}
    kept = ids(tmp_path / "corpus.jsonl")
    assert 1 < len(kept) < 12
    for line in lines(tmp_path / "others.jsonl"):
        assert line["kept"] in kept
        assert line["distance"] == (bits[line["id"]] ^ bits[line["kept"]]).bit_count() <= 3


def test_the_longest_or_the_newest_is_kept(run, tmp_path, manifest) -> None:
    story = text(1, 900)
    rows = [
        {"id": n, "url": f"https://example.com/{n}", "html": f"<p>{story} {more}", "time": at}
        for n, more, at in (
            ("first", "", "2024-03-01"),
            ("longest", "and so on", "2024-01-01T00:00:00Z"),
            ("newest", "etc", 1735689600),
            ("untimed", "", None),
        )
    ]
    source = manifest(*rows)
    for keep in ("first", "longest", "newest"):
        result = run("dedupe", source, "-o", f"{keep}.jsonl", "--keep", keep)
        assert result.status == 0
        assert ids(tmp_path / f"{keep}.jsonl") == [keep]


def test_options_are_settings_of_the_gate(run, tmp_path, stories, write_named, manifest) -> None:
    write_named("a.html", "Lamp", "10 EUR")
    write_named("b.html", "Lamp", "12 EUR")
    rows = [{"id": n, "path": f"{n}.html", "url": f"https://{n}.example.com/x"} for n in "ab"]
    source = manifest(*rows, name="lamps.jsonl")

    def kept(*options: str) -> list:
        assert run("dedupe", source, "-o", "corpus.jsonl", *options).status == 0
        return ids(tmp_path / "corpus.jsonl")

    assert kept() == ["a", "b"]
    distance = ("-s", "SIMHASH_GATE_VERIFY=distance")
    assert kept(*distance, "-k", "8") == ["a"]
    assert kept(*distance, "-k", "8", "--scope", "host") == ["a", "b"]
    domains = 'SIMHASH_GATE_DOMAINS={"example.com": {"verify": "distance", "threshold": 8}}'
    assert kept("-s", domains) == ["a"]
    assert kept(*distance, "-k", "0") == ["a", "b"]
    assert run("dedupe", source, "-o", "x.jsonl", "-k", "9").status == 2


def test_texts_can_be_verified(run, tmp_path, manifest) -> None:
    story = text(1, 900)
    rows = [
        {"id": n, "url": f"https://example.com/{n}", "html": f"<p>{story} {n} zebras"}
        for n in ("five", "six")
    ]
    for options, kept in (((), ["five"]), (("--verify",), ["five", "six"])):
        assert run("dedupe", manifest(*rows), "-o", "corpus.jsonl", *options).status == 0
        assert ids(tmp_path / "corpus.jsonl") == kept


def test_a_page_is_compared_with_all_kept_ones(run, tmp_path, stories) -> None:
    run("dedupe", stories, "-o", "corpus.jsonl", "-s", "SIMHASH_GATE_WINDOW=1")
    assert ids(tmp_path / "corpus.jsonl") == [0, 1, 2, 3, 5, 6, 7, 8, 10, 11]


def test_what_could_not_be_used_is_named_and_the_rest_goes_on(run, tmp_path, manifest) -> None:
    (tmp_path / "good.html").write_bytes(page(1).body)
    (tmp_path / "empty.html").write_bytes(b"")
    (tmp_path / "huge.html").write_bytes(page(2, words=3000).body)
    (tmp_path / "cut.warc.gz").write_bytes(gzip.compress(record(page(3).body))[:-40])
    slow = {"id": "slow", "url": "https://example.com/slow", "html": "<p>" * 300_000 + "a"}
    result = run(
        "dedupe", "good.html", "empty.html", "huge.html", "cut.warc.gz", "missing.html",
        manifest(slow), "-o", "corpus.jsonl", "--duplicates", "others.jsonl",
        "-s", "SIMHASH_GATE_MAX_BYTES=9000", "-s", "SIMHASH_GATE_WORKERS=1",
    )  # fmt: skip
    assert result.status == 1
    assert ids(tmp_path / "corpus.jsonl") == ["good.html"]
    assert {line["id"]: line["reason"] for line in lines(tmp_path / "others.jsonl")} == {
        "empty.html": "empty page",
        "huge.html": "too large",
        "slow": "too large",
    }
    assert "cut.warc.gz, record 1: cut off" in result.err
    assert "missing.html: No such file or directory" in result.err
    assert result.err.endswith("inputs that could not be used: 2\n")


def test_a_page_that_can_not_be_read_is_named_and_no_part_of_the_corpus(
    run, tmp_path, manifest
) -> None:
    slow = {"id": "slow", "url": "https://example.com/slow", "html": "<a>" * 90_000}
    good = {"id": "good", "url": "https://example.com/good", "html": page(1).body.decode()}
    result = run(
        "dedupe", manifest(slow, good), "-o", "corpus.jsonl", "--duplicates", "others.jsonl",
        "-s", "SIMHASH_GATE_TIMEOUT=0.05", "-s", "SIMHASH_GATE_WORKERS=1",
    )  # fmt: skip
    assert result.status == 1
    assert "manifest.jsonl:1: " in result.err
    assert "not read: " in result.err
    assert "slow" in {line["id"] for line in lines(tmp_path / "others.jsonl")}
    assert "slow" not in ids(tmp_path / "corpus.jsonl")


def test_sources_without_a_page_give_no_corpus(run, tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    result = run("dedupe", "empty", "-o", "corpus.jsonl")
    assert result.status == 1
    assert "no page in this folder" in result.err
    assert not [path for path in tmp_path.iterdir() if "corpus" in path.name]


def test_a_wrong_name_is_refused_before_anything_is_read(run, tmp_path, stories) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken/file").write_text("")
    for name, said in (("taken", "it is there already"), ("corpus.csv", "a corpus is a folder")):
        result = run("dedupe", stories, "-o", name)
        assert result.status == 2
        assert said in result.err
    assert run("dedupe", stories, "-o", "no/such/folder/c.jsonl").status == 1
    result = run("dedupe", "redis://localhost", "-o", "corpus")
    assert result.status == 2
    assert [*(tmp_path / "taken").iterdir()] == [tmp_path / "taken/file"]


def test_an_empty_folder_is_taken(run, tmp_path, stories) -> None:
    (tmp_path / "corpus").mkdir()
    assert run("dedupe", stories, "-o", "corpus").status == 0
    assert (tmp_path / "corpus/example.com/1/0.md").exists()


def test_a_report_shows_the_verdicts(run, tmp_path, stories) -> None:
    assert run("dedupe", stories, "-o", "corpus", "--report", "report.html").status == 0
    report = (tmp_path / "report.html").read_text("utf-8")
    assert "https://example.com/1/11" in report


def test_the_report_has_the_texts_of_doubtful_copies(run, tmp_path, manifest) -> None:
    """Pages without URLs, and with the same: their ids tell them apart."""
    story = text(1, 900)
    rows = [
        {"id": n, "url": url, "html": f"<p>{story} {more}"}
        for n, url, more in (
            ("kept", "https://example.com/", ""),
            ("copy", "https://example.com/", "zebras"),
        )
    ]
    result = run("dedupe", manifest(*rows), "-o", "corpus", "--report", "report.html")
    assert "copies: 1" in result.err
    report = (tmp_path / "report.html").read_text("utf-8")
    assert "zebras</ins>" in report


def started(tmp_path, environment, source, *options: str) -> subprocess.Popen[bytes]:
    command = [*COMMAND, "dedupe", source, "-o", "corpus.jsonl", *options]
    return subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE)


@pytest.mark.parametrize("ended", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_command_goes_on_where_it_ended(
    run, tmp_path, environment, manifest, ended: signal.Signals
) -> None:
    rows = [
        {"id": n, "url": f"https://example.com/{n}", "html": page(n % 200, noise=n).body.decode()}
        for n in range(400)
    ]
    source = manifest(*rows)
    assert run("dedupe", source, "-o", "whole.jsonl").status == 0
    os.mkfifo(tmp_path / "pipe.jsonl")
    # The pipe holds the command back in the middle of its source.
    process = started(tmp_path, environment, "pipe.jsonl", "-s", "SIMHASH_GATE_WORKERS=1")
    with (tmp_path / "pipe.jsonl").open("wb") as pipe:
        pipe.write(b"".join(source.read_bytes().splitlines(keepends=True)[:300]))
        pipe.flush()
        work = tmp_path / "corpus.jsonl.work"
        until((work / "pages.sqlite-wal").exists)
        until(lambda: (work / "pages.sqlite-wal").stat().st_size > 200_000)
        process.send_signal(ended)
        _, said = process.communicate(timeout=60)
    assert process.returncode != 0
    assert b"Traceback" not in said
    assert not (tmp_path / "corpus.jsonl").exists()
    (tmp_path / "pipe.jsonl").unlink()
    (tmp_path / "pipe.jsonl").write_bytes(source.read_bytes())
    result = run("dedupe", "pipe.jsonl", "-o", "corpus.jsonl")
    assert result.status == 0
    known = int(result.err.partition("pages that were read before: ")[2].split()[0])
    assert 100 <= known <= 300
    assert ids(tmp_path / "corpus.jsonl") == ids(tmp_path / "whole.jsonl")
    assert not work.exists()


def test_pages_that_changed_are_read_again(run, tmp_path, manifest) -> None:
    """What was read for other options, or of other bytes, is not what is there now."""
    rows = [
        {"id": n, "url": f"https://example.com/{n}", "html": page(n % 148).body.decode()}
        for n in range(150)
    ]
    source = manifest(*rows)
    failed = run("dedupe", source, "-o", "c.jsonl", "--duplicates", "/dev/full")
    assert failed.status == 1
    assert "No space left" in failed.err
    assert "The same command goes on from there" in failed.err
    rows[3] = {**rows[3], "html": page(7).body.decode()}
    manifest(*rows[:140])
    assert run("dedupe", source, "-o", "c.jsonl").status == 0
    assert ids(tmp_path / "c.jsonl") == [n for n in range(140) if n != 7]


def test_half_a_corpus_is_not_read_as_pages(run, tmp_path, write) -> None:
    write("pages/a.html", 1)
    left = tmp_path / "pages/corpus.work/corpus/left.md"
    left.parent.mkdir(parents=True)
    left.write_text(text(2, 60))
    result = run("dedupe", "pages", "-o", "pages/corpus")
    assert result.status == 0
    assert "pages: 1, kept: 1" in result.err
    assert [path.name for path in (tmp_path / "pages/corpus").rglob("*.md")] == ["a.md"]


def test_two_commands_do_not_write_one_corpus(run, tmp_path, environment, stories) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    process = started(tmp_path, environment, "pipe.jsonl")
    with (tmp_path / "pipe.jsonl").open("wb"):
        until((tmp_path / "corpus.jsonl.work" / "pages.sqlite").exists)
        result = run("dedupe", stories, "-o", "corpus.jsonl")
        process.kill()
        process.communicate(timeout=60)
    assert result.status == 1
    assert "another command is writing it" in result.err


def test_a_full_disk_is_named_and_leaves_no_half_of_a_corpus(
    tmp_path, environment, stories
) -> None:
    (tmp_path / "corpus.jsonl").write_text("before\n")
    done = subprocess.run(
        [*COMMAND, "dedupe", stories, "-o", "corpus.jsonl", "-s", "SIMHASH_GATE_WORKERS=0"],
        cwd=tmp_path, env=environment, capture_output=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16)),
    )  # fmt: skip
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert b"corpus.jsonl: the working file" in done.stderr
    assert (tmp_path / "corpus.jsonl").read_text() == "before\n"
