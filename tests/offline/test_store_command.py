"""`simhash-gate store`: what is in a store, by scope; forgotten, pruned, and moved to another."""

from __future__ import annotations

import json
import time
from contextlib import closing
from dataclasses import replace
from itertools import pairwise

import pytest

from simhash_gate.stores import Record, open_store

DAY = 86_400


def record(number: int, **named) -> Record:
    fields = {
        "scope": f"{'ab'[number % 2]}.example",
        "url": f"https://example.com/{number}",
        "request": f"{number:040x}",
        "fingerprint": 2**64 - 1 - (number << 20),
        "digest": 2**63 + number,
        "words": 100 + number,
        "title": f"Grüße {number} \0\ud800",
        "pipeline": "v1",
        "run": "crawl",
        "first_seen": 1.7e9 + number / 7,
        "last_seen": 1.7e9 + number,
        "sketch": bytes(range(number)),
    }
    return Record(**fields | named)


@pytest.fixture
def url(tmp_path) -> str:
    return f"sqlite:///{tmp_path}/pages.sqlite"


@pytest.fixture
def fill(url):
    """Remember these pages in the run `crawl`."""

    def fill(*pages: Record) -> None:
        with closing(open_store(url)) as store:
            store.begin("crawl")
            for page in pages:
                assert store.check_and_add(page, None).added
            store.end("crawl")

    return fill


def remembered(url: str) -> list[Record]:
    with closing(open_store(url)) as store:
        return list(store.records())


def test_info_has_a_line_for_each_scope_the_largest_first(run, url, fill) -> None:
    fill(*(record(number, pipeline=f"v{number // 4}") for number in range(7)))
    result = run("store", "info", url)
    assert (result.status, result.err) == (0, "")
    assert result.lines == [
        {
            "scope": "a.example",
            "pages": 4,
            "settled": 4,
            "pipelines": {"v0": 2, "v1": 2},
            "runs": 1,
            "oldest": "2023-11-14T22:13:20Z",
            "newest": "2023-11-14T22:13:26Z",
        },
        {
            "scope": "b.example",
            "pages": 3,
            "settled": 3,
            "pipelines": {"v0": 2, "v1": 1},
            "runs": 1,
            "oldest": "2023-11-14T22:13:20Z",
            "newest": "2023-11-14T22:13:25Z",
        },
    ]


def test_list_has_a_line_for_each_page_oldest_first(run, url, fill) -> None:
    fill(*map(record, range(4)))
    assert run("store", "list", url).column("url") == [record(n).url for n in range(4)]
    (line,) = run("store", "list", url, "--scope", "b.example").lines[:1]
    assert line == {
        "scope": "b.example",
        "url": "https://example.com/1",
        "title": "Grüße 1 \0\ud800",
        "words": 101,
        "fingerprint": "ffffffffffefffff",
        "pipeline": "v1",
        "run": "crawl",
        "settled": True,
        "first_seen": "2023-11-14T22:13:20Z",
        "last_seen": "2023-11-14T22:13:21Z",
    }


@pytest.mark.parametrize("command", ["info", "list", "export"])
def test_a_store_of_which_no_page_counts_says_so(run, url, command: str) -> None:
    with closing(open_store(url)) as store:
        store.begin("died")
        assert store.check_and_add(record(1, run="died"), None).added
    result = run("store", command, url)
    assert (result.status, result.out, result.err) == (0, "", "the store has no pages that count\n")


def test_what_is_exported_and_imported_is_all_there(run, url, fill, tmp_path, request) -> None:
    fill(*map(record, range(40)))
    postgresql = request.getfixturevalue("postgresql_server").url_with(schema="moved")
    redis = f"{request.getfixturevalue('redis_server').url}?prefix={tmp_path}:"
    stores = [url, postgresql, redis, f"sqlite:///{tmp_path}/other.sqlite"]
    for source, target in pairwise(stores):
        exported = run("store", "export", source)
        assert exported.status == 0
        (tmp_path / "pages.jsonl").write_text(exported.out, "utf-8")
        result = run("store", "import", target, "pages.jsonl")
        assert (result.status, result.err) == (0, "pages added: 40\n")
        moved = [replace(page, run="crawl") for page in remembered(target)]
        assert moved == [record(number, settled=True) for number in range(40)]


