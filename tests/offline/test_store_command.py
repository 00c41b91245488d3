"""`simhash-gate store`: what is in a store, by scope; forgotten, and moved to another."""

import json
import time
from contextlib import closing
from typing import NamedTuple

import pytest

from simhash_gate.history.texts import pack
from simhash_gate.history.versions import History, Version
from simhash_gate.journal import segments
from simhash_gate.journal.warc import warcinfo
from simhash_gate.stores import open_store
from simhash_gate.stores.base import HISTORY, KEPT_TEXT, SITE_MEMORY, SITE_NOTES
from tests.journal.pages import packed
from tests.offline.kept_pages import record
from tests.stores.kept import PageHistory, histories, keep, keep_history, keep_text
from tests.stores.kept import kept as all_of
from tests.stores.kept import texts as all_texts

DAY = 86_400
NOTES = {
    "redesign": {"a.example": 1.0, "example.com": 2.0},
    "validators": {"news.example.com": {"etag": {"until": 3.0}}},
}
TWENTY = bytes(range(1, 21))
PLENTY = 1 << 40
URLS = [
    *("https://example.com/0", "https://example.com/1", "https://sub.example.com/2"),
    *("https://news.example.org/3", "https://www.example.com/4", "https://example.com/5"),
]
"""Of pages by turns of the scopes a.example and b.example; the first three are old."""
ALL = (0, 1, 2, 3, 4, 5)


class Kept(NamedTuple):
    """What a store knows: URLs of pages and of histories, digests, and by scopes."""

    pages: list[str]
    histories: list[str]
    texts: list[int]
    notes: dict[str, dict]
    memories: dict[str, bytes]


def kept(url: str) -> Kept:
    with closing(open_store(url)) as store:
        return Kept(
            [page.url for page in store.records()],
            sorted(history.url for history in histories(store)),
            sorted(digest & 0xFFFF for _, digest, _, _ in all_texts(store)),
            {
                scope: json.loads(notes)
                for scope, notes in sorted(all_of(store, SITE_NOTES).items())
            },
            dict(sorted(all_of(store, SITE_MEMORY).items())),
        )


def visited(number: int, seen: float, run: str = "crawl") -> PageHistory:
    """Two versions of a page: the second is that of its record."""
    page, history = record(number), History()
    for digest in (1_000 + number, page.digest):
        version = Version(seen, seen, 7, digest, 100, "Title", "crawl", "v1")
        history = history.visited(version, again=None, most=10)
    return PageHistory(page.scope, page.key, URLS[number], run, seen, history.encode())


def text(number: int) -> bytes:
    return pack(url=f"https://example.com/{number}", title="", markdown=f"Said {number}", time=1.0)


def texts(*numbers: int) -> list[int]:
    return [*numbers, *(1_000 + number for number in numbers)]


def fill_store(url: str) -> None:
    """Remember the pages, and all else that a store knows of them and of their sites."""
    now = time.time()
    with closing(open_store(url)) as store:
        store.begin("crawl")
        for number in ALL:
            seen = now - (40 if number < 3 else 5) * DAY
            page = record(number, url=URLS[number], last_seen=seen)
            assert store.check_and_add(page, None).added
            keep_history(store, visited(number, seen))
            for digest in (page.digest, 1_000 + number):
                keep_text(store, page.scope, digest, text(digest & 0xFFFF), seen, PLENTY)
        keep_text(store, "a.example", 5_000, text(5_000), now, PLENTY)  # of no page
        store.end("crawl")
        for scope in ("a.example", "*"):
            keep(store, SITE_NOTES, scope, json.dumps(NOTES).encode())
        for scope in ("a.example", "b.example", "c.example"):
            keep(store, SITE_MEMORY, scope, TWENTY)


@pytest.fixture
def filled(url) -> str:
    fill_store(url)
    return url


def test_a_store_of_which_no_page_counts_says_so(run, url) -> None:
    with closing(open_store(url)) as store:
        store.begin("died")
        assert store.check_and_add(record(1, run="died"), None).added
    for command in ("info", "list", "export"):
        result = run("store", command, url)
        assert (result.status, result.out) == (0, "")
        assert result.err == "the store has no pages that count\n"


