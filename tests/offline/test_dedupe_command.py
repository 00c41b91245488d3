"""`simhash-gate dedupe`: what is kept, in every form, whatever goes wrong on the way."""

import csv
import gzip
import json
import os
import random
import signal

import pyarrow.parquet
import pytest

from tests.crawls.harness import json_lines as lines
from tests.crawls.harness import page, text, until
from tests.offline.command import files_up_to
from tests.offline.test_replay_warc import record

FIELDS = "id url canonical_url title author date language site description".split()
FIELDS += ["words", "fingerprint", "pipeline", "markdown"]
OTHERS = ["id", "url", "kept", "matched_url", "outcome", "distance", "reason"]

PLAIN = ("-s", "SIMHASH_GATE_VERIFY=0")


@pytest.fixture
def dedupe(run, tmp_path):
    """Make a corpus of a source; return the ids of what is kept, in order."""

    def dedupe(source, *options: object) -> list:
        result = run("dedupe", source, "-o", "corpus.jsonl", *options)
        assert result.status == 0, result.err
        return ids(tmp_path / "corpus.jsonl")

    return dedupe


def ids(path) -> list:
    return [line["id"] for line in lines(path)]


@pytest.fixture
def stories(tmp_path, manifest):
    """Twelve pages of five stories; each later one of a story is a copy among other furniture."""
    rows = []
    for number, seed in enumerate([1, 2, 1, 3, 3, 1, 4, 2, 5, 5, 4, 1]):
        name = f"{number}.html"
        (tmp_path / name).write_bytes(page(seed, noise=number).body)
        rows.append({"id": number, "path": name, "url": f"https://example.com/{seed}/{number}"})
    return manifest(*rows)


KEPT = [0, 1, 3, 6, 8]
COPY_OF = {2: 0, 4: 3, 5: 0, 7: 1, 9: 8, 10: 6, 11: 0}


def test_the_corpus_has_the_kept_pages_in_their_order(run, tmp_path, stories) -> None:
    result = run("dedupe", stories, "-o", "corpus.jsonl", "--duplicates", "others.jsonl")
    assert (result.status, result.out) == (0, "")
    counts = "kept: 5, copies: 7, skipped: 0, not read: 0\n"
    assert result.err == f"pages: 12, scopes: 1 (SIMHASH_GATE_SCOPE = 'crawl'), {counts}"
    corpus, others = lines(tmp_path / "corpus.jsonl"), lines(tmp_path / "others.jsonl")
    assert [[*line] for line in corpus] == [FIELDS] * 5
    assert [line["id"] for line in corpus] == KEPT
    assert corpus[0]["markdown"].startswith(f"# {text(1, 5)}")
    assert corpus[0]["url"] == "https://example.com/1/0"
    assert [[*line] for line in others] == [OTHERS] * 7
    assert {line["id"]: line["kept"] for line in others} == COPY_OF
    assert others[0]["reason"] == "distance 0, threshold 3"
    assert others[0]["matched_url"] == "https://example.com/1/0"
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


def test_a_line_has_what_the_page_says_of_itself_and_no_more_marks_than_asked_for(
    run, tmp_path, manifest
) -> None:
    html = f"""<html lang=en-GB><title>Bees</title><meta name=author content='Ada B.'>
        <meta property=og:site_name content='The Hive'><meta name=description content='Of bees.'>
        <meta property=article:published_time content=2024-05-01><h1>Bees</h1>
        <p><a href=/x>{text(1, 30)}</a> {text(2, 30)}<p><a href=/y><img src=/a.jpg></a>"""
    source = manifest({"id": 1, "html": html, "url": "https://example.com/bees"})
    assert run("dedupe", source, "-o", "all.jsonl").status == 0
    (line,) = lines(tmp_path / "all.jsonl")
    said = {name: line[name] for name in ("author", "date", "language", "site", "description")}
    assert [*said.values()] == ["Ada B.", "2024-05-01", "en-GB", "The Hive", "Of bees."]
    assert "](https://example.com/x)" in line["markdown"]
    assert "![](https://example.com/a.jpg)" in line["markdown"]
    options = ("-s", "SIMHASH_GATE_WITHOUT=links,images")
    assert run("dedupe", source, "-o", "plain.jsonl", *options).status == 0
    (line,) = lines(tmp_path / "plain.jsonl")
    assert line["markdown"] == f"# Bees\n\n{text(1, 30)} {text(2, 30)}"


