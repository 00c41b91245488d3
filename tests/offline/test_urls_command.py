"""`simhash-gate urls`: rules are listed, tried, moved and learned, in files and in stores."""

from __future__ import annotations

import json
from contextlib import closing

import pytest
from duplicate_url_discarder.rule import load_rules

from simhash_gate.settings import read_settings
from simhash_gate.stores import open_store
from simhash_gate.stores.base import URL_RULES
from simhash_gate.urls.learner import Learner
from simhash_gate.urls.saved import entries_of, to_json
from tests.stores.kept import keep
from tests.urls.teaching import HOME, SHAPE, SITE, pairs_by, teach

RULE = {"scope": SITE, "shape": SHAPE, "kind": "parameter", "name": "x", "value": "*"}


@pytest.fixture
def rules(tmp_path):
    """A file of rules that were learned: x makes no difference, y does now and then."""
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", count=40))
    teach(learner, pairs_by("/b/{n}?y={m}", "/b/{n}", count=40))
    teach(learner, [("/b/77?y=1", "/b/77")], same=False)
    path = tmp_path / "rules.json"
    (entries,) = entries_of(learner).values()
    path.write_text(to_json(entries))
    return path


@pytest.fixture
def kept(run, url, rules):
    """The same rules in a store."""
    result = run("urls", "import", url, rules)
    assert (result.status, result.out, result.err) == (0, "", "2 rules imported\n")
    return url


@pytest.mark.parametrize("source", ["rules", "kept"])
def test_rules_are_listed_one_a_line_and_tried_on_urls(run, request, rules, source) -> None:
    source = request.getfixturevalue(source)
    result = run("urls", "list", source)
    assert (result.status, result.err) == (0, "")
    assert result.lines == json.loads(rules.read_text())
    assert result.column("state") == ["active", "suspended"]
    urls = [f"{HOME}/a/9?x=1&z=2", f"{HOME}/b/9?y=1", "https://other.example/a/9?x=1"]
    result = run("urls", "test", source, *urls)
    assert (result.status, result.err) == (0, "")
    assert result.column("url") == urls
    assert result.column("canonical") == [f"{HOME}/a/9?z=2", *urls[1:]]
    assert result.column("rules") == [[{"shape": SHAPE, "rule": "?x=*"}], [], []]


def test_an_edited_rule_takes_the_place_of_the_one_in_the_store(run, kept, tmp_path) -> None:
    path = tmp_path / "edited.json"
    path.write_text(json.dumps([RULE | {"word": "forbidden"}, RULE | {"scope": "a.example"}]))
    assert run("urls", "import", kept, path).status == 0
    result = run("urls", "list", kept)
    assert result.column("scope") == ["a.example", SITE, SITE]
    assert [line.get("word") for line in result.lines] == [None, "forbidden", None]
    result = run("urls", "test", kept, f"{HOME}/a/9?x=1")
    assert result.column("canonical") == [f"{HOME}/a/9?x=1"]


def test_rules_are_exported_for_duplicate_url_discarder_and_come_back_as_guesses(
    run, kept, tmp_path
) -> None:
    path = tmp_path / "theirs.json"
    result = run("urls", "export", kept, "--format", "discarder", "-o", path)
    assert (result.status, result.err) == (0, "")
    assert {rule.args for rule in load_rules(path.read_text())} == {("x",)}
    other = f"sqlite:///{tmp_path}/other.sqlite"
    result = run("urls", "import", other, path, "--format", "discarder")
    assert (result.status, result.err) == (0, "1 rule imported\n")
    (line,) = run("urls", "list", other).lines
    assert line == RULE | {"shape": "*", "word": "guess"}


def test_a_catalogue_of_clearurls_is_imported_and_what_is_left_out_counted(run, url, tmp_path):
    path = tmp_path / "data.json"
    pattern = "^https?:\\/\\/(?:[a-z0-9-]+\\.)*?shop\\.example"
    site = {"urlPattern": pattern, "rules": ["p[a-z]*", "t"]}
    path.write_text(json.dumps({"providers": {"shop": site}}))
    result = run("urls", "import", url, path, "--format", "clearurls")
    assert result.status == 0
    assert result.err.startswith("1 rule imported\nleft out")
    assert result.err.endswith(": 1\n")
    (line,) = run("urls", "list", url).lines
    assert (line["scope"], line["name"]) == ("shop.example", "t")


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
            {"path": f"{number}-copy.html", "url": f"{own}?utm_source=x{number}"},
        ]
    result = run("replay", manifest(*entries))
    assert result.column("outcome") == ["new", "duplicate"] * 7
    path = tmp_path / "verdicts.jsonl"
    path.write_text(result.out)
    return path


