"""`simhash-gate history`: what is known of each page's past."""

import re
from contextlib import closing
from dataclasses import replace
from datetime import datetime

import pytest

from simhash_gate.history.texts import pack
from simhash_gate.history.versions import History, Version
from simhash_gate.stores import open_store
from tests.crawls.harness import ROOT
from tests.stores.kept import PageHistory, keep_history
from tests.stores.kept import keep_text as keep_text_of

DAY = 86_400.0
START = 1_717_200_000.0  # midnight, 1 June 2024
HOME = "https://hive.example"


def digest(text: str) -> int:
    return int.from_bytes(text.encode(), "big")


def past(*found: str | None) -> History:
    """The history of a page that was visited every third day; None where it was gone."""
    history = History()
    for number, text in enumerate(found):
        at = START + 3 * number * DAY
        if text is None:
            history = replace(history, gone=at)
            continue
        again = history.last if history.last and history.last.title == text else None
        run = again.run if again else f"run{number}"
        version = Version(at, at, len(text), digest(text), 10 * len(text), text, run)
        history = history.visited(version, again=again, most=10)
    return history


PASTS = {
    f"{HOME}/news/1": past("a", "ab", "abc", "abcd"),
    f"{HOME}/news/2": past("a", "ab", "ab", "abc"),
    f"{HOME}/archive/1": past("a", "a", "a", "a"),
    f"{HOME}/archive/2": past("a", "a", "a", None),
    "https://other.example/": past("a", "a", "b", "b"),
}


def keep(store_url: str, pasts: dict[str, History | bytes]) -> None:
    with closing(open_store(store_url)) as store:
        store.begin("monday")
        for url, history in pasts.items():
            data = history if isinstance(history, bytes) else history.encode()
            scope = url.split("/")[2]
            keep_history(store, PageHistory(scope, url, url, "monday", START + 9 * DAY, data))
        store.end("monday")


@pytest.fixture
def kept(url) -> str:
    keep(url, PASTS)
    return url


def test_pages_are_listed_with_their_versions(run, kept) -> None:
    result = run("history", "list", kept)
    assert (result.status, result.err) == (0, "")
    assert result.column("url") == sorted(PASTS)
    lines = {line["url"]: line for line in result.lines}
    news = lines[f"{HOME}/news/2"]
    assert [(found["title"], found["run"]) for found in news["versions"]] == [
        *(("a", "run0"), ("ab", "run1"), ("abc", "run3"))
    ]
    assert [found["first_seen"][:10] for found in news["versions"]] == [
        *("2024-06-01", "2024-06-04", "2024-06-10")
    ]
    assert [found["last_seen"][:10] for found in news["versions"]] == [
        *("2024-06-01", "2024-06-07", "2024-06-10")
    ]
    assert (news["last_visit"], news["gone"]) == ("2024-06-10T00:00:00Z", None)
    assert lines[f"{HOME}/archive/2"]["gone"] == "2024-06-10T00:00:00Z"


def test_the_documented_example_tells_from_the_versions_when_to_come_back(run, kept) -> None:
    docs = (ROOT / "docs/revisits.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n([^`]*def next_visit.*?)```", docs, re.DOTALL)
    example = {}
    exec(compile(code, "revisits.md", "exec"), example)
    lines = {line["url"]: line for line in run("history", "list", kept).lines}
    last = datetime.fromisoformat("2024-06-10T00:00:00+00:00")
    days = {
        url: round((example["next_visit"](lines[HOME + url]) - last).total_seconds() / DAY, 2)
        for url in ("/news/1", "/news/2", "/archive/1")
    }
    assert days == {"/news/1": 2.57, "/news/2": 3.6, "/archive/1": 18}


def test_pages_are_chosen(run, kept) -> None:
    for option, value, url in (
        ("--scope", "other.example", "https://other.example/"),
        ("--page", "https://me:secret@hive.example/news/1", f"{HOME}/news/1"),
    ):
        assert run("history", "list", kept, option, value).column("url") == [url]


def test_where_no_history_is_or_can_be_read_is_said_and_the_others_are_used(run, url) -> None:
    bare, news = f"{url}2", f"{HOME}/news/1"
    keep(bare, {})
    keep(url, {f"{HOME}/broken": b"broken", news: PASTS[news]})
    result = run("history", "list", bare)
    assert (result.status, result.out) == (0, "")
    assert "no history of such pages" in result.err
    result = run("history", "list", url)
    assert (result.status, result.column("url")) == (1, [news])
    assert f"{HOME}/broken: no history of a page" in result.err


