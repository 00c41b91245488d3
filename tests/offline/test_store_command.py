"""`simhash-gate store`: what is in a store, by scope; forgotten, pruned, and moved to another."""

from __future__ import annotations

import json
import time
from contextlib import closing

import pytest

from simhash_gate.stores import open_store
from tests.offline.kept_pages import record, remembered

DAY = 86_400


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
            "repeated_texts": 0,
            "histories": 0,
            "texts": 0,
            "text_bytes": 0,
            "notes": [],
        },
        {
            "scope": "b.example",
            "pages": 3,
            "settled": 3,
            "pipelines": {"v0": 2, "v1": 1},
            "runs": 1,
            "oldest": "2023-11-14T22:13:20Z",
            "newest": "2023-11-14T22:13:25Z",
            "repeated_texts": 0,
            "histories": 0,
            "texts": 0,
            "text_bytes": 0,
            "notes": [],
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


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (("--scope", "a.example"), [1, 3, 5]),
        (("--page", "https://example.com/3"), [0, 1, 2, 4, 5]),
        (("--age", "10d"), [3, 4, 5]),
        (("--age", "10d", "--scope", "b.example"), [0, 2, 3, 4, 5]),
        (("--scope", "c.example"), [0, 1, 2, 3, 4, 5]),
        (("--domain", "example.com"), []),
        (("--domain", "www.example.com", "--scope", "a.example"), [1, 3, 5]),
        (("--domain", "other.example"), [0, 1, 2, 3, 4, 5]),
    ],
)
def test_forget_removes_what_all_options_agree_on(run, url, fill, options, left) -> None:
    now = time.time()
    pages = [record(n, last_seen=now - (40 if n < 3 else 5) * DAY) for n in range(6)]
    fill(*pages)
    result = run("store", "forget", url, *options)
    assert (result.status, result.err) == (0, f"pages removed: {6 - len(left)}\n")
    assert [page.url for page in remembered(url)] == [pages[number].url for number in left]


def test_forget_wants_to_know_what(run, url, fill) -> None:
    fill(record(1))
    result = run("store", "forget", url)
    assert result.status == 2
    assert "--domain, --scope, --page or --age" in result.err
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
    pages = [record(n, last_seen=now - (40 if n < 3 else 5) * DAY) for n in range(7)]
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


def learn(url: str, **memories: bytes) -> None:
    with closing(open_store(url)) as store:
        for scope, memory in memories.items():
            store.keep_site_memory(f"{scope}.example", memory)


def repeated(url: str) -> dict[str, bytes]:
    with closing(open_store(url)) as store:
        return dict(store.site_memories())


TWELVE = bytes(range(1, 13))


def test_info_counts_the_texts_that_a_site_repeats(run, url, fill) -> None:
    fill(record(0))
    learn(url, a=TWELVE, c=TWELVE)
    found = run("store", "info", url).lines
    assert [(line["scope"], line["pages"], line["repeated_texts"]) for line in found] == [
        ("a.example", 1, 1),
        ("c.example", 0, 1),
    ]
    assert found[1]["oldest"] is found[1]["newest"] is None


@pytest.mark.parametrize("options", [("--scope", "a.example"), ("--age", "1d"), ()])
def test_an_export_has_what_the_sites_of_its_pages_repeat(run, url, fill, options) -> None:
    fill(*map(record, range(2)))
    learn(url, a=TWELVE, b=TWELVE, c=TWELVE)
    lines = run("store", "export", url, *options).lines
    said = [line["scope"] for line in lines if "site_memory" in line]
    assert said == [f"{scope}.example" for scope in ("a" if "--scope" in options else "ab")] + (
        ["c.example"] if not options else []
    )
    assert [line["url"] for line in lines[: -len(said)]] == [
        record(number).url for number in ((0,) if "--scope" in options else (0, 1))
    ]


