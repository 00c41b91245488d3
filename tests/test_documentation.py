"""Docs can't rot: what users type and read is in them, and what is in them exists."""

import dataclasses
import doctest
import json
import re
import runpy
from collections import Counter
from itertools import chain
from types import SimpleNamespace

import click

import simhash_gate
from simhash_gate.cli import COMMANDS as COMMAND_NAMES
from simhash_gate.cli import cli
from simhash_gate.gate.policy import POLICY_KINDS
from simhash_gate.gate.verdict import Verdict
from simhash_gate.settings import NAMES, TABLE, read_settings
from simhash_gate.values import PREFIX
from tests.crawls.harness import ROOT, page

SETTINGS = (ROOT / "docs/settings.md").read_text("utf-8")
REFERENCE = (ROOT / "docs/reference.md").read_text("utf-8")
COMMANDS = (ROOT / "docs/commands.md").read_text("utf-8")
LIBRARY = (ROOT / "docs/library.md").read_text("utf-8")
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "examples").glob("**/README.md")),
]
MADE = {"STORE", "WORKERS"}  # what they are depends on the crawl and the machine


def test_every_setting_is_documented_and_every_documented_one_exists() -> None:
    assert set(re.findall(r"SIMHASH_GATE_[A-Z_]+", SETTINGS)) == set(NAMES)
    read = [*DOCUMENTS, *(ROOT / "examples").rglob("*.py"), *(ROOT / "simhash_gate").rglob("*.py")]
    for path in read:
        named = set(re.findall(r"\bSIMHASH_GATE_[A-Z_]*[A-Z]", path.read_text("utf-8")))
        assert named <= set(NAMES), path


def test_the_pictures_name_no_setting_that_is_not_there() -> None:
    """What `.ci/pictures.py` makes says in the file which settings can be read in it."""
    pictures = {path.name: path.read_bytes() for path in (ROOT / "docs/img").iterdir()}
    assert b"tEXtSettings\0" in pictures["report.png"]
    for name, data in pictures.items():
        assert set(re.findall(r"SIMHASH_GATE_[A-Z_]*[A-Z]", data.decode("latin-1"))) <= set(
            NAMES
        ), name


def test_the_site_has_the_rows_of_the_readme_as_sections_and_each_page_once() -> None:
    config = SimpleNamespace(extra_css=[])
    runpy.run_path(str(ROOT / ".ci/site.py"))["on_config"](config)
    home, *sections = config.nav
    names, pages = zip(*chain.from_iterable(each.items() for each in sections), strict=True)
    assert names[0] == "Set it up, and look things up"
    assert names[-2:] == ("Examples", "More")
    assert (home, len(names)) == ("index.md", 5 + 2)
    listed = Counter(chain.from_iterable(pages))
    assert {path.name for path in (ROOT / "docs").glob("*.md")} <= set(listed)
    assert set(listed.values()) == {1}


def test_the_documented_defaults_and_meanings_are_those_of_the_table() -> None:
    pattern = r"^\| `(SIMHASH_GATE_[A-Z_]+)` \| (.*?) \| .*? \| (.*) \| `\1"
    rows = {name: told for name, *told in re.findall(pattern, SETTINGS, re.MULTILINE)}
    assert set(rows) == set(NAMES)
    for name, setting in TABLE.items():
        default, meaning = rows[name]
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", meaning)
        assert plain.startswith(setting.metadata["meaning"]), name
        if name.removeprefix(PREFIX) not in MADE:
            documented = eval(default.split("`")[1])
            assert setting.metadata["kind"].of(name, documented) == setting.default, name


def test_the_settings_of_one_domain_and_of_one_request_are_named() -> None:
    flat = " ".join(SETTINGS.split())
    of_domain = {each.name: each.metadata for each in TABLE.values() if each.name in POLICY_KINDS}
    for begin, expected in (
        ("The keys of a domain are", set(of_domain)),
        ("A request can't set", {name for name in of_domain if not of_domain[name]["of_request"]}),
    ):
        named = re.findall(r"`(\w+)`", flat.partition(begin)[2].partition(".")[0])
        assert set(named) == expected


def test_every_setting_has_an_example_that_is_allowed() -> None:
    shown = dict(re.findall(r"\| `(SIMHASH_GATE_\w+) = ([^`]+)` \|$", SETTINGS, re.MULTILINE))
    assert set(shown) == set(NAMES)
    for name, value in shown.items():
        read_settings({name: eval(value)})


