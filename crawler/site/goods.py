"""What the shop sells: families of products under one description, with variants and prices."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product as combinations
from random import Random
from typing import NamedTuple

from crawler.site.prose import Writer

CURRENCY = "EUR"

# By department: its categories, with the kinds of things in each.
DEPARTMENTS: dict[str, dict[str, list[str]]] = {
    "workshop": {
        "lighting": ["Desk Lamp", "Clamp Light", "Hand Torch"],
        "tools": ["Block Plane", "Claw Hammer", "Tape Measure"],
    },
    "wardrobe": {
        "outdoor": ["Rain Jacket", "Wool Scarf", "Walking Sock"],
        "cycling": ["Cycling Gloves", "Roll Backpack", "Merino Jersey"],
    },
    "household": {
        "kitchen": ["Stove Kettle", "Enamel Mug", "Bread Tin"],
        "garden": ["Folding Chair", "Picnic Blanket", "Watering Can"],
    },
}
FAMILY_SIZES = [1, 2, 3, 4]
COLOURS = ["Slate", "Moss", "Brick", "Sand", "Navy", "Plum", "Chalk", "Copper"]
SIZES = {
    "workshop": ["Small", "Large", "Extra large"],
    "wardrobe": ["S", "M", "L", "XL"],
    "household": ["0.5 l", "1 l", "2 l"],
}
# How many colours and sizes, among ten products.
OPTIONS = [(0, 0)] * 4 + [(2, 0), (3, 0), (0, 2), (0, 3), (2, 2), (2, 2)]


class Variant(NamedTuple):
    """One choice of a product's options; `price` and `reduced`, the price of a sale, in cents."""

    number: int
    sku: str
    colour: str
    size: str
    price: int
    reduced: int
    stock: int

    @property
    def name(self) -> str:
        """What is chosen, like "Moss / L"; blank where there is nothing to choose."""
        return " / ".join(filter(None, (self.colour, self.size)))


@dataclass(frozen=True)
class Good:
    """One product. `facts` are names and values in turn; all but name and variants is its family's.

    The first of its variants is shown where none is asked for.
    """

    department: str
    category: str
    name: str
    description: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    variants: tuple[Variant, ...]
    on_sale: bool

    @property
    def slug(self) -> str:
        """Its name in addresses."""
        return re.sub(r"\W+", "-", self.name.lower())


class Offer(NamedTuple):
    """A product, a variant of it, and the price it has here."""

    good: Good
    variant: Variant
    reduced: bool = False

    @property
    def cents(self) -> int:
        """The price."""
        return self.variant.reduced if self.reduced else self.variant.price

    @property
    def price(self) -> str:
        """The price as data has it, like 12.90."""
        return amount(self.cents)

    @property
    def id(self) -> str:
        """Number, variant and price: what the truth knows it by."""
        return f"{self.variant.sku};{self.variant.name};{self.price} {CURRENCY}"


def amount(cents: int) -> str:
    """Return an amount of money as data has it."""
    return f"{cents // 100}.{cents % 100:02}"


def make_goods(seed: int, articles: int) -> list[Good]:
    """Return the shop's products, about one for four articles, evenly from all departments.

    Nine at least, so that each department has one: a family has up to four.
    """
    rng = Random(f"{seed}/goods")
    wanted = max(9, articles // 4)
    goods: list[Good] = []
    families = {name: _families(name, rng) for name in DEPARTMENTS}
    known: set[str] = set()
    while len(goods) < wanted:
        sizes = Counter(good.department for good in goods)
        department = min(DEPARTMENTS, key=sizes.__getitem__)
        family = [good for good in next(families[department]) if good.name not in known]
        known.update(good.name for good in family)
        goods += family
    return goods[:wanted]


def _families(department: str, rng: Random) -> Iterator[list[Good]]:
    number = 100 * (1 + list(DEPARTMENTS).index(department))
    while True:
        writer = Writer.of_any_topic(rng)
        category = rng.choice(list(DEPARTMENTS[department]))
        kind = rng.choice(DEPARTMENTS[department][category])
        description = tuple(writer.several("description", rng.randint(1, 3)))
        facts = (
            ("Weight", f"{rng.randint(90, 2400)} g"),
            ("Made in", writer.write("place")),
            ("Guarantee", f"{rng.randint(2, 10)} years"),
        )
        size = rng.choice(FAMILY_SIZES)
        # Names of a family differ in a word, or in the number of the model alone.
        model = writer.write("product") if rng.random() < 0.4 else ""
        family = []
        for member in range(size):
            number += 1
            name = (
                f"{model} {kind} {10 * (member + 2)}"
                if model
                else f"{writer.write('product')} {kind}"
            )
            variants = tuple(_variants(department, number, rng))
            family.append(
                Good(department, category, name, description, facts, variants, rng.random() < 0.3)
            )
        yield family


def _variants(department: str, number: int, rng: Random) -> Iterator[Variant]:
    colours, sizes = rng.choice(OPTIONS)
    price = 100 * rng.randint(4, 180) + rng.choice([0, 50, 90, 95, 99])
    step = rng.choice([0, 200, 350])  # what a larger one costs more
    chosen = list(
        combinations(
            rng.sample(COLOURS, colours) or [""],
            list(enumerate(SIZES[department][:sizes])) or [(0, "")],
        )
    )
    for i, (colour, (rank, size)) in enumerate(chosen):
        code = "-".join(filter(None, (f"{department[0].upper()}{number}", colour[:3], size)))
        cents = price + rank * step
        yield Variant(
            number=40_000_000 + 100 * number + i,
            sku=code.upper().replace(" ", ""),
            colour=colour,
            size=size,
            price=cents,
            reduced=cents * 8 // 10,
            stock=rng.choice([0, 2, 5, 12, 40, 40, 40]),
        )