def test_an_import_reads_stdin_and_names_the_lines_it_cannot_use(run_with_input, url) -> None:
    good = {
        "scope": "a", "url": "u", "request": "r", "fingerprint": "0" * 16, "digest": "f" * 16,
        "words": 3, "title": "t", "pipeline": "v1", "first_seen": 1, "last_seen": 2.5,
        "sketch": "QUI=",
    }  # fmt: skip
    lines = [
        good,
        "no json",
        "[1]",
        {key: value for key, value in good.items() if key != "url"},
        good | {"fingerprint": 17},
        good | {"digest": "xyz"},
        good | {"words": "many"},
        good | {"words": True},
        good | {"words": -1},
        good | {"scope": None},
        good | {"sketch": "?"},
        good | {"first_seen": "today"},
        good | {"first_seen": float("nan")},
        good | {"request": "s"},
    ]
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    result = run_with_input(text, "store", "import", url)
    assert result.status == 1
    *complaints, added, summary = result.err.splitlines()
    assert [line.split(": ")[0] for line in complaints] == [f"<stdin>:{n}" for n in range(2, 14)]
    for line, expected in zip(
        complaints,
        ["not JSON", "not a JSON object", "no 'url': expected a line",
         "'fingerprint' is 17: expected a string",
         "'digest' is 'xyz'",
         "'words' is 'many': expected a number", "'words' is True", "'words' is -1",
         "'scope' is None: expected a string", "'sketch' is '?'", "'first_seen' is 'today'",
         "'first_seen' is nan"],
        strict=True,
    ):  # fmt: skip
        assert expected in line
    assert (added, summary) == ("pages added: 2", "inputs that could not be used: 12")
    assert [page.request for page in remembered(url)] == ["r", "s"]


@pytest.mark.parametrize(
    "command",
    [
        ["pairs", "{}"],
        ["similar", "{}", "a.html"],
        ["tune", "{}", "--json"],
        ["idf", "{}"],
        ["replay", "{}"],
        ["report", "{}"],
        ["store", "info", "{}"],
    ],
)
def test_the_password_of_a_store_is_shown_nowhere(
    run, redis_server, tmp_path, fill, url, command
) -> None:
    here, scheme = redis_server.url.partition("://")[2], "redis://default:swordfish@"
    full, empty = (f"{scheme}{here}?prefix={tmp_path}/{name}:" for name in ("full", "empty"))
    fill(record(1))
    (tmp_path / "pages.jsonl").write_text(run("store", "export", url).out)
    assert run("store", "import", full, "pages.jsonl").status == 0
    for store in (full, empty):
        result = run(*(argument.format(store) for argument in command))
        assert "swordfish" not in result.out + result.err
        assert "Traceback" not in result.err


def test_an_import_of_a_file_that_is_not_there_says_so(run, url) -> None:
    result = run("store", "import", url, "missing.jsonl")
    assert result.status == 1
    assert "missing.jsonl: No such file or directory" in result.err


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (("--scope", "a.example"), [1, 3, 5]),
        (("--page", "https://example.com/3"), [0, 1, 2, 4, 5]),
        (("--age", "10d"), [3, 4, 5]),
        (("--age", "10d", "--scope", "b.example"), [0, 2, 3, 4, 5]),
        (("--scope", "c.example"), [0, 1, 2, 3, 4, 5]),
    ],
)
def test_forget_removes_what_all_options_agree_on(run, url, fill, options, left) -> None:
    now = time.time()
    pages = [record(n, first_seen=now - (40 if n < 3 else 5) * DAY) for n in range(6)]
    fill(*pages)
    result = run("store", "forget", url, *options)
    assert (result.status, result.err) == (0, f"pages removed: {6 - len(left)}\n")
    assert [page.url for page in remembered(url)] == [pages[number].url for number in left]


def test_forget_wants_to_know_what(run, url, fill) -> None:
    fill(record(1))
    result = run("store", "forget", url)
    assert result.status == 2
    assert "--scope, --page or --age" in result.err
    assert len(remembered(url)) == 1


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ((), [0, 1, 2, 3, 4, 5, 6]),
        (("--pages", "2"), [3, 4, 5, 6]),
        (("--pages", "0"), []),
        (("--age", "10d"), [3, 4, 5, 6]),
        (("--age", "10d", "--pages", "1"), [5, 6]),
    ],
)
def test_prune_keeps_the_newest_of_each_scope(run, url, fill, options, left) -> None:
    now = time.time()
    pages = [record(n, first_seen=now - (40 if n < 3 else 5) * DAY) for n in range(7)]
    fill(*pages)
    result = run("store", "prune", url, *options)
    assert result.status == 0
    assert result.err == f"pages removed, besides those of dead runs: {7 - len(left)}\n"
    assert [page.url for page in remembered(url)] == [pages[number].url for number in left]