@pytest.mark.parametrize(
    ("command", "left", "noted", "repeated"),
    [
        ("forget --scope a.example", (1, 3, 5), "*", "b"),
        ("forget --scope a.example --age 10d", (1, 3, 4, 5), "*a", "ab"),
        ("forget --page https://me:secret@example.com/1", (0, 2, 3, 4, 5), "*a", "ab"),
        ("forget --page http://www.example.com/1/?fbclid=x", (0, 2, 3, 4, 5), "*a", "ab"),
        ("forget --domain other.example", ALL, "*a", "ab"),
        ("forget --domain a.example", ALL, "*", "ab"),
        ("forget --age 10d", (3, 4, 5), "*a", "ab"),
        ("forget --all", (), "", ""),
    ],
)
def test_pages_go_with_all_that_is_known_of_them_and_sites_with_their_last_page(
    run, filled, command: str, left, noted: str, repeated: str
) -> None:
    operation, *options = command.split()
    result = run("store", operation, filled, *options)
    assert result.status == ("other" in command)
    found = kept(filled)
    assert found.pages == [URLS[number] for number in left]
    assert found.histories == sorted(found.pages)
    assert found.texts == texts(*left)
    assert "".join(scope[0] for scope in found.notes) == noted
    assert "".join(scope[0] for scope in found.memories) == repeated
    gone = len(ALL) - len(left)
    assert f"pages removed: {gone}\n" in result.err
    assert f"texts removed: {2 * gone + 1}\n" in result.err
    assert (f"histories removed: {gone}\n" in result.err) == bool(gone)
    assert ("notes on sites removed: " in result.err) == (noted != "*a")


@pytest.mark.parametrize("address", ["a?ref=1", "a", "a?print=1"])
def test_one_page_goes_everywhere_by_any_of_its_addresses(
    run, tmp_path, url, fill, address: str
) -> None:
    site, folder = "https://example.com/", tmp_path / "dropped"
    fill(record(1, url=f"{site}a?ref=1"), record(2, url=f"{site}b?ref=1"))
    folder.mkdir()
    copies = [("a", "a?ref=1"), ("a?print=1", "a?ref=1"), ("b", "b?ref=1")]
    drops = [packed(url=site + copy, matched_url=site + page) for copy, page in copies]
    path = folder / "dropped-20240601T120000000000Z-0badcafe.warc.gz"
    path.write_bytes(b"".join([warcinfo(), *drops]))
    command = ("store", "forget", url, "--page", site + address, "--journal", "dropped")
    result = run(*command, "--dry-run")
    assert (result.status, result.column("url")) == (0, [f"{site}a?ref=1"])
    assert result.err == "pages to remove: 1\ndropped pages in the journal to remove: 2\n"
    assert len(run("store", "list", url).lines) == 2
    assert run(*command).err == result.err.replace("to remove", "removed")
    assert run("store", "list", url).column("url") == [f"{site}b?ref=1"]
    assert [found.drop.url for found in segments.drops(str(path), pytest.fail)] == [f"{site}b"]
    assert run(*command).status == 1
    damaged = bytearray(drops[0])
    damaged[-9] ^= 1
    with path.open("ab") as file:
        file.write(damaged + drops[2])
    before = path.read_bytes()
    result = run(*command[:4], f"{site}b", *command[5:])
    assert (result.status, path.read_bytes()) == (1, before)
    assert result.err.startswith(f"dropped/{path.name}, record 5: ")


def test_an_address_that_may_be_several_pages_names_them_and_removes_none(run, url, fill) -> None:
    urls = [f"https://example.com/a?id={number}" for number in (1, 2)]
    fill(*(record(number, url=url) for number, url in enumerate(urls, 1)))
    result = run("store", "forget", url, "--page", "https://example.com/a")
    assert result.status == 1
    assert f"Is it one of these? {', '.join(urls)}\n" in result.err
    assert len(run("store", "list", url).lines) == 2


def test_of_a_domain_in_a_scope_of_several_its_own_notes_go(run, filled) -> None:
    assert run("store", "forget", filled, "--domain", "www.example.com").status == 0
    found = kept(filled)
    assert found.pages == found.histories == [URLS[3]]
    assert found.notes == {scope: {"redesign": {"a.example": 1.0}} for scope in ("*", "a.example")}