def test_it_keeps_what_a_replay_in_that_order_keeps(
    run, dedupe, tmp_path, write_named, manifest
) -> None:
    chance = random.Random(5)
    rows = []
    for number in range(40):
        seed = chance.randrange(8)
        name = f"{number}.html"
        if number % 3:
            (tmp_path / name).write_bytes(page(seed, noise=number, words=60 + seed * 9).body)
        else:
            write_named(name, f"Lamp {seed}", f"{10 + seed % 3} EUR")
        rows.append({"id": number, "path": name, "url": f"https://example.com/{number}"})
    words = text(1, 300).split()
    for more in range(12):  # a chain: the last is no copy of the first
        said = " ".join([*words[: 300 - 3 * more], *text(50, 3 * more).split()])
        url = f"https://chain.example/{more}"
        rows.append({"id": 40 + more, "url": url, "html": f"<p>{said}"})
    by_distance = ("-s", "SIMHASH_GATE_VERIFY=0")
    replayed = run("replay", manifest(*rows), *by_distance).lines
    kept = [line["id"] for line in replayed if line["outcome"] in ("new", "near")]
    assert 5 < sum(number < 40 for number in kept) < 35
    assert 1 < sum(number >= 40 for number in kept) < 12
    assert dedupe(manifest(*rows), *by_distance) == kept
    replayed = run("replay", manifest(*rows)).lines
    closer = [line["id"] for line in replayed if line["outcome"] in ("new", "near")]
    assert len(closer) > len(kept)
    assert dedupe(manifest(*rows)) == closer


def test_all_files_of_a_folder_are_compared_unless_told_otherwise(run, tmp_path, write) -> None:
    write("views/plain.html", 1)
    for name in ("a", "b"):
        path = write(f"views/{name}.html", 1, noise=5)
        link = f"<head><link rel=canonical href=https://{name}.example/>".encode()
        path.write_bytes(path.read_bytes().replace(b"<head>", link))
    for scope, kept in (("crawl", 1), ("domain", 3)):
        options = ("-s", f"SIMHASH_GATE_SCOPE={scope}") if kept > 1 else ()
        result = run("dedupe", "views", "-o", f"{scope}.jsonl", *options)
        told = f"scopes: {kept} (SIMHASH_GATE_SCOPE = '{scope}'), kept: {kept}, "
        assert f"pages: 3, {told}" in result.err


def test_stdin_and_stdout_are_a_source_and_an_output(run_with_input, tmp_path, stories) -> None:
    piped = run_with_input(stories.read_text(), "dedupe", "-", "-o", "-", "--quiet")
    assert (piped.status, piped.column("id"), piped.err) == (0, KEPT, "")
    refused = run_with_input("", "dedupe", "-", "-o", "-", "--report", "-")
    assert (refused.status, "another output" in refused.err) == (2, True)
    assert not (tmp_path / "-").exists()


def test_the_longest_or_the_newest_is_kept(dedupe, manifest) -> None:
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
    for keep in ("first", "longest", "newest"):
        assert dedupe(manifest(*rows), *PLAIN, "--keep", keep) == [keep]


