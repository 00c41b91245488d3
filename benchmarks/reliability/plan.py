"""What happens in a round, all drawn from its seed: what there is to crawl, by whom, and how."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from benchmarks.reliability.faults import Fault, random_faults
from benchmarks.reliability.scenes import Site, random_site

STORES = {"memory": 2, "sqlite": 6, "redis": 3, "postgresql": 3}
"""How often which store is taken."""
ALWAYS = -1


@dataclass
class Crawl:
    """One process of a round.

    It begins once the crawl `after` has ended, and `beside` has had so many answers. `starts` are
    the paths that it begins with. `fails`, `item_fails` and `export_fails` say how often a path's
    callback, its item in a pipeline, or its export fails; those in `late` fail after their item.
    Of its outputs `feeds` counts the feed files, with `batch` items each if that is not 0.
    """

    name: str
    starts: list[str]
    after: str = ""
    beside: tuple[str, int] | None = None
    job: str = ""
    durable: str = "run"
    workers: int = 0
    concurrency: int = 8
    feeds: int = 1
    batch: int = 0
    sink: bool = False
    commit: bool = False
    feed_on: str = "folder"
    """`folder`; `disk`, a small one; `nowhere`; `blocked`: the second file can't be opened."""
    file_limit: int = 0
    commit_fails: bool = False
    fails: dict[str, int] = field(default_factory=dict)
    late: list[str] = field(default_factory=list)
    item_fails: dict[str, int] = field(default_factory=dict)
    export_fails: dict[str, int] = field(default_factory=dict)
    holds: dict[str, float] = field(default_factory=dict)
    hold: float = 0.0
    item_delay: float = 0.0

    @property
    def storage_fails(self) -> bool:
        """Whether the plan keeps items from the disk other than by a kill."""
        return bool(
            self.feed_on != "folder" or self.file_limit or self.commit_fails or self.export_fails
        )


@dataclass
class AnyPlan:
    """A round: the same for the same seed and number, but for the moments of a busy machine."""

    seed: int
    number: int
    store: str


@dataclass
class Plan(AnyPlan):
    """A round on a site made for it."""

    verify: bool
    action: str
    revisit: str
    disk: int
    site: Site
    crawls: list[Crawl]
    faults: list[Fault]


def random_plan(seed: int, number: int, stores: tuple[str, ...] = tuple(STORES)) -> Plan:
    """Return round `number` of a seed, on one of these stores."""
    rng = Random(f"{seed}/{number}")
    store = rng.choices(stores, [STORES[name] for name in stores])[0]
    site = random_site(rng, f"{seed}/{number}")
    crawls = _crawls(rng, store, site)
    return Plan(
        seed,
        number,
        store,
        verify=rng.random() < 0.25,
        action=rng.choices(["drop", "links", "tag"], [7, 2, 1])[0],
        revisit=rng.choice(["pass", "drop"]),
        disk=rng.choice([4, 8, 16, 32]) * 1024,
        site=site,
        crawls=crawls,
        faults=random_faults(rng, store, [crawl.name for crawl in crawls], len(site.pages)),
    )


def cleaning(plan: Plan) -> Crawl:
    """Return the crawl that comes last: nothing befalls it, and it asks for everything."""
    return Crawl("clean", [*plan.site.listings, *plan.site.pages], sink=True)


def _crawls(rng: Random, store: str, site: Site) -> list[Crawl]:
    most = 2 if store == "memory" else 4
    count = min(most, rng.choices([1, 2, 3, 4], [8, 8, 3, 2])[0])
    parts = count > 1 and rng.random() < 0.3
    crawls: list[Crawl] = []
    for number in range(count):
        crawl = Crawl(f"crawl{number}", [next(iter(site.listings))])
        if parts:
            crawl.starts = list(site.pages)[number::count]
        elif rng.random() < 0.3:
            crawl.starts = list(site.pages)
        if crawls:
            other = rng.choice(crawls).name
            if rng.random() < 0.35:
                crawl.after = other
            elif rng.random() < 0.5:
                crawl.beside = (other, rng.randint(1, len(site.pages)))
        _job(rng, crawl, crawls)
        crawl.workers = rng.choices([0, 1, 2], [6, 3, 1])[0]
        crawl.concurrency = rng.choice([1, 4, 8, 16])
        crawl.hold = rng.choice([0, 0, 0.02, 0.1])
        crawl.item_delay = rng.choice([0, 0, 0.02, 0.1])
        _failures(rng, crawl, site)
        _outputs(rng, crawl, store, site)
        crawls.append(crawl)
    return crawls


def _job(rng: Random, crawl: Crawl, earlier: list[Crawl]) -> None:
    """Let the crawl have a JOBDIR: one of its own, or that of a crawl that has ended before."""
    resumed = next((other.job for other in earlier if other.name == crawl.after and other.job), "")
    taken = {other.job for other in earlier if other.name != crawl.after}
    if resumed and resumed not in taken and rng.random() < 0.8:
        crawl.job = resumed
    elif rng.random() < 0.25:
        crawl.job = f"job-{crawl.name}"


def _failures(rng: Random, crawl: Crawl, site: Site) -> None:
    crawl.fails = dict(site.fails)
    crawl.holds = dict(site.holds)
    scenes = {path for path in site.pages if not path.startswith("/a/")}
    for path in [path for path in [*site.pages, *site.listings] if path not in scenes]:
        if rng.random() < 0.04:
            crawl.fails[path] = rng.choice([1, 1, ALWAYS])
            crawl.holds[path] = rng.choice([0, 0.1, 0.4])
        elif rng.random() < 0.04:
            crawl.item_fails[path] = rng.choice([1, 1, ALWAYS])
    crawl.late = [path for path in sorted(crawl.fails.keys() - scenes) if rng.random() < 0.2]


def _outputs(rng: Random, crawl: Crawl, store: str, site: Site) -> None:
    if store != "memory" and rng.random() < 0.3:
        # After a kill a feed can lack items that count: the docs say to write them one by one.
        crawl.durable, crawl.feeds, crawl.sink = "page", 0, True
        return
    crawl.feeds = rng.choices([0, 1, 2], [1, 5, 2])[0]
    crawl.batch = rng.choice([0, 0, 5, 9])
    crawl.sink = crawl.feeds == 0 or rng.random() < 0.2
    crawl.commit = rng.random() < 0.15
    trouble = rng.choices(
        ["", "disk", "limit", "nowhere", "blocked", "some", "all", "commit"],
        [12, 2, 1, 1, 1, 1, 1, 1],
    )[0]
    if trouble == "commit":
        crawl.commit = crawl.commit_fails = True
    elif not crawl.feeds:
        return
    elif trouble == "limit":
        crawl.file_limit = rng.choice([8, 16]) * 1024
    elif trouble in ("some", "all"):
        paths = list(site.pages) if trouble == "all" else rng.sample(list(site.pages), 3)
        crawl.export_fails = dict.fromkeys(paths, ALWAYS)
    elif trouble:
        crawl.feed_on = trouble
        if trouble == "blocked":
            crawl.batch = crawl.batch or 5
