"""What rules spare and lose: sites that are made."""

from benchmarks.urls.__main__ import main
from benchmarks.urls.sites import Forum


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
