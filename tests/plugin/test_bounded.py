"""What is kept within a number of bytes: the values that were used last."""

from simhash_gate.plugin.reading import Bounded


def test_what_was_used_longest_ago_goes_first_and_a_value_may_grow() -> None:
    kept: Bounded[str, str] = Bounded(10)
    assert [kept.put(name, name.upper(), 4) for name in "ab"] == [[], []]
    assert kept.get("a") == "A"
    assert kept.put("c", "C", 4) == ["B"]
    assert kept.get("b") is None
    assert kept.put("c", "CC", 6) == []
    assert kept.put("c", "CCC", 7) == ["A"]
    assert kept.put("d", "D", 11) == ["CCC", "D"]


def test_their_number_is_bounded_too() -> None:
    kept: Bounded[int, int] = Bounded(100, 2)
    assert [kept.put(n, n, 1) for n in range(4)] == [[], [], [0], [1]]