@pytest.mark.parametrize(
    ("options", "numbers", "noted", "repeated"),
    [
        ("", ALL, "*a", "abc"),
        ("--scope a.example", (0, 2, 4), "a", "a"),
        ("--domain example.org", (3,), "", "b"),
        ("--age 10d", (0, 1, 2), "", "ab"),
    ],
)
def test_an_export_has_what_is_known_of_its_pages_and_sites(
    run, filled, options: str, numbers, noted: str, repeated: str
) -> None:
    lines = run("store", "export", filled, *options.split()).lines

    def scopes(kind: str) -> list[str]:
        return sorted(line["scope"] for line in lines if line.get("kind") == kind)

    urls = [URLS[number] for number in numbers]
    assert [line["url"] for line in lines if "words" in line] == urls
    assert run("store", "list", filled, *options.split()).column("url") == urls
    assert sorted(line["key"] for line in lines if line.get("kind") == HISTORY) == sorted(
        record(number).key for number in numbers
    )
    kept_texts = (line["key"] for line in lines if line.get("kind") == KEPT_TEXT)
    digests = sorted(int(key, 16) & 0xFFFF for key in kept_texts)
    assert digests == texts(*numbers) + ([] if options else [5_000])
    assert "".join(scope[0] for scope in scopes(SITE_NOTES)) == noted
    assert "".join(scope[0] for scope in scopes(SITE_MEMORY)) == repeated


def test_notes_that_cannot_be_read_are_named_and_the_rest_is_exported(run, filled) -> None:
    with closing(open_store(filled)) as store:
        keep(store, SITE_NOTES, "a.example", b"no notes")
    result = run("store", "export", filled)
    assert result.status == 1
    found = [line["scope"] for line in result.lines if line.get("kind") == SITE_NOTES]
    assert found == ["*"]
    assert "notes on sites of a.example: " in result.err


def test_all_of_a_store_is_moved_to_every_other_that_lasts(
    run, run_with_input, filled, lasting_url
) -> None:
    exported = run("store", "export", filled).out
    for added, copies in ((6, 0), (0, 6)):
        result = run_with_input(exported, "store", "import", lasting_url)
        assert result.status == 0
        assert f"pages added: {added}, copies: {copies}, skipped: 0\n" in result.err
    for command in ("store info", "store list", "history list"):
        here, there = (run(*command.split(), url) for url in (filled, lasting_url))
        assert sorted(here.column("scope")) == sorted(there.column("scope")) != []
    for command in ("forget --age 10d", "forget --domain example.org"):
        operation, *options = command.split()
        assert run("store", operation, lasting_url, *options).status == 0
    pages, visited_pages, *_ = kept(lasting_url)
    assert sorted(pages) == visited_pages == sorted(URLS[4:])
    assert [*kept(lasting_url).memories] == ["a.example", "b.example"]


def test_an_import_adds_to_what_is_known_and_changes_nothing_that_is_newer(
    run, run_with_input, filled, url
) -> None:
    there = f"{url}2"
    fill_store(there)
    newer = visited(0, time.time(), run="later")
    with closing(open_store(there)) as store:
        store.begin("later")
        keep_history(store, newer)
        store.end("later")
        keep(store, SITE_NOTES, "*", json.dumps({"redesign": {"c.example": 9.0}}).encode())
    exported = run("store", "export", filled).out
    assert run_with_input(exported, "store", "import", there).status == 0
    assert kept(there).notes["*"] == {
        "redesign": {"c.example": 9.0, **NOTES["redesign"]},
        "validators": NOTES["validators"],
    }
    with closing(open_store(there)) as store:
        assert [each for each in histories(store) if each.url == URLS[0]] == [newer]


def test_to_look_for_a_store_on_a_server_makes_nothing_there(
    run, redis_server, postgresql_server
) -> None:
    url = postgresql_server.url_with(schema="never_made")
    for command in ("store info", "store forget --all", "pairs"):
        result = run(*command.split(), url)
        assert (result.status, result.out) == (1, "")
        assert result.err.endswith(": there is no store in schema 'never_made'\n")
    known = "SELECT count(*) FROM pg_namespace WHERE nspname = 'never_made'"
    assert postgresql_server.admin(known) == [(0,)]
    for command in ("info", "export"):
        result = run("store", command, f"{redis_server.url}?prefix=never_made:")
        assert (result.status, result.err) == (0, "the store has no pages that count\n")
    with redis_server.client() as client:
        assert client.keys("never_made:*") == []