def test_every_meta_key_signal_and_verdict_attribute_is_documented() -> None:
    from simhash_gate.plugin import requests, signals  # these load Scrapy

    keys = [value for name, value in vars(requests).items() if name.endswith("_KEY")]
    assert len(keys) >= 4
    for key in keys:
        assert f"`{key}`" in REFERENCE
    for name in vars(signals):
        if not name.startswith("_"):
            assert name in REFERENCE
    for attribute in [f.name for f in dataclasses.fields(Verdict)]:
        assert attribute == "record" or f"`{attribute}`" in REFERENCE


def test_every_command_and_option_is_documented_and_every_documented_one_exists() -> None:
    """The page names the options; the site says what `--help` says of each."""
    site = runpy.run_path(str(ROOT / ".ci/site.py"))["with_options"](COMMANDS)
    pages = []
    for text in (COMMANDS, site):
        parts = re.split(r"^## `simhash-gate (\w+)", text, flags=re.MULTILINE)
        pages.append(dict(zip(parts[1::2], parts[2::2], strict=True)))
        assert set(pages[-1]) == set(COMMAND_NAMES)
    here, made = pages
    for name in COMMAND_NAMES:
        command = cli.get_command(None, name)
        inner = command.commands if isinstance(command, click.Group) else {}
        assert set(re.findall(rf"^\| `{name} (\w+)`", here[name], re.MULTILINE)) == set(inner)
        options = {
            option
            for each in [command, *inner.values()]
            for option in each.params
            if isinstance(option, click.Option)
        }
        flags = {flag for each in options for flag in [*each.opts, *each.secondary_opts]}
        line = re.search(r"^Options: .*", here[name], re.MULTILINE)
        named = re.findall(r"`(-[-\w]+)`", line[0]) if line else []
        assert set(named) == {each.opts[0] for each in options} - {"--progress", "-q"}
        assert set(re.findall(r"`(--?\w[-\w]*)", here[name])) <= flags | {"--help"}
        rows = re.findall(r"^\| (`-.*?) \| (.*) \|$", made[name], re.MULTILINE)
        assert {flag for cell, _ in rows for flag in re.findall(r"`(-[-\w]+)", cell)} == flags
        for cell, told in rows:
            assert len(told.split()) > 3, cell


def anchors(text: str) -> set[str]:
    """Return the names that GitHub gives to the headings of a document."""
    without_code = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", without_code, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_between_the_documents_lead_somewhere() -> None:
    for path in DOCUMENTS:
        for link in re.findall(r"\]\((?!https?:)([^)]+)\)", path.read_text("utf-8")):
            name, _, anchor = link.partition("#")
            target = path.parent / name if name else path
            assert target.exists(), f"{path.name}: {link}"
            if anchor:
                assert anchor in anchors(target.read_text("utf-8")), f"{path.name}: {link}"


def test_the_examples_run(monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pages").mkdir()
    for name, seed in (("a", 1), ("b", 2), ("copy", 1)):
        (tmp_path / f"pages/{name}.html").write_bytes(page(seed, noise=len(name)).body)
    for path in DOCUMENTS:
        for code in re.findall(r"```python\n(.*?)```", path.read_text("utf-8"), re.DOTALL):
            exec(compile(code, path.name, "exec"), {})
    corpus = (tmp_path / "corpus.jsonl").read_text("utf-8").splitlines()  # of library.md
    assert [json.loads(line)["path"] for line in corpus] == ["pages/a.html", "pages/b.html"]


def test_the_answers_of_the_library_are_those_that_it_gives() -> None:
    prompts = "\n".join(re.findall(r"```pycon\n(.*?)```", LIBRARY, re.DOTALL))
    example = doctest.DocTestParser().get_doctest(prompts, {}, "library.md", None, None)
    results = doctest.DocTestRunner().run(example)
    assert results.attempted > 20
    assert results.failed == 0


def test_every_public_name_is_there_and_documented() -> None:
    table = LIBRARY.partition("## All public names")[2]
    for name in simhash_gate.__all__:
        assert re.search(rf"`{name}[(`]", table), name
        assert getattr(simhash_gate, name).__name__ == name
