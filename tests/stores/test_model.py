"""Every store against a list that is searched from end to end."""

import tempfile
from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from simhash_gate.stores import Record, Window, open_store
from tests.stores.kept import (
    PageHistory,
    by_scope,
    forget_history,
    histories,
    history_of,
    keep_history,
    keep_site_memory,
    site_memories,
)

fields = st.fixed_dictionaries(
    {
        "url": st.sampled_from(["https://example.com", "https://example.com/?sid=1"]),
        "base": st.sampled_from([0, 2**64 - 1, 0x9E3779B97F4A7C15]),
        "flips": st.sets(st.integers(0, 63), max_size=10),
        "key": st.sampled_from("uvwxyz"),
        "scope": st.sampled_from("ab"),
        "pipeline": st.sampled_from(["v1", "v1", "v2"]),
        "late": st.integers(-15, 3) | st.sampled_from([-86_400, -(10**9), -(10**10)]),
        "sketch": st.sampled_from([b"", b"nameoffer", b"nameother", b"anotherone"]),
    }
)
visits = st.fixed_dictionaries(
    {"scope": st.sampled_from("ab"), "key": st.sampled_from("uvw"), "late": st.integers(-15, 3)}
)
radii = st.integers(0, 9) | st.sampled_from([12, 40, 64])
windows = st.builds(
    Window,
    pages=st.integers(0, 6) | st.just(10_000),
    seconds=st.none() | st.integers(0, 20).map(float),
)


def distance(a, b):
    return bin(a.fingerprint ^ b.fingerprint).count("1")


def but_for_address(page):
    return replace(page, url="").identity


def run_of(page):
    """Tell of which run it is what a run knows of a page."""
    return page.scope, page.key, page.run


def seen_at(page, at):
    return replace(page, last_seen=max(page.last_seen, at))


def likeness(a, b):
    """How many of these two pages share: the key, what the sketch begins with, the name in it."""
    if a.key == b.key:
        return 3
    return sum(a.sketch[:size] == b.sketch[:size] for size in (4, 8))


class Model:
    """The contract in its plainest form: a list, oldest first."""

    def __init__(self):
        self.kept = []
        self.durable = set()
        self.site_memories = {}
        self.histories = []  # each with its durability
        self.ended = set()

    def compared(self, page, window, refused):
        scope = [other for other in self.kept if other.scope == page.scope]
        inside = scope[max(len(scope) - window.pages, 0) :]
        if window.seconds is not None:
            inside = [o for o in inside if o.last_seen >= page.last_seen - window.seconds]
        refused = [but_for_address(other) for other in refused]
        inside = [other for other in inside if but_for_address(other) not in refused]
        return [other for other in inside if other.pipeline == page.pipeline]

    def named(self, page):
        """What a call names: a page that has moved has one more address in its history."""
        alike = [other for other in self.kept if but_for_address(other) == but_for_address(page)]
        return [other for other in alike if other.url == page.url] or alike

    def best(self, page, radius, compared):
        def worth(item):
            number, other = item
            return likeness(page, other), -distance(page, other), number

        near = [item for item in enumerate(compared) if distance(page, item[1]) <= radius]
        return max(near, key=worth)[1] if near else None

    def see(self, match, page):
        place = next(number for number, other in enumerate(self.kept) if other is match)
        if match.key == page.key:
            self.kept[place] = seen_at(match, page.last_seen)
        return self.kept[place]

    def add(self, page, window):
        self.kept.append(page)
        scope = [other for other in self.kept if other.scope == page.scope]
        while len(scope) > window.pages:
            self.remove(scope.pop(0))
        if window.seconds is not None:
            while scope and scope[0].last_seen < page.last_seen - window.seconds:
                self.remove(scope.pop(0))

    def settle(self, chosen, *, durable=False):
        """Titles tell records of one identity apart: every page has its own."""
        self.kept = [replace(page, settled=True) if chosen(page) else page for page in self.kept]
        if durable:
            self.durable |= {page.title for page in self.kept if chosen(page)}

    def die(self, run):
        self.kept = [page for page in self.kept if page.run != run or page.title in self.durable]
        self.histories = [it for it in self.histories if it[0].run != run or it[1]]
        self.ended.add(run)

    def keep_history(self, history):
        """In place of what the run kept; of what ended runs kept, the last stays."""
        own = [it for it in self.histories if run_of(it[0])[:2] == run_of(history)[:2]]
        goes = [it for it in own if it[0].run in self.ended][:-1]
        goes += [it for it in own if it[0].run == history.run and not it[1]]
        self.histories = [*(it for it in self.histories if it not in goes), [history, False]]

    def make_durable(self, page):
        own = [it for it in self.histories if run_of(it[0]) == run_of(page)]
        for item in own[:-1]:
            self.histories.remove(item)
        for item in own[-1:]:
            item[1] = True

    def forget_history(self, scope, key, run):
        goes = [it for it in self.histories if run_of(it[0])[:2] == (scope, key)]
        goes = [it for it in goes if run in (None, it[0].run)]
        self.histories = [it for it in self.histories if it not in goes]

    def counting(self, run=None):
        """What counts for a run of each page, by scope and key."""
        last = {}
        for own, durable in self.histories:
            if durable or own.run == run or own.run in self.ended:
                last[own.scope, own.key] = own
        return last

    def remove(self, gone):
        self.kept = [other for other in self.kept if other is not gone]