def test_rules_are_learned_from_replays_into_a_file_or_a_store(
    run, run_with_input, verdicts, url, tmp_path
) -> None:
    result = run("urls", "learn", verdicts, "-o", tmp_path / "learned.json")
    assert (result.status, result.out) == (0, "")
    assert result.err == "14 verdicts, 1 rule, 1 active\n"
    (line,) = run("urls", "list", tmp_path / "learned.json").lines
    assert (line["name"], line["state"], line["contradictions"]) == ("utm_source", "active", 0)
    assert line["examples"][0] == [f"{HOME}/a/0?utm_source=x0", f"{HOME}/a/0"]
    learned = (tmp_path / "learned.json").read_text()
    assert run_with_input(verdicts.read_text(), "urls", "learn", "-").out == learned
    into = run("urls", "learn", verdicts, "--into", url)
    assert (into.status, into.out, into.err) == (0, "", result.err)
    assert run("urls", "export", url).out == learned


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
    assert (result.status, result.out) == (1, "[]\n")
    assert f"{verdicts}:1: nothing to learn of example.com: VERIFY was off" in result.err
    assert "0 verdicts, 0 rules, 0 active" in result.err
    headed(verdicts, VERIFY=False, DOMAINS={"example.com": {"verify": True}})
    assert run("urls", "learn", verdicts).err == "14 verdicts, 1 rule, 1 active\n"


def test_broken_lines_are_named_and_the_rest_is_learned_from(run, verdicts) -> None:
    broken = ("no JSON", "5", '{"url": 5}')
    verdicts.write_text("\n".join((*broken, verdicts.read_text())))
    result = run("urls", "learn", verdicts)
    assert result.status == 1
    assert [f"{verdicts}:{number}: " in result.err for number in (1, 2, 3)] == [True, True, False]
    assert "1 rule, 1 active" in result.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file or directory"),
        (json.dumps([RULE, 5]), "rule 2: expected an object"),
    ],
)
def test_a_wrong_file_is_named(run, tmp_path, text: str | None, message: str) -> None:
    path = tmp_path / "theirs.json"
    if text is not None:
        path.write_text(text)
    store = "sqlite:///pages.sqlite"
    for command in (
        f"list {path}",
        f"test {path} {HOME}",
        f"export {path}",
        f"import {store} {path}",
    ):
        result = run("urls", *command.split())
        assert (result.status, result.out) == (1, "")
        assert result.err.startswith(f"Error: {path}: ")
        assert message in result.err
    path.write_text("5")
    for form in ("discarder", "clearurls"):
        result = run("urls", "import", store, path, "--format", form)
        assert (result.status, result.err.startswith(f"Error: {path}: ")) == (1, True)


def test_rules_do_not_go_into_a_store_that_is_none(run, rules, verdicts) -> None:
    for wrong in ("memory:", "nonsense:///x", "rules.json"):
        for words in (("import", wrong, rules), ("learn", verdicts, "--into", wrong)):
            result = run("urls", *words)
            assert (result.status, result.out) == (1, "")
            assert result.err.startswith("Error: ")
            assert "Traceback" not in result.err


def test_a_store_whose_rules_are_broken_or_none_says_so(run, url, rules, fill) -> None:
    fill()
    result = run("urls", "list", url)
    assert (result.status, result.out, result.err) == (0, "", "no rules are known\n")
    assert run("urls", "export", url).out == "[]\n"
    with closing(open_store(url)) as store:
        keep(store, URL_RULES, SITE, b"no rules")
    for words in (("list", url), ("import", url, rules)):
        result = run("urls", *words)
        assert (result.status, result.out) == (1, "")
        assert f"rules of {SITE}: not JSON" in result.err