def test_what_is_in_a_store_of_any_kind_is_told_and_removed(run, lasting_url) -> None:
    with closing(open_store(lasting_url)) as store:
        store.begin("crawl")
        for number in range(7):
            assert store.check_and_add(record(number), None).added
        store.end("crawl")
    info = run("store", "info", lasting_url)
    assert info.column("scope") == ["a.example", "b.example"]
    assert info.column("pages") == info.column("settled") == [4, 3]
    urls = [record(number).url for number in range(7)]
    assert run("store", "list", lasting_url).column("url") == urls
    assert run("store", "forget", lasting_url, "--page", urls[3]).err == "pages removed: 1\n"
    assert run("store", "prune", lasting_url, "--pages", "1").status == 0
    assert [page.url for page in remembered(lasting_url)] == urls[5:]


def test_prune_removes_what_a_run_that_died_left_in_redis(run, request, tmp_path) -> None:
    server = request.getfixturevalue("redis_server")
    url = f"{server.url}?prefix={tmp_path}:"
    with closing(open_store(url)) as store:
        store.begin("crawl")
        store.check_and_add(record(1), None)
    with server.client() as client:
        scope = f"{tmp_path}:scope:{{{record(1).scope}}}"
        assert client.exists(scope)
        assert run("store", "prune", url).status == 0
        assert not client.exists(scope)


def test_prune_removes_what_a_run_that_died_left_in_postgresql(run, request) -> None:
    server = request.getfixturevalue("postgresql_server")
    url = server.url_with(schema="pruned")
    with closing(open_store(url)) as store:
        store.begin("crawl")
        for number in range(5):
            store.check_and_add(record(number), None)
    count = "SELECT count(*) FROM pruned.page"
    assert server.admin(count) == [(5,)]
    assert run("store", "prune", url).status == 0
    assert server.admin(count) == [(0,)]


@pytest.mark.parametrize("command", ["info", "list", "export", "prune"])
@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("sqlite:///missing/pages.sqlite", "there is no such file"),
        ("SQLite:///missing.sqlite", "there is no such file"),
        ("sqlite:", "name the file"),
        ("memory:", "ends with its crawl"),
        ("nonsense", "no such store"),
    ],
)
def test_a_store_that_is_not_there_is_named_and_not_made(run, command, url, why, tmp_path) -> None:
    result = run("store", command, url)
    assert result.status == 1
    assert why in result.err
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("command", ["info", "list", "export", "prune"])
def test_an_empty_file_is_no_store_and_stays_empty(run, command, tmp_path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    result = run("store", command, "sqlite:///empty")
    assert (result.status, result.err) == (1, f"Error: SQLite store {empty}: an empty file\n")
    assert [*tmp_path.iterdir()] == [empty]
    assert empty.stat().st_size == 0


def test_to_look_for_a_store_in_postgresql_makes_nothing_there(run, request) -> None:
    server = request.getfixturevalue("postgresql_server")
    url = server.url_with(schema="never_made")
    for command in (["store", "info"], ["store", "list"], ["store", "prune"], ["pairs"], ["tune"]):
        result = run(*command, url)
        assert (result.status, result.out) == (1, "")
        assert result.err.endswith(": there is no store in schema 'never_made'\n")
    known = "SELECT count(*) FROM pg_namespace WHERE nspname = 'never_made'"
    assert server.admin(known) == [(0,)]


def test_to_look_for_a_store_in_redis_makes_nothing_there(run, request) -> None:
    server = request.getfixturevalue("redis_server")
    for command in ("info", "list", "export"):
        result = run("store", command, f"{server.url}?prefix=never_made:")
        assert (result.status, result.err) == (0, "the store has no pages that count\n")
    with server.client() as client:
        assert client.keys("never_made:*") == []


@pytest.mark.parametrize("age", ["7", "d", "7w", "-7d", "soon"])
def test_an_age_has_a_number_and_a_unit(run, url, fill, age) -> None:
    fill(record(1))
    result = run("store", "prune", url, "--age", age)
    assert result.status == 2
    assert "such as 7d" in result.err


def test_the_bar_of_an_import_counts_the_lines(run, url, fill, tmp_path) -> None:
    fill(*map(record, range(3)))
    (tmp_path / "pages.jsonl").write_text(run("store", "export", url).out, "utf-8")
    result = run("store", "import", f"sqlite:///{tmp_path}/b.sqlite", "pages.jsonl", "--progress")
    assert "3/3" in result.err
    assert "pages added: 3" in result.err