def test_options_are_settings_of_the_gate(dedupe, stories, write_named, manifest) -> None:
    write_named("a.html", "Lamp", "10 EUR")
    write_named("b.html", "Lamp", "12 EUR")
    rows = [{"id": n, "path": f"{n}.html", "url": f"https://{n}.example.com/x"} for n in "ab"]
    lamps = manifest(*rows, name="lamps.jsonl")
    wide = (*PLAIN, "-s", "SIMHASH_GATE_THRESHOLD=8")
    assert dedupe(lamps) == ["a", "b"]
    assert dedupe(lamps, *wide) == ["a"]
    assert dedupe(lamps, *wide, "-s", "SIMHASH_GATE_SCOPE=host") == ["a", "b"]
    assert dedupe(stories, "-s", "SIMHASH_GATE_WINDOW=1") == [0, 1, 2, 3, 5, 6, 7, 8, 10, 11]
    texts = [
        {"id": n, "url": f"https://example.com/{n}", "html": f"<p>{text(1, 900)} {n} zebras"}
        for n in ("five", "six")
    ]
    assert dedupe(manifest(*texts)) == ["five", "six"]
    assert dedupe(manifest(*texts), *PLAIN) == ["five"]


def test_what_could_not_be_used_is_named_and_the_rest_goes_on(run, tmp_path, manifest) -> None:
    (tmp_path / "good.html").write_bytes(page(1).body)
    (tmp_path / "empty.html").write_bytes(b"")
    (tmp_path / "huge.html").write_bytes(page(2, words=3000).body)
    (tmp_path / "cut.warc.gz").write_bytes(gzip.compress(record(page(3).body))[:-40])
    deadly = {"id": "deadly", "url": "https://example.com/", "html": "<title>deadly</title>Bees"}
    result = run(
        "dedupe", "good.html", "empty.html", "huge.html", "cut.warc.gz", "missing.html",
        manifest(deadly), "-o", "corpus.jsonl", "--duplicates", "others.jsonl",
        "-s", "SIMHASH_GATE_MAX_BYTES=9000", "-s", "SIMHASH_GATE_WORKERS=1",
        "-s", "SIMHASH_GATE_EXTRACTOR=tests.offline.extractors.Hostile",
    )  # fmt: skip
    assert result.status == 1
    assert ids(tmp_path / "corpus.jsonl") == ["good.html"]
    assert {line["id"]: line["reason"] for line in lines(tmp_path / "others.jsonl")} == {
        "empty.html": "empty page",
        "huge.html": "too large",
        "deadly": "the page-reading process ended with status 3",
    }
    assert "cut.warc.gz, record 1: cut off" in result.err
    assert "missing.html: No such file or directory" in result.err
    assert "manifest.jsonl:1: " in result.err
    assert ", not read: 1\n" in result.err
    assert result.err.endswith("inputs that could not be used: 3\n")


def test_answers_in_place_of_pages_are_left_out_and_counted(run, tmp_path, manifest) -> None:
    missing = "<title>Page not found</title><h1>Oh dear</h1><p>There is nothing at {} here.</p>"
    pages = {it: missing.format(it) for it in ("swarm", "honey", "comb")} | {
        "bees": page(1).body.decode()
    }
    rows = [{"id": it, "html": pages[it], "url": f"https://example.com/{it}"} for it in pages]
    result = run("dedupe", manifest(*rows), "-o", "corpus.jsonl", "--duplicates", "others.jsonl")
    assert result.err.endswith("not read: 0, soft_404: 2\n")
    assert ids(tmp_path / "corpus.jsonl") == ["swarm", "bees"]  # the first may be a page
    reasons = [line["reason"] for line in lines(tmp_path / "others.jsonl")]
    assert reasons == ["'Page not found' at different addresses"] * 2


def test_the_list_of_duplicates_names_kept_pages_of_every_source(run, tmp_path, manifest) -> None:
    for name in ("a.jsonl", "b.jsonl"):  # each numbers its pages from 0, without a URL
        manifest({"id": 0, "html": page(1).body.decode()}, name=name)
    (tmp_path / "gone.warc").write_bytes(record(page(2).body, status="404 Not Found"))
    result = run(
        *("dedupe", "a.jsonl", "b.jsonl", "gone.warc", "-o", "c.jsonl", "--duplicates", "o.jsonl")
    )
    assert "kept: 1, copies: 1, skipped: 1, not read: 0\n" in result.err
    copy, gone = lines(tmp_path / "o.jsonl")
    assert (copy["id"], copy["kept"], copy["matched_url"]) == (0, 0, "a.jsonl:1")
    assert (gone["outcome"], gone["reason"]) == ("skipped", "status: 404")
    assert "Only responses of status 2xx" in run("why", gone["url"], "--in", "o.jsonl").out


