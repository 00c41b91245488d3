"""`simhash-gate recover`: a journal's pages, filtered, as lines and as a file."""

import signal

import pytest

from simhash_gate.journal.warc import warcinfo
from tests.crawls.harness import until
from tests.journal.pages import NOON, packed
from tests.offline.command import files_up_to

NAME = "dropped-20240601T120000000000Z-0badcafe.warc.gz"
EVERY = list(range(6))


ONE, TWO, NEWS = "https://a.example/1", "https://a.example/2", "news.example"
PAGES = [
    packed(0, url=f"https://{NEWS}/0", matched_url=ONE, distance=0),
    packed(1, url=f"https://www.{NEWS}/1", matched_url=ONE, distance=3),
    packed(2, url=f"https://sport.{NEWS}/2", matched_url=TWO, distance=5),
    packed(3, url=f"https://old{NEWS}/3", matched_url=TWO, distance=9),
    packed(4, url=f"https://{NEWS}:8443/4", matched_url=TWO, distance=12, spider="wasp"),
    packed(5, url="https://192.0.2.7/5", time=NOON + 7200, pipeline="ae96"),
]


@pytest.fixture
def journal(tmp_path):
    """Write a journal in two files."""
    folder = tmp_path / "journal"
    folder.mkdir()
    (folder / NAME).write_bytes(warcinfo() + b"".join(PAGES[:3]))
    (folder / NAME.replace("T12", "T13")).write_bytes(warcinfo() + b"".join(PAGES[3:]))
    return folder


def numbers(result) -> list[int]:
    return [int(url.rpartition("/")[2]) for url in result.column("url")]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", EVERY),
        ("--domain news.example", [0, 1, 2, 4]),
        ("--matched https://a.example/1", [0, 1]),
        ("--spider wasp", [4]),
        ("--distance 3..9", [1, 2, 3]),
        ("--since 2024-06-01T15:00+03:00 --until 2024-06-01T12:00:01Z", [0, 1]),
        ("--until 7d", EVERY),
        ("--domain news.example --distance 5.. --spider hive", [2]),
    ],
)
def test_pages_are_those_that_all_options_agree_on(run, journal, options: str, expected) -> None:
    result = run("recover", journal, *options.split())
    assert result.status == 0
    assert numbers(result) == expected
    assert result.err.endswith(f"pages: {len(expected)}\n")


def test_a_selection_is_a_journal_of_its_own_and_never_overwritten(run, journal) -> None:
    result = run("recover", journal, "--distance", "5..", "-o", "some.warc.gz")
    assert oct((journal.parent / "some.warc.gz").stat().st_mode)[-3:] == "600"
    assert (result.status, result.out, result.err) == (0, "", "pages: 3\n")
    again = run("recover", journal, "-o", "some.warc.gz")
    assert again.status == 1
    assert again.err.startswith("some.warc.gz: File exists\n")
    assert numbers(run("recover", "some.warc.gz")) == [2, 3, 4]
    assert numbers(run("recover", "some.warc.gz", "--distance", "9")) == [3]


def test_distances_of_several_pipeline_versions_are_told_not_to_compare(run, journal) -> None:
    told = "distances of several pipeline versions can't be compared: 9c1f, ae96\n"
    assert told in run("recover", journal).err
    assert told not in run("recover", journal, "--distance", "3..").err


def test_damage_costs_the_pages_from_there_on_and_the_rest_is_written(run, journal) -> None:
    path = journal / NAME
    with path.open("r+b") as file:
        second = path.read_bytes().index(PAGES[1])
        file.seek(second)
        file.write(bytes(len(PAGES[1])))
    cut = journal / NAME.replace("T12", "T13")
    cut.write_bytes(cut.read_bytes()[:-100])
    result = run("recover", journal, "-o", "rest.warc.gz")
    assert result.status == 1
    assert result.err.startswith(f"{path}: damaged in the record at byte {second}: ")
    assert f"{cut}: cut off in the record at byte " in result.err
    assert result.err.endswith("pages: 3\ninputs that could not be used: 2\n")
    assert numbers(run("recover", "rest.warc.gz")) == [0, 3, 4]


def test_what_is_no_journal_is_named(run, tmp_path) -> None:
    (tmp_path / "page").write_text("<p>Bees")
    for path, complaint in (
        ("nowhere", "No such file or directory"),
        (".", "no journal of dropped pages is in this folder"),
        ("page", "damaged in the record at byte 0"),
    ):
        result = run("recover", path)
        assert (result.status, result.out) == (1, "")
        assert result.err.startswith(f"{path}: {complaint}")


def test_a_full_disk_keeps_the_pages_before(run, tmp_path) -> None:
    big = tmp_path / "big.warc.gz"
    big.write_bytes(warcinfo() + b"".join(packed(n, size=30_000) for n in range(9)))
    with files_up_to(100_000):
        result = run("recover", big, "-o", "some.warc.gz")
    assert result.status == 1
    assert result.err.startswith("some.warc.gz: File too large\n")
    assert numbers(run("recover", "some.warc.gz")) == [0, 1, 2]


def test_ctrl_c_keeps_the_pages_before(run, tmp_path, start) -> None:
    big, some = tmp_path / "big", tmp_path / "some.warc.gz"
    big.mkdir()
    first, *others = (big / f"dropped-20240601T{n:012}Z-00000000.warc.gz" for n in range(1000))
    first.write_bytes(warcinfo() + 100 * packed(1, size=30_000))
    for other in others:
        other.hardlink_to(first)
    process = start("recover", big, "-o", some)
    until(lambda: some.exists() and some.stat().st_size > 100_000)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    result = run("recover", some)
    assert result.status == 0
    assert 0 < len(result.lines) < 100_000