def keep_text(store_url: str, title: str, markdown: str, *links: str) -> None:
    """Keep the text of the version with a title."""
    with closing(open_store(store_url)) as store:
        url = f"{HOME}/news/2"
        packed = pack(
            url=url, title=title, markdown=markdown, time=START, links=[(x, "") for x in links]
        )
        keep_text_of(store, "hive.example", digest(title), packed, START, 1 << 20)


@pytest.fixture
def texts(kept) -> str:
    """A store with the texts of the last two versions of a page."""
    keep_text(kept, "ab", "# Bees\n\nA worker bee lives *six* weeks.", f"{HOME}/a", f"{HOME}/b")
    keep_text(kept, "abc", "# Bees\n\nA worker bee lives *five* weeks.", f"{HOME}/b", f"{HOME}/c")
    return kept


def test_what_changed_between_two_versions_is_shown(run, texts) -> None:
    result = run("history", "diff", texts, f"{HOME}/news/2")
    assert (result.status, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[0] == f"{HOME}/news/2"
    assert "   A worker bee lives [-*six*-] {+*five*+} weeks." in lines
    assert lines[-2:] == [f"   [-{HOME}/a-]", f"   {{+{HOME}/c+}}"]
    (line,) = run("history", "diff", texts, f"{HOME}/news/2", "2", "3", "--json").lines
    (change,) = line["changes"]
    assert (change["removed"], change["added"]) == ("*six*", "*five*")
    assert line["links"] == {"removed": [f"{HOME}/a"], "added": [f"{HOME}/c"]}
    assert (line["distance"], line["kept"]["title"], line["page"]["title"]) == (1, "ab", "abc")


def test_a_field_that_differs_is_shown_without_a_text_that_differs(run, url) -> None:
    first = Version(START, START, 1, 1, 10, "Lamp", "run0", offers=((".stock", "12 left"),))
    second = replace(first, first_seen=START + 9, run="run1", offers=((".stock", "Sold out"),))
    keep(url, {f"{HOME}/lamp": History((first, second))})
    result = run("history", "diff", url, f"{HOME}/lamp")
    assert "\nfields differ\n   .stock       [-12 left-] {+Sold out+}\n" in result.out
    (line,) = run("history", "diff", url, f"{HOME}/lamp", "--json").lines
    (field,) = line["mismatches"]
    assert (field["a"], field["b"]) == ("12 left", "Sold out")


def test_without_a_text_a_difference_says_so_and_what_would_keep_one(run, url) -> None:
    keep(url, PASTS)
    result = run("history", "diff", url, f"{HOME}/news/2")
    assert result.out.count("SIMHASH_GATE_KEEP_MARKDOWN") == 1
    assert "no text of the earlier version or of this page is here." in result.out


def test_a_text_that_is_missing_among_others_is_named(run, texts) -> None:
    result = run("history", "diff", texts, f"{HOME}/news/2", "1", "3")
    assert result.status == 0
    assert "no text of the earlier version is here." in result.out
    assert "SIMHASH_GATE_KEEP_MARKDOWN" not in result.out  # it was set: other texts are kept
    assert "\nwords that differ\n" not in result.out
    (line,) = run("history", "diff", texts, f"{HOME}/news/2", "1", "3", "--json").lines
    assert (line["changes"], line["links"]) == (None, None)
    with closing(open_store(texts)) as store:
        keep_text_of(store, "hive.example", digest("abc"), b"broken", START, 1 << 20)
    result = run("history", "diff", texts, f"{HOME}/news/2")
    assert result.status == 1
    assert "text of 2024-06-10T00:00:00Z: no text of a page" in result.err
    assert "\nwords that differ\n" not in result.out


def test_what_has_no_difference_is_said(run, kept) -> None:
    for page, versions, status, message in (
        ("/news/2", ["1", "4"], 2, "Name two versions of 1 to 3"),
        ("/news/2", ["0", "1"], 2, "0"),
        ("/archive/1", [], 1, "the page has 1 version: nothing changed"),
        ("/unknown", [], 1, f"{HOME}/unknown: the store has no history of such pages"),
    ):
        result = run("history", "diff", kept, HOME + page, *versions)
        assert (result.status, result.out) == (status, "")
        assert message in result.err