def test_why_reads_the_list_of_duplicates(run, stories) -> None:
    assert run("dedupe", stories, "-o", "c.jsonl", "--duplicates", "o.jsonl").status == 0
    url = "https://example.com/1/5"
    for sources in (("o.jsonl",), ("o.jsonl", stories.name)):
        told = run("why", url, *(part for it in sources for part in ("--in", it)), "--json")
        found = json.loads(told.out)
        assert (found["became"], found["outcome"]) == ("dropped", "duplicate")
        assert found["kept"]["name"] == "https://example.com/1/0"
        assert told.err == f"looked in {', '.join(sources)}\n"
    told = run("why", url, "--in", stories.name)
    assert "its page is there, and no verdict on it" in told.err
    assert "a list of dedupe --duplicates" in told.err
    other = run("why", url, "https://example.com/2/1", "--in", stories.name, "--json")
    assert json.loads(other.out)["outcome"] == "new"


def test_only_an_empty_folder_may_be_there_already(run, tmp_path, stories) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken/file").write_text("")
    result = run("dedupe", stories, "-o", "taken")
    assert result.status == 2
    assert "it is there already" in result.err
    assert [*(tmp_path / "taken").iterdir()] == [tmp_path / "taken/file"]
    assert run("dedupe", stories, "-o", "no/such/folder/c.jsonl").status == 1
    (tmp_path / "corpus").mkdir()
    assert run("dedupe", stories, "-o", "corpus").status == 0
    assert (tmp_path / "corpus/example.com/1/0.md").exists()


def test_what_the_command_writes_into_a_source_is_never_read(run, tmp_path, write) -> None:
    write("site/a.html", 1)
    (tmp_path / "elsewhere.jsonl").write_text('{"html": "<p>Bees"}')
    (tmp_path / "site/c.jsonl").symlink_to("../elsewhere.jsonl")
    (tmp_path / "site/logo.png").write_bytes(b"")
    outputs = ("-o", "site/c.jsonl", "--duplicates", "site/o.jsonl", "--report", "site/r.html")
    for _ in range(2):
        result = run("dedupe", "site", *outputs)
        assert result.status == 0
        assert result.err.startswith("site: 1 HTML file, 1 other file not read (logo.png)\n")
        assert ids(tmp_path / "site/c.jsonl") == ["site/a.html"]
    assert len(lines(tmp_path / "elsewhere.jsonl")) == 1


@pytest.mark.parametrize(
    ("outputs", "named"),
    [
        (("-o", "c.jsonl", "--duplicates", "./c.jsonl"), "c.jsonl"),
        (("-o", "c.jsonl", "--duplicates", "o.jsonl", "--report", "link.jsonl"), "link.jsonl"),
        (("-o", "folder", "--report", "folder/r.html"), "folder/r.html"),
    ],
)
def test_no_output_takes_the_place_of_another(run, tmp_path, stories, outputs, named) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.jsonl").symlink_to("o.jsonl")
    before = sorted(tmp_path.iterdir())
    result = run("dedupe", stories, *outputs)
    assert (result.status, sorted(tmp_path.iterdir())) == (2, before)
    assert f"{named} is, or is in, another output. Name another file" in result.err