@pytest.mark.parametrize(
    ("command", "left"),
    [
        (("forget", "--scope", "a.example"), "b"),
        (("forget", "--page", "https://example.com/0"), "ab"),
        (("forget", "--age", "1d"), ""),
        (("prune",), "ab"),
        (("prune", "--pages", "0"), ""),
    ],
)
def test_what_a_site_repeats_goes_with_its_last_page(run, lasting_url, command, left) -> None:
    with closing(open_store(lasting_url)) as store:
        store.begin("crawl")
        for number in range(4):
            assert store.check_and_add(record(number), None).added
        store.end("crawl")
        store.begin("died")
        assert store.check_and_add(record(9, scope="c.example", run="died"), None).added
    learn(lasting_url, a=TWELVE, b=TWELVE, c=TWELVE)
    operation, *options = command
    assert run("store", operation, lasting_url, *options).status == 0
    assert repeated(lasting_url) == {f"{scope}.example": TWELVE for scope in left}


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (("--domain", "example.com"), {0, 1, 2, 3, 4, 5}),
        (("--domain", "example.com", "--pages", "1"), {0, 1, 5}),
        (("--domain", "example.com", "--age", "10d"), {0, 1, 2, 5}),
        (("--domain", "news.example.com", "--pages", "0"), {0, 1, 2, 4, 5}),
    ],
)
def test_prune_may_be_for_one_domain(run, url, fill, options, left) -> None:
    hosts = ("other.org", "other.org", "example.com", "news.example.com", "example.com",
             "www.example.com")  # fmt: skip
    now = time.time()
    pages = [
        record(
            number,
            scope="*",
            url=f"https://{host}/{number}",
            last_seen=now - (40 if number in (0, 3, 4) else 5) * DAY,
        )
        for number, host in enumerate(hosts)
    ]
    fill(*pages)
    assert run("store", "prune", url, *options).status == 0
    assert [page.url for page in remembered(url)] == [pages[number].url for number in sorted(left)]


def test_list_and_export_take_the_pages_of_a_domain_a_url_and_an_age(run, url, fill) -> None:
    news = [record(n, url=f"https://news.example.org/{n}") for n in (1, 3)]
    fill(record(0), *news)
    for command in ("list", "export"):
        assert run("store", command, url, "--domain", "example.org").column("url") == [
            page.url for page in news
        ]
        assert run("store", command, url, "--page", news[1].url).column("words") == [103]
        assert run("store", command, url, "--age", "1d").column("words") == [100, 101, 103]
        assert run("store", command, url, "--age", "9999d").out == ""


def rule(scope: str) -> dict:
    return {"scope": scope, "shape": "*", "kind": "slash", "word": "pinned"}


def ruled(url: str) -> list[str]:
    with closing(open_store(url)) as store:
        return sorted(scope for scope, _ in store.all_url_rules())


@pytest.fixture
def rules(url, fill) -> None:
    """Pages of two sites, and rules about the URLs of one of them, and of others without pages."""
    fill(*map(record, range(2)))
    with closing(open_store(url)) as store:
        for scope in ("a.example", "sub.c.example", "c.example"):
            store.keep_url_rules(scope, json.dumps([rule(scope)]).encode())


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize(
    ("options", "scopes"),
    [
        ((), ["a.example", "c.example", "sub.c.example"]),
        (("--scope", "a.example"), ["a.example"]),
        (("--scope", "b.example"), []),
        (("--domain", "c.example"), ["c.example", "sub.c.example"]),
        (("--age", "1d"), []),
        (("--page", "https://example.com/0", "--scope", "a.example"), []),
    ],
)
def test_an_export_has_the_rules_about_urls_of_whole_scopes(run, url, options, scopes) -> None:
    lines = [line for line in run("store", "export", url, *options).lines if "url_rules" in line]
    assert lines == [{"scope": scope, "url_rules": [rule(scope)]} for scope in scopes]


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize(
    ("command", "removed"),
    [
        (("forget", "--scope", "a.example"), ["a.example"]),
        (("forget", "--domain", "c.example"), ["c.example", "sub.c.example"]),
        (("forget", "--age", "1d"), []),
        (("forget", "--scope", "a.example", "--age", "1d"), []),
        (("forget", "--page", "https://example.com/0"), []),
        (("prune",), []),
        (("prune", "--pages", "1"), []),
        (("prune", "--age", "1d"), []),
        (("prune", "--pages", "0", "--domain", "c.example"), ["c.example", "sub.c.example"]),
        (("prune", "--pages", "0"), ["a.example", "c.example", "sub.c.example"]),
    ],
)
def test_rules_about_urls_are_removed_with_whole_scopes(run, url, command, removed) -> None:
    before = ruled(url)
    result = run("store", command[0], url, *command[1:])
    assert result.status == 0
    assert ruled(url) == [scope for scope in before if scope not in removed]
    told = f"rules about URLs were removed of {len(removed)} scope{'s' * (len(removed) > 1)}\n"
    assert result.err.endswith(told) == bool(removed)


def test_rules_that_cannot_be_read_are_named_and_the_rest_is_exported(run, url, rules) -> None:
    with closing(open_store(url)) as store:
        store.keep_url_rules("a.example", b"no rules")
    result = run("store", "export", url)
    assert result.status == 1
    assert [line["scope"] for line in result.lines[2:]] == ["c.example", "sub.c.example"]
    assert "rules about URLs of a.example: not JSON" in result.err
