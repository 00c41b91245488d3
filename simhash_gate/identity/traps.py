"""The trap shield: endless URL spaces are known by what their pages bring.

Each shape of URLs has a budget of fetches that bring nothing: pages that are duplicates, or say
nothing new under no new name, and lead to no page that does. Requests that were found on fruitless
pages of the same group have a budget of their own: a trap leads deeper from its own pages, real
pages are linked from elsewhere, too. A group of shapes has one as well, for shapes that have not
shown a yield of their own. A maze has new text on each page; it is known by its links.

Nothing here fetches or holds back: `ask` says what is to be done, `told` takes what became of it.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from simhash_gate.identity.trap_budget import Budget
from simhash_gate.identity.trap_contents import Contents, Novelty, stable_hash
from simhash_gate.identity.trap_maze import Known, Maze
from simhash_gate.identity.trap_shapes import TrapShapes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from simhash_gate.fingerprints.gist import Gist

Why = Literal["", "barren", "endless"]
"""Why a request is held back: its shape brings nothing, or leads to ever more of the same."""

MOST_SCOPES = 1_000
MOST_SHAPES = 500
"""Of one scope."""
MOST_SHAPES_IN_ALL = 20_000
MOST_KNOWN_IN_ALL = 200_000

_PROVEN = 5
_PROVEN_SHARE = 0.2
_FIRSTS = 16  # shapes of a limited group of which one page is fetched to look


class Origin(NamedTuple):
    """Where a request was found: the page, its shape, its group, and whether it brought nothing.

    `deep` tells in which budget of its shape the page was counted.
    """

    url: str
    shape: str
    group: str
    barren: bool
    deep: bool


@dataclass(eq=False, slots=True)
class Group:
    """TrapShapes that begin alike, or have the same parameters."""

    name: str
    budget: Budget = field(default_factory=Budget)
    maze: Maze = field(default_factory=Maze)
    of_maze: Budget = field(default_factory=Budget)
    firsts: int = _FIRSTS


@dataclass(eq=False, slots=True)
class ShapeOfUrls:
    """What is known of one shape: a budget for what was found on fruitless pages of its group
    (`deep`), and one for all other requests."""

    name: str
    group: Group
    keys: Group | None = None
    other: Budget = field(default_factory=Budget)
    deep: Budget = field(default_factory=Budget)
    tried: bool = False

    @property
    def groups(self) -> list[Group]:
        """The groups that it belongs to."""
        return [self.group] if self.keys is None else [self.group, self.keys]

    @property
    def fetched(self) -> int:
        """How many of its pages were judged."""
        return self.other.fetched + self.deep.fetched

    @property
    def proven(self) -> bool:
        """Whether it has shown a yield of its own, whatever its group brings."""
        fruits = self.other.fruits + self.deep.fruits
        return fruits >= _PROVEN and fruits >= _PROVEN_SHARE * self.fetched


@dataclass(eq=False, slots=True)
class Visit:
    """One request: what the shield says of it, and what it is counted under.

    It is found `inside` if that was on a page of its own group. `why` it is held back is "" for one
    that goes on; a `probe` goes on though there is a reason.
    """

    url: str
    scope: str
    shape: ShapeOfUrls
    origin: Origin | None
    inside: bool
    deep: bool
    budget: Budget
    why: Why = ""
    probe: bool = False
    barren: bool = False

    @property
    def held(self) -> bool:
        """Whether the request is held back."""
        return bool(self.why) and not self.probe

    @property
    def as_origin(self) -> Origin:
        """Return what is noted on the requests that its page leads to."""
        shape = self.shape
        return Origin(self.url, shape.name, shape.group.name, self.barren, self.deep)


class Change(NamedTuple):
    """A shape, or a group of them, was limited or recovers; `why` it was limited."""

    limited: bool
    why: Why
    shape: str
    budget: Budget
    examples: tuple[str, ...] = ()


@dataclass(eq=False, slots=True)
class _Scope:
    urls: TrapShapes = field(default_factory=TrapShapes)
    shapes: OrderedDict[str, ShapeOfUrls] = field(default_factory=OrderedDict)
    groups: dict[str, Group] = field(default_factory=dict)
    known: Known = field(default_factory=Known)


class TrapShield:
    """Says of each request whether it leads into a trap. Its memory is bounded.

    It can be pickled: its hashes are the same in every process.
    """

    def __init__(self) -> None:
        self.contents = Contents()
        self._scopes: OrderedDict[str, _Scope] = OrderedDict()
        self._shapes = self._known = 0

    def __len__(self) -> int:
        """How many shapes are remembered."""
        return self._shapes

    def visit(self, url: str, scope: str, origin: Origin | None) -> Visit:
        """Return a request, found on a page or on none, with what it is counted under."""
        shape = self._shape(scope, url)
        inside = origin is not None and self._is_inside(scope, origin, shape.group)
        deep = inside and origin is not None and origin.barren
        return Visit(url, scope, shape, origin, inside, deep, shape.deep if deep else shape.other)

    def _is_inside(self, scope: str, origin: Origin, group: Group) -> bool:
        """Tell if a page is of a group: by its own when it was fetched, or by what is known now."""
        if origin.group == group.name:
            return True
        return (
            "*" in origin.group and self._scopes[scope].urls.groups_of(origin.url)[0] == group.name
        )

    def ask(self, url: str, scope: str, origin: Origin | None) -> Visit:
        """Return a request with what is to be done with it."""
        visit = self.visit(url, scope, origin)
        shape, group = visit.shape, visit.shape.group
        poor = None
        if not shape.proven:
            poor = next((each for each in shape.groups if each.budget.limited), None)
        if visit.budget.limited:
            visit.why = "barren"
        elif poor is not None:
            if not shape.fetched and not shape.tried and poor.firsts > 0:
                poor.firsts -= 1
                shape.tried = True
                return visit
            visit.why, visit.budget = "barren", poor.budget
        elif group.maze.endless and visit.inside:
            visit.why, visit.budget = "endless", group.of_maze
        if visit.why:
            visit.probe = visit.budget.probe()
        return visit

    def told(
        self,
        visit: Visit,
        *,
        passed: bool,
        title: str,
        gist: Gist,
        links: Callable[[], Collection[str]],
    ) -> list[Change]:
        """Take what became of a request that was fetched; return what changes with it.

        `links` are the absolute URLs of the page; they are asked for only where they may tell.
        """
        novelty = self.contents.learn(visit.scope, title, gist)
        visit.barren = not (passed and _is_new(visit, novelty))
        if visit.held:  # fetched all the same, by a shield that only observes
            return []
        changes = self._barren(visit) if visit.barren else self._fruitful(visit)
        return changes + self._followed(visit, novelty, links)

    def _barren(self, visit: Visit) -> list[Change]:
        shape = visit.shape
        budget = shape.deep if visit.deep else shape.other
        changes = []
        if budget.spend(visit.url):
            changes.append(Change(True, "barren", shape.name, budget, tuple(budget.examples)))
        for group in [] if shape.proven else shape.groups:
            if group.budget.spend(visit.url):
                group.firsts = _FIRSTS
                examples = tuple(group.budget.examples)
                changes.append(Change(True, "barren", group.name, group.budget, examples))
        return changes

    def _fruitful(self, visit: Visit) -> list[Change]:
        shape = visit.shape
        changes = _gain(shape, deep=visit.deep)
        origin = visit.origin
        if origin is not None and origin.barren:
            scope = self._scopes.get(visit.scope)
            parent = scope.shapes.get(origin.shape) if scope else None
            if parent is not None and not parent.group.maze.suspect:
                changes += _gain(parent, deep=origin.deep, fetched=False)
        return changes

    def _followed(
        self, visit: Visit, novelty: Novelty, links: Callable[[], Collection[str]]
    ) -> list[Change]:
        """Look where a page leads, if it may be one of a maze."""
        group, scope = visit.shape.group, self._scopes.get(visit.scope)
        if scope is None or visit.origin is None:
            return []
        maze = group.maze
        if not visit.inside:
            maze.outside()
            return []
        if maze.resting():
            return []
        page = stable_hash(visit.url)
        before = len(scope.known)
        scope.known.add(page, stable_hash(visit.origin.url))
        own = {stable_hash(url) for url in links() if _leads_deeper(scope, group, url)}
        was = maze.endless
        maze.step(own, scope.known, page, novelty.words)
        self._known += len(scope.known) - before
        while self._known > MOST_KNOWN_IN_ALL and len(self._scopes) > 1:
            self._let_go()
        if maze.endless == was:
            return []
        budget = group.of_maze
        budget.held = 0
        budget.limited = maze.endless
        examples = (visit.origin.url, visit.url)
        return [Change(maze.endless, "endless", group.name, budget, examples)]

    def _shape(self, name: str, url: str) -> ShapeOfUrls:
        scope = self._scopes.get(name)
        if scope is None:
            scope = self._scopes[name] = _Scope()
            if len(self._scopes) > MOST_SCOPES:
                self._let_go()
        self._scopes.move_to_end(name)
        found = scope.urls.of(url)
        shape = scope.shapes.get(found.name)
        if shape is None:
            keys = _group(scope, found.keys) if found.keys else None
            shape = ShapeOfUrls(found.name, _group(scope, found.group), keys)
            scope.shapes[found.name] = shape
            self._shapes += 1
            self._make_room(scope)
        scope.shapes.move_to_end(found.name)
        return shape

    def _make_room(self, scope: _Scope) -> None:
        while len(scope.shapes) > MOST_SHAPES:
            scope.shapes.popitem(last=False)
            self._shapes -= 1
        if len(scope.groups) > 2 * MOST_SHAPES:
            left = [group for shape in scope.shapes.values() for group in shape.groups]
            scope.groups = {group.name: group for group in left}
        while self._shapes > MOST_SHAPES_IN_ALL and len(self._scopes) > 1:
            self._let_go()

    def _let_go(self) -> None:
        """Forget the scope that was met longest ago."""
        _, scope = self._scopes.popitem(last=False)
        self._shapes -= len(scope.shapes)
        self._known -= len(scope.known)


def _is_new(visit: Visit, novelty: Novelty) -> bool:
    """Tell if what a page says is worth a fetch."""
    if visit.inside and visit.shape.group.maze.suspect:
        return novelty.mostly
    return novelty.content or (novelty.name and not visit.inside)


def _leads_deeper(scope: _Scope, group: Group, url: str) -> bool:
    """Tell if a URL belongs to a group, or to one that brings nothing."""
    name, keys = scope.urls.groups_of(url)
    if name == group.name:
        return True
    others = [other for key in (name, keys) if (other := scope.groups.get(key))]
    return any(other.budget.limited or other.maze.endless for other in others)


def _group(scope: _Scope, name: str) -> Group:
    group = scope.groups.get(name)
    if group is None:
        group = scope.groups[name] = Group(name)
    return group


def _gain(shape: ShapeOfUrls, *, deep: bool, fetched: bool = True) -> list[Change]:
    """Give a shape, and its group, something back."""
    budget = shape.deep if deep else shape.other
    groups = [] if shape.proven else shape.groups
    changes = []
    if budget.gain(fetched=fetched):
        changes.append(Change(False, "barren", shape.name, budget))
    changes += [
        Change(False, "barren", group.name, group.budget)
        for group in groups
        if group.budget.gain(fetched=fetched)
    ]
    return changes