def test_the_report_has_the_texts_of_doubtful_copies(run, tmp_path, manifest) -> None:
    """Pages of one URL: their ids tell them apart."""
    rows = [
        {"id": n, "url": "https://example.com/", "html": f"<p>{text(1, 900)} {more}"}
        for n, more in (("kept", ""), ("copy", "zebras"))
    ]
    result = run("dedupe", manifest(*rows), "-o", "corpus", *PLAIN, "--report", "report.html")
    assert "copies: 1" in result.err
    assert "zebras</ins>" in (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.parametrize("ended", [signal.SIGKILL, signal.SIGINT])
def test_a_corpus_is_written_by_one_command_and_goes_on_where_that_was_ended(
    run, dedupe, tmp_path, environment, start, manifest, ended: signal.Signals
) -> None:
    rows = [
        {"id": n, "url": f"https://example.com/{n}", "html": page(n % 90, words=99).body.decode()}
        for n in range(180)
    ]
    source = manifest(*rows)
    whole = dedupe(source)
    (tmp_path / "corpus.jsonl").unlink()
    os.mkfifo(tmp_path / "pipe.jsonl")
    counting = ["-s", "SIMHASH_GATE_EXTRACTOR=tests.offline.extractors.Counting"]
    environment["PAGES_READ"] = str(tmp_path / "read.log")
    # The pipe holds the command back in the middle of its source.
    one = [*counting, "-s", "SIMHASH_GATE_WORKERS=1"]
    process = start("dedupe", "pipe.jsonl", "-o", "corpus.jsonl", *one)
    with (tmp_path / "pipe.jsonl").open("wb") as pipe:
        pipe.write(b"".join(source.read_bytes().splitlines(keepends=True)[:300]))
        pipe.flush()
        work = tmp_path / "corpus.jsonl.work"
        until((work / "pages.sqlite-wal").exists)
        until(lambda: (work / "pages.sqlite-wal").stat().st_size > 90_000)
        refused = run("dedupe", source, "-o", "corpus.jsonl")
        process.send_signal(ended)
        _, said = process.communicate(timeout=60)
    assert (refused.status, refused.out) == (1, "")
    assert "another command is writing it" in refused.err
    assert process.returncode != 0
    assert b"Traceback" not in said
    assert not (tmp_path / "corpus.jsonl").exists()
    (tmp_path / "pipe.jsonl").unlink()
    (tmp_path / "pipe.jsonl").write_bytes(source.read_bytes())
    (tmp_path / "read.log").unlink()
    result = run("dedupe", "pipe.jsonl", "-o", "corpus.jsonl", *counting)
    assert result.status == 0
    known = int(result.err.partition("pages that were read before: ")[2].split()[0])
    assert 100 <= known <= 150
    assert len((tmp_path / "read.log").read_text().splitlines()) == len(rows) - known
    assert ids(tmp_path / "corpus.jsonl") == whole
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
    assert "pages: 1, scopes: 1 (SIMHASH_GATE_SCOPE = 'crawl'), kept: 1" in result.err
    assert [path.name for path in (tmp_path / "pages/corpus").rglob("*.md")] == ["a.md"]


def test_a_full_disk_is_named_and_leaves_no_half_of_a_corpus(run, tmp_path, stories) -> None:
    (tmp_path / "corpus.jsonl").write_text("before\n")
    with files_up_to(1 << 16):
        result = run("dedupe", stories, "-o", "corpus.jsonl")
    assert result.status == 1
    assert "corpus.jsonl: the working file" in result.err
    assert (tmp_path / "corpus.jsonl").read_text() == "before\n"


VARIANT = (
    '<title>Hat in {colour}</title><script type="application/ld+json">{{"@type": "Product", "name":'
    ' "Hat", "sku": "{n}", "offers": {{"price": "{n}.00", "priceCurrency": "EUR"}}}}</script>'
    "<h1>Hat</h1><p>A hat of felt with a wide brim, made by hand in a small workshop by the sea. It"
    " keeps off the sun and the rain, and folds flat, so that it goes into any bag. It lasts.</p>"
)


@pytest.fixture
def variants(tmp_path, manifest):
    """Six variants of a product: nothing but what their data say tells them apart."""
    colours = ("red", "blue", "green", "black", "white", "grey")
    rows = []
    for n, colour in enumerate(colours, 10):
        (tmp_path / f"{colour}.html").write_text(VARIANT.format(n=n, colour=colour))
        rows.append({"id": n, "path": f"{colour}.html", "url": f"https://shop.example/{colour}"})
    return manifest(*rows)


def test_a_corpus_is_converted_to_every_form_and_back_without_loss(run, tmp_path, variants) -> None:
    assert run("dedupe", variants, "-o", "corpus.jsonl").status == 0
    whole = lines(tmp_path / "corpus.jsonl")
    assert [line["id"] for line in whole] == [*range(10, 16)]
    source = "corpus.jsonl"
    for form in ("folder", "corpus.parquet", "other.jsonl", "again", "last.jsonl"):
        result = run("dedupe", source, "-o", form)
        assert "pages: 6, scopes: 0 (SIMHASH_GATE_SCOPE = 'crawl'), kept: 6" in result.err
        source = form
    found = {line["url"]: line for line in lines(tmp_path / "last.jsonl")}
    assert found == {line["url"]: line | {"id": str(line["id"])} for line in whole}


def test_a_crawls_corpus_of_pages_without_offers_loses_none(run, tmp_path, variants) -> None:
    assert run("dedupe", variants, "-o", "corpus.jsonl").status == 0
    made = [
        {k: v for k, v in line.items() if k != "id"} for line in lines(tmp_path / "corpus.jsonl")
    ]
    (tmp_path / "crawl.jsonl").write_text("".join(json.dumps(line) + "\n" for line in made))
    assert run("dedupe", "crawl.jsonl", "-o", "out.jsonl").status == 0
    assert [line | {"id": None} for line in lines(tmp_path / "out.jsonl")] == [
        line | {"id": None} for line in made
    ]
    # Among others, its pages are judged as these are.
    result = run("dedupe", "crawl.jsonl", "corpus.jsonl", "-o", "both.jsonl")
    assert "kept: 1, copies: 11" in result.err


OTHERS_LINES = [
    {"id": 7, "text": f"{text(1, 60)}\n\n{text(2, 60)}", "source": "web", "split": "train", "n": 1},
    {"id": "b", "text": text(3, 60), "source": None, "split": "test", "meta": {"tags": ["x"]}},
    {"id": "c", "text": f"{text(1, 60)}\n\n{text(2, 60)}", "source": "copy", "split": "test"},
]


@pytest.mark.parametrize("form", ["out.jsonl", "out.parquet", "out"])
def test_lines_of_other_corpora_keep_all_their_fields(run, tmp_path, manifest, form) -> None:
    assert run("dedupe", manifest(*OTHERS_LINES), "-o", form).status == 0
    expected = [dict(line) for line in OTHERS_LINES[:2]]
    if form == "out.parquet":
        found = pyarrow.parquet.read_table(tmp_path / form).to_pylist()
        expected = [
            {k: v if v is None or isinstance(v, str) else json.dumps(v) for k, v in line.items()}
            for line in expected
        ]
    elif form == "out.jsonl":
        found = lines(tmp_path / form)
    else:
        assert run("dedupe", form, "-o", "again.jsonl").status == 0
        found = lines(tmp_path / "again.jsonl")
    found.sort(key=lambda line: str(line["id"]))
    for line, kept in zip(expected, found, strict=True):
        assert {name: kept[name] for name in line} == line
        assert kept["markdown"]


def test_links_are_left_out_of_a_corpus_that_has_them(run, tmp_path, manifest) -> None:
    body = f"{text(4, 40)} [a link](https://example.com/x) {text(5, 30)}"
    source = manifest({"id": 1, "markdown": body, "source": "web"})
    assert run("dedupe", source, "-o", "out.jsonl", "-s", "SIMHASH_GATE_WITHOUT=links").status == 0
    (line,) = lines(tmp_path / "out.jsonl")
    assert "a link" in line["markdown"]
    assert "](" not in line["markdown"]
    assert line["source"] == "web"