class StoreMachine(RuleBasedStateMachine):
    """Two crawlers on one store (one, where a store is no more than its process)."""

    def __init__(self, new_url):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.url = new_url(self.folder.name)
        self.model = Model()
        self.seen = []
        self.visited = set()
        self.clock = 100.0
        self.names = (f"run {number}/\0\ud800" for number in range(10**6))
        self.crawlers = []

    @initialize()
    def start(self):
        for _ in range(1 if self.url == "memory:" else 2):
            self.crawlers.append([open_store(self.url), None])
        for crawler in self.crawlers:
            self.begin(crawler)

    def begin(self, crawler):
        crawler[1] = next(self.names)
        crawler[0].begin(crawler[1])

    @precondition(lambda self: self.model.kept or self.model.histories)
    @rule(which=st.integers(0, 1))
    def end_and_begin(self, which):
        crawler = self.crawlers[which % len(self.crawlers)]
        crawler[0].end(crawler[1])
        self.model.settle(lambda page: page.run == crawler[1])
        self.model.ended.add(crawler[1])
        self.begin(crawler)

    @precondition(lambda self: self.model.kept or self.model.histories)
    @rule(which=st.integers(0, 1))
    def die(self, which):
        """Close without an end: at the next begin only the durable records of the run are left."""
        crawler = self.crawlers[which % len(self.crawlers)]
        crawler[0].close()
        dead = crawler[1]
        if len(self.crawlers) == 1:
            self.model.kept = []
            self.model.site_memories = {}
            self.model.histories = []
        self.model.die(dead)
        crawler[0] = open_store(self.url)
        self.begin(crawler)

    @rule(
        which=st.integers(0, 1),
        pages=st.lists(fields, min_size=1, max_size=5),
        radius=radii,
        near=st.sampled_from([0, 8, 20]),
        window=windows,
        data=st.data(),
    )
    def check_and_add(self, which, pages, radius, near, window, data):
        for fields in pages:
            self.check_and_add_one(which, fields, radius, near, window, data)

    def check_and_add_one(self, which, fields, radius, near, window, data):
        store, run = self.crawlers[which % len(self.crawlers)]
        self.clock += 1.0
        seen = self.clock + fields["late"]
        page = Record(
            scope=fields["scope"],
            url=fields["url"],
            key=fields["key"],
            fingerprint=fields["base"] ^ sum(1 << bit for bit in fields["flips"]),
            digest=fields["base"],
            words=100,
            title=f"{self.clock}",
            pipeline=fields["pipeline"],
            run=run,
            first_seen=seen,
            last_seen=seen,
            sketch=fields["sketch"],
        )
        refused = data.draw(st.lists(st.sampled_from(self.seen), max_size=3)) if self.seen else []
        compared = self.model.compared(page, window, refused)
        expected = self.model.best(page, radius, compared)
        added, match = store.check_and_add(page, radius, refused, near=near, window=window)
        assert added == (expected is None)
        if added:
            if match:
                assert match.record in compared
                assert radius < match.distance == distance(page, match.record) <= near
            self.model.add(page, window)
            self.seen.append(page)
        else:
            assert match == (self.model.see(expected, page), distance(page, expected))

    @precondition(lambda self: self.seen)
    @rule(which=st.integers(0, 1), data=st.data())
    def forget(self, which, data):
        store, _ = self.crawlers[which % len(self.crawlers)]
        page = data.draw(st.sampled_from(self.seen))
        gone = self.model.named(page)
        assert store.forget(page) == bool(gone)
        for other in gone:
            self.model.remove(other)

    @precondition(lambda self: self.seen)
    @rule(which=st.integers(0, 1), durable=st.booleans(), data=st.data())
    def settle(self, which, durable, data):
        store, _ = self.crawlers[which % len(self.crawlers)]
        pages = data.draw(st.lists(st.sampled_from(self.seen), max_size=3))
        store.update(pages, settled=True, durable=durable)
        titles = {other.title for page in pages for other in self.model.named(page)}
        self.model.settle(lambda page: page.title in titles, durable=durable)
        for page in pages if durable else ():
            self.model.make_durable(page)

    @precondition(lambda self: self.seen)
    @rule(which=st.integers(0, 1), data=st.data())
    def current(self, which, data):
        store, _ = self.crawlers[which % len(self.crawlers)]
        page = data.draw(st.sampled_from(self.seen))
        found = self.model.named(page)
        assert store.current(page) == (found[-1] if found else None)

    @precondition(lambda self: self.seen)
    @rule(which=st.integers(0, 1), later=st.integers(-5, 5), data=st.data())
    def see(self, which, later, data):
        store, _ = self.crawlers[which % len(self.crawlers)]
        page = data.draw(st.sampled_from(self.seen))
        at = self.clock + later
        store.update([page], seen=at)
        named = self.model.named(page)
        self.model.kept = [
            seen_at(other, at) if any(other is it for it in named) else other
            for other in self.model.kept
        ]

    @rule(which=st.integers(0, 1), fields=visits)
    def keep_history(self, which, fields):
        store, run = self.crawlers[which % len(self.crawlers)]
        self.clock += 1.0
        seen = self.clock + fields["late"] + self.clock / 2**20  # no two are equal
        said = f"{self.clock}".encode()
        page = PageHistory(fields["scope"], fields["key"], "https://a.b", run, seen, said)
        keep_history(store, page)
        self.model.keep_history(page)
        self.visited.add((page.scope, page.key))

    @precondition(lambda self: self.model.histories)
    @rule(which=st.integers(0, 1), all_runs=st.booleans(), data=st.data())
    def forget_history(self, which, all_runs, data):
        store, _ = self.crawlers[which % len(self.crawlers)]
        chosen, _ = data.draw(st.sampled_from(self.model.histories))
        run = None if all_runs else chosen.run
        forget_history(store, chosen.scope, chosen.key, run)
        self.model.forget_history(chosen.scope, chosen.key, run)

    @rule(which=st.integers(0, 1), scope=st.sampled_from("ab"), memory=st.binary(min_size=1))
    def keep_site_memory(self, which, scope, memory):
        store, _ = self.crawlers[which % len(self.crawlers)]
        keep_site_memory(store, scope, memory)
        self.model.site_memories[scope] = memory

    @invariant()
    def remembers_the_same(self):
        """Each crawler is asked after every other step: what it does not see lasts."""
        self.crawlers.reverse()
        store, run = self.crawlers[0]
        assert by_scope(store.records()) == by_scope(self.model.kept)
        assert list(store.records("a")) == [p for p in self.model.kept if p.scope == "a"]
        assert site_memories(store) == self.model.site_memories
        told = sorted(self.model.counting().values(), key=lambda history: history.seen)
        assert sorted(histories(store), key=lambda history: history.seen) == told
        counting = self.model.counting(run)
        for scope, key in self.visited:
            own = counting.get((scope, key))
            assert history_of(store, scope, key, run) == (own.history if own else b"")

    def teardown(self):
        for store, _ in self.crawlers:
            store.close()
        self.folder.cleanup()


def test_a_store_does_what_the_model_does(empty_url):
    run_state_machine_as_test(
        lambda: StoreMachine(empty_url),
        settings=settings(max_examples=40, stateful_step_count=40, deadline=None),
    )
