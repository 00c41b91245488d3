"""What a site repeats, and what that is worth in a verdict."""

from contextlib import closing

from simhash_gate.compare.contradictions import contradiction
from simhash_gate.compare.site_memory import MOST_SENTENCES, OTHERS, SiteMemories, SiteMemory
from simhash_gate.compare.sketch import Sketch
from simhash_gate.stores import open_store

NOTES = [(number, 10) for number in range(9)]


def a_memory(pages: int) -> SiteMemory:
    memory = SiteMemory()
    for number in range(1, pages + 1):
        memory.learn(number, [*NOTES, (1000 + number, 10)])
    return memory


def test_what_three_other_names_have_is_the_sites_however_often_each_is_met() -> None:
    memory = a_memory(OTHERS - 1)
    memory.learn(1, NOTES)
    assert not memory.is_repeated(9, 0)
    memory = a_memory(OTHERS)
    assert memory.is_repeated(9, 0)
    assert not memory.is_repeated(1, 0)
    assert a_memory(OTHERS + 1).is_repeated(1, 0)
    assert not memory.is_repeated(9, 1001)
    assert memory.share(9, [*NOTES, (7777, 10)]) == 0.9, "of the words"
    assert memory.share(9, []) == 0


def test_a_headline_that_pages_have_beside_other_names_is_none_of_theirs() -> None:
    memory = SiteMemory()
    kept, new, *others = (
        Sketch("Contact us", (it,)) for it in ("Epoxy", "Epoxy II", "A", "B", "C")
    )
    for page in (kept, *others[: OTHERS - 1]):
        assert memory.own_names(new).headline == "Contact us"
        memory.learn_names(page.all_names)
    pages = memory.own_names(kept), memory.own_names(new)
    assert [page.all_names for page in pages] == [("Epoxy",), ("Epoxy II",)]
    assert contradiction(*pages)


def test_memories_of_a_scope_become_one_and_a_damaged_one_is_left_out() -> None:
    other = SiteMemory()
    other.learn(3, NOTES)
    other.learn(4, NOTES)
    one = SiteMemory(a_memory(2).encode(), other.encode(), b"cut off")
    again = SiteMemory(one.encode(), one.encode())
    other.merge(a_memory(2).encode())
    other.merge(b"damaged")
    for memory in (one, again, other):
        assert memory.is_repeated(9, 0)
        assert not memory.is_repeated(9, 1001)
        assert len(memory) == len(NOTES)


def test_a_memory_is_bounded_and_keeps_what_the_site_repeats() -> None:
    memory = a_memory(OTHERS)
    for number in range(2 * MOST_SENTENCES):
        memory.learn(100, [(10**6 + number, 10)])
    assert len(memory) <= MOST_SENTENCES
    assert memory.is_repeated(9, 0)


def test_the_memory_of_a_scope_is_its_own(tmp_path) -> None:
    with closing(open_store(f"sqlite:///{tmp_path}/store.sqlite")) as store:
        memories = SiteMemories(store, most=250)  # two scopes
        memories.of("a").learn(1, NOTES)
        assert len(memories.of("a")) == len(NOTES)
        memories.of("a").learn(2, NOTES[1:])
        # What does not fit into memory goes into the store; it keeps what several pages have.
        assert len(memories.of("b")) == len(memories.of("c")) == 0
        assert len(memories.of("a")) == len(NOTES) - 1


def test_what_is_repeated_is_known_by_the_beginning_of_its_hash() -> None:
    memory = SiteMemory()
    for number in range(1, OTHERS + 1):
        memory.learn(number, [(0xABCD0000, 9), (0x12340000, 9), (number << 16, 9)])
    assert memory.are_repeated(9, [0xABCD, 0x1234], 16)
    assert not memory.are_repeated(9, [0xABCD, 0x0001], 16), "one page has it"
    assert not memory.are_repeated(1, [0xABCD], 16), "two others have it"
    assert not memory.are_repeated(9, [], 16)
