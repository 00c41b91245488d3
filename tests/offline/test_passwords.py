"""No command shows a password that a URL has, wherever the URL comes from."""

import json

import pytest

from simhash_gate.journal.warc import warcinfo
from tests.journal.pages import packed
from tests.offline.kept_pages import record

SECRET = "https://user:secret@example.com/"
SHOWN = "https://example.com/"


@pytest.fixture
def pages(write, manifest):
    """A story, a copy of it, another story, and one that is not there."""
    for name, seed in (("a", 1), ("copy", 1), ("b", 2)):
        write(f"{name}.html", seed, noise=len(name), links='<a href="on">on</a>')
    names = ("a", "copy", "b", "missing")
    return manifest(*({"path": f"{n}.html", "url": SECRET + n} for n in names))


def said(result) -> str:
    """All that a command says, which is something."""
    text = result.out + result.err
    assert text
    assert "Traceback" not in text
    return text


@pytest.mark.parametrize(
    "command",
    [
        "replay {}",
        "fingerprint {}",
        "pairs {} --clusters",
        f"similar {{}} {SECRET}nowhere",
        "report {}",
        f"why a.html b.html --url {SECRET}b --markdown --json",
    ],
)
def test_commands_name_pages_without_passwords(run, pages, command: str) -> None:
    assert "secret" not in said(run(*command.format(pages).split()))


def test_pages_are_found_by_urls_with_passwords(run, pages) -> None:
    result = run("similar", pages, f"{SECRET}a")
    assert result.column("page") == [f"{SHOWN}copy"]
    assert "secret" not in said(result)


def test_a_store_is_filled_listed_and_cleared_without_passwords(
    run, run_with_input, pages, tmp_path
) -> None:
    store = "sqlite:///store.sqlite"
    run("replay", pages, "-s", f"SIMHASH_GATE_STORE={store}")
    listed = run("store", "list", store)
    assert listed.column("url") == [f"{SHOWN}a", f"{SHOWN}b"]
    again = run("replay", pages, "-s", f"SIMHASH_GATE_STORE={store}")
    assert again.column("outcome") == ["unchanged", "duplicate", "unchanged"]
    exported = run("store", "export", store).out
    assert "secret" not in exported
    assert b"secret" not in (tmp_path / "store.sqlite").read_bytes()
    # As a version before this one wrote it.
    old = exported.replace(f'"url": "{SHOWN}', f'"url": "{SECRET}')
    assert "secret" in old
    run_with_input(old, "store", "import", "sqlite:///old.sqlite")
    for arguments in (("store", "export"), ("pairs",), ("report",)):
        assert "secret" not in said(run(*arguments, "sqlite:///old.sqlite"))
    assert "pages removed: 1" in run("store", "forget", store, "--page", f"{SECRET}a").err


def test_the_password_of_a_store_is_shown_nowhere(run, redis_server, tmp_path, fill, url) -> None:
    here, scheme = redis_server.url.partition("://")[2], "redis://default:swordfish@"
    full, empty = (f"{scheme}{here}?prefix={tmp_path}/{name}:" for name in ("full", "empty"))
    fill(record(1))
    (tmp_path / "pages.jsonl").write_text(run("store", "export", url).out)
    assert run("store", "import", full, "pages.jsonl").status == 0
    for command in ("pairs", "replay", "report", "store info"):
        for store in (full, empty):
            assert "swordfish" not in said(run(*command.split(), store))
    assert "swordfish" not in said(run("similar", full, "a.html"))


def test_what_earlier_versions_wrote_shows_no_password(run, pages, manifest, tmp_path) -> None:
    verdicts = [
        json.loads(line.replace(SHOWN, SECRET)) for line in run("replay", pages).out.splitlines()
    ]
    log = manifest(*verdicts, name="log.jsonl")
    for command in ("report", "pairs"):
        assert "secret" not in said(run(command, log))


def test_the_pages_of_a_warc_file_are_listed_without_passwords(run, tmp_path) -> None:
    (tmp_path / "some.warc.gz").write_bytes(warcinfo() + packed(0, url=f"{SECRET}0"))
    result = run("replay", "some.warc.gz")
    assert result.column("url") == [f"{SHOWN}0"]
    assert "secret" not in said(result)
