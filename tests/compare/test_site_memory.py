"""What a site repeats, and what that is worth in a verdict."""

from contextlib import closing

from simhash_gate.compare.contradictions import contradiction
from simhash_gate.compare.site_memory import MOST_SENTENCES, OTHERS, SiteMemories, SiteMemory
from simhash_gate.compare.sketch import Sketch
from simhash_gate.fingerprints.lines import NO_LINES, Kind
from simhash_gate.stores import open_store
from tests.fingerprints.made_lines import lines_of

NOTES = [f"note {number} of the site on delivery and returns" for number in range(9)]
NOTE = int(lines_of(NOTES[0]).keys[0])


def own(number: int) -> str:
    return f"what page {number} has to say and no other"


def a_memory(pages: int) -> SiteMemory:
    memory = SiteMemory()
    for number in range(1, pages + 1):
        memory.learn(number, lines_of(*NOTES, own(number)))
    return memory


def test_what_three_other_names_have_is_the_sites_however_often_each_is_met() -> None:
    memory = a_memory(OTHERS - 1)
    memory.learn(1, lines_of(*NOTES))
    assert not memory.is_repeated(9, NOTE)
    memory = a_memory(OTHERS)
    assert memory.is_repeated(9, NOTE)
    assert not memory.is_repeated(1, NOTE)
    assert a_memory(OTHERS + 1).is_repeated(1, NOTE)
    assert not memory.is_repeated(9, int(lines_of(own(1)).keys[0]))
    assert memory.share(9, lines_of(*NOTES, own(9))) == 0.9, "of the words"
    assert memory.share(9, NO_LINES) == 0


def test_what_a_page_shows_beside_what_it_says_is_not_learned() -> None:
    memory = SiteMemory()
    for number in range(1, OTHERS + 1):
        memory.learn(number, lines_of(*NOTES, kind=Kind.LINK))
    assert not memory.is_repeated(9, NOTE)


def test_where_three_pages_of_other_names_have_moved_the_template_moves() -> None:
    memory = SiteMemory()
    for number in range(1, OTHERS + 1):
        assert not memory.moves(9, 77)
        memory.learn_moves(number, [77])
        memory.learn_moves(number, [77])
    assert memory.moves(9, 77)
    assert not memory.moves(1, 77), "itself and two others"
    assert not memory.moves(9, 78)
    assert SiteMemory(memory.encode()).moves(9, 77)


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
    other.learn(3, lines_of(*NOTES))
    other.learn(4, lines_of(*NOTES))
    one = SiteMemory(a_memory(2).encode(), other.encode(), b"cut off")
    again = SiteMemory(one.encode(), one.encode())
    other.merge(a_memory(2).encode())
    other.merge(b"damaged")
    for memory in (one, again, other):
        assert memory.is_repeated(9, NOTE)
        assert not memory.is_repeated(9, int(lines_of(own(1)).keys[0]))
        assert len(memory) == len(NOTES) + 2, "sentences without their numbers"


def test_a_memory_is_bounded_and_keeps_what_the_site_repeats() -> None:
    memory = a_memory(OTHERS)
    for number in range(2 * MOST_SENTENCES):
        memory.learn(100, lines_of(own(10**6 + number)))
    assert len(memory) <= MOST_SENTENCES
    assert memory.is_repeated(9, NOTE)


def test_the_memory_of_a_scope_is_its_own(tmp_path) -> None:
    with closing(open_store(f"sqlite:///{tmp_path}/store.sqlite")) as store:
        memories = SiteMemories(store, most=250)  # two scopes
        memories.of("a").learn(1, lines_of(*NOTES))
        assert len(memories.of("a")) == len(NOTES) + 1
        memories.of("a").learn(2, lines_of(*NOTES[1:]))
        # What does not fit into memory goes into the store; it keeps what several pages have.
        assert len(memories.of("b")) == len(memories.of("c")) == 0
        assert len(memories.of("a")) == len(NOTES[1:]) + 1
