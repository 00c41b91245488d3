"""`simhash-gate urls`: what is known of URLs is listed, tried, moved and learned."""

import json
from contextlib import closing

import pytest

from simhash_gate.settings import read_settings
from simhash_gate.stores import open_store
from simhash_gate.stores.base import URL_RULES
from tests.offline.command import write_lines
from tests.stores.kept import keep

SITE = "example.com"
HOME = f"https://{SITE}"
KIND = f"{SITE}/a/#"
LINE = {"scope": SITE, "urls": KIND, "kind": "drop", "name": "x", "value": ""}
LINES = [LINE | {"contents": 30, "acts": True}, LINE | {"name": "y", "contents": 2, "acts": False}]


@pytest.fixture
def rules(tmp_path):
    """A file: x makes no difference, y may make one."""
    return write_lines(tmp_path / "urls.jsonl", LINES)


@pytest.fixture
def kept(run, url, rules):
    """The same in a store."""
    result = run("urls", "import", url, rules)
    assert (result.status, result.out, result.err) == (0, "", "2 lines imported\n")
    return url


@pytest.mark.parametrize("source", ["rules", "kept"])
def test_what_is_known_is_listed_one_a_line_and_tried_on_urls(run, request, source) -> None:
    source = request.getfixturevalue(source)
    result = run("urls", "list", source)
    assert (result.status, result.err) == (0, "")
    assert result.lines == LINES
    urls = [f"{HOME}/a/9?x=1&z=2", f"{HOME}/b/9?y=1", "https://other.example/a/9?x=1"]
    result = run("urls", "test", source, *urls)
    assert (result.status, result.err) == (0, "")
    assert result.column("url") == urls
    assert result.column("canonical") == [f"{HOME}/a/9?z=2", *urls[1:]]
    assert result.column("by") == ["host", "url", "url"]
    assert result.column("atoms") == [["?x=*"], [], []]


def test_an_edited_line_takes_the_place_of_the_one_in_the_store(run, kept, tmp_path) -> None:
    edited = [LINE | {"word": "forbidden"}, LINE | {"scope": "a.example"}]
    path = write_lines(tmp_path / "edited.jsonl", edited)
    assert run("urls", "import", kept, path).status == 0
    result = run("urls", "list", kept)
    assert result.column("scope") == ["a.example", SITE, SITE]
    assert [line.get("word") for line in result.lines] == [None, "forbidden", None]
    result = run("urls", "test", kept, f"{HOME}/a/9?x=1")
    assert result.column("canonical") == [f"{HOME}/a/9?x=1"]


@pytest.fixture
def verdicts(run, write, manifest, tmp_path):
    """What `replay` says of pages that are there with a parameter too, and of other pages."""
    entries = []
    for number in range(7):
        write(f"{number}.html", number)
        write(f"{number}-copy.html", number, noise=3)
        own = f"{HOME}/a/{number}"
        entries += [
            {"path": f"{number}.html", "url": own},
            {"path": f"{number}-copy.html", "url": f"{own}?came=x{number}"},
        ]
    result = run("replay", manifest(*entries))
    assert result.column("outcome") == ["new", "duplicate"] * 7
    path = tmp_path / "verdicts.jsonl"
    path.write_text(result.out)
    return path


def test_rules_are_learned_from_replays_into_a_file_or_a_store(
    run, run_with_input, verdicts, url, tmp_path
) -> None:
    result = run("urls", "learn", verdicts, "-o", tmp_path / "learned.jsonl")
    assert (result.status, result.out) == (0, "")
    assert result.err == "14 verdicts, 1 line, 1 act\n"
    (line,) = run("urls", "list", tmp_path / "learned.jsonl").lines
    assert (line["name"], line["acts"], line["contents"]) == ("came", True, 7)
    learned = (tmp_path / "learned.jsonl").read_text()
    assert run_with_input(verdicts.read_text(), "urls", "learn", "-").out == learned
    into = run("urls", "learn", verdicts, "--into", url)
    assert (into.status, into.out, into.err) == (0, "", result.err)
    assert run("urls", "list", url).out == learned


def headed(verdicts, **settings) -> None:
    """Write on the first verdict what a crawl with these settings says there."""
    first, *others = verdicts.read_text().splitlines()
    named = {f"SIMHASH_GATE_{name}": value for name, value in settings.items()}
    head = read_settings(named).crawl_line("crawl", "spider")
    verdicts.write_text("\n".join((json.dumps(json.loads(first) | head), *others, "")))


def test_where_distances_were_all_nothing_is_learned(run, verdicts) -> None:
    # A replay does not say its settings.
    result = run("urls", "learn", verdicts, "-s", "SIMHASH_GATE_VERIFY=0")
    assert (result.status, "0 verdicts" in result.err) == (1, True)
    headed(verdicts, DOMAINS={"example.com": {"verify": False}})
    result = run("urls", "learn", verdicts)
    assert (result.status, result.out) == (1, "")
    assert f"{verdicts}:1: nothing to learn of example.com: VERIFY was off" in result.err
    assert "0 verdicts, 0 lines, 0 act" in result.err
    headed(verdicts, VERIFY=False, DOMAINS={"example.com": {"verify": True}})
    assert run("urls", "learn", verdicts).err == "14 verdicts, 1 line, 1 act\n"


def test_broken_lines_are_named_and_the_rest_is_learned_from(run, verdicts) -> None:
    broken = ("no JSON", "5", '{"url": 5}')
    verdicts.write_text("\n".join((*broken, verdicts.read_text())))
    result = run("urls", "learn", verdicts)
    assert result.status == 1
    assert [f"{verdicts}:{number}: " in result.err for number in (1, 2, 3)] == [True, True, False]
    assert "1 line, 1 act" in result.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file or directory"),
        ("5", "not a JSON object such as"),
        (json.dumps(LINE | {"kind": "place", "value": "x"}), "value 'x' is no place"),
        (json.dumps(LINE | {"word": "pinned"}), "word 'pinned' is unknown"),
    ],
)
def test_a_wrong_file_is_named(run, tmp_path, text: str | None, message: str) -> None:
    path = tmp_path / "theirs.jsonl"
    if text is not None:
        path.write_text(text)
    store = "sqlite:///pages.sqlite"
    for command in (
        f"list {path}",
        f"test {path} {HOME}",
        f"import {store} {path}",
    ):
        result = run("urls", *command.split())
        assert result.status == 1
        assert result.err.startswith(f"{path}:")
        assert message in result.err


def test_rules_do_not_go_into_a_store_that_is_none(run, rules, verdicts) -> None:
    for wrong in ("memory:", "nonsense:///x", "rules.json"):
        for words in (("import", wrong, rules), ("learn", verdicts, "--into", wrong)):
            result = run("urls", *words)
            assert (result.status in (1, 2), result.out) == (True, "")
            assert "Error: " in result.err
            assert "Traceback" not in result.err


def test_a_store_whose_rules_are_broken_or_none_says_so(run, url, rules, fill) -> None:
    fill()
    result = run("urls", "list", url)
    assert (result.status, result.out, result.err) == (0, "", "nothing is known of URLs\n")
    with closing(open_store(url)) as store:
        keep(store, URL_RULES, SITE, b"no lines")
    for words in (("list", url), ("import", url, rules)):
        result = run("urls", *words)
        assert (result.status, result.out) == (1, "")
        assert f"of {SITE}: not JSON" in result.err
