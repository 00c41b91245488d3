"""What rules spare and lose: sites that are made, and stored pages."""

import json

import pytest

from benchmarks.urls.__main__ import main
from benchmarks.urls.sites import Forum
from tests.crawls.harness import page


def rows(printed: str) -> dict[str, list[str]]:
    """Return the cells of each row of a table, by the first one."""
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in printed.splitlines()]
    return {first: rest for first, *rest in cells[2:]}


def test_rules_of_a_forum_spare_most_and_lose_nothing_but_what_fails(capsys) -> None:
    assert main(["forum", "--articles", "40"]) == 0
    found = rows(capsys.readouterr().out)
    fetches, avoidable, by_names, by_rules, contents, lost, rules = found["forum"]
    assert int(fetches.replace(",", "")) - int(contents) == int(avoidable.replace(",", ""))
    assert float(by_rules[:-1]) > 90 > float(by_names[:-1]) > 80
    assert (lost, rules) == ("0", "4")
    assert int(found["forum, 1 address in 25 fails"][-2]) < int(contents) / 25


def test_a_forum_shows_what_its_addresses_ask_for() -> None:
    forum = Forum(20, 1)
    one = forum("http://forum.example/viewtopic.php?t=3&start=0")
    assert one.content == forum("http://forum.example/viewtopic.php?f=9&t=3&sid=1").content
    assert one.content == forum("http://forum.example/viewtopic.php?t=2&view=next").content
    assert one.content != forum("http://forum.example/viewtopic.php?t=3&start=10").content
    assert forum("http://forum.example/viewtopic.php?t=0&view=previous") is None


@pytest.mark.parametrize("copies", [True, False])
def test_stored_pages_are_two_crawls(tmp_path, capsys, copies: bool) -> None:
    lines = []
    for number in range(60):
        for name in ("", "&ref=1"):  # every other page is of the second crawl
            for _ in range(2):
                path = tmp_path / f"{len(lines)}.html"
                seed = len(lines) // 4 if copies else len(lines)
                path.write_bytes(page(seed, noise=len(lines), words=60).body)
                url = f"https://example.com/{len(lines) % 2}?id={number}{name}"
                lines.append(json.dumps({"path": str(path), "url": url}))
    manifest = tmp_path / "pages.jsonl"
    manifest.write_text("\n".join(lines))
    assert main(["--pages", str(manifest)]) == 0
    *_, by_rules, contents, lost, rules = rows(capsys.readouterr().out)["stored pages"]
    found = (by_rules, contents, lost, rules)
    assert found == (("100.0%", "60", "0", "1") if copies else ("–", "120", "0", "0"))
