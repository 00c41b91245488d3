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
COLOURS = ["Slate", "Moss", "Brick", "Sand", "Navy", "Plum", "Chalk", "Copper"]
SIZES = {
    "workshop": ["Small", "Large", "Extra large"],
    "wardrobe": ["S", "M", "L", "XL"],
    "household": ["0.5 l", "1 l", "2 l"],
}
# How many colours and sizes, among ten products.
OPTIONS = [(0, 0)] * 4 + [(2, 0), (3, 0), (0, 2), (0, 3), (2, 2), (2, 2)]


class Variant(NamedTuple):
    """One choice of a product's options; its price is in cents.

    `name` is what is chosen, like "Moss / L"; blank where there is nothing to choose.
    """

    number: int
    sku: str
    name: str
    price: int
    stock: int


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
    """A product, a variant of it, and whether it has the price of a sale here."""

    good: Good
    variant: Variant
    reduced: bool = False

    @property
    def price(self) -> str:
        """The price as data has it, like 12.90."""
        cents = self.variant.price * 8 // 10 if self.reduced else self.variant.price
        return f"{cents // 100}.{cents % 100:02}"

    @property
    def id(self) -> str:
        """Number, variant and price: what the truth knows it by."""
        return f"{self.variant.sku};{self.variant.name};{self.price} {CURRENCY}"


def make_goods(seed: int, articles: int) -> list[Good]:
    """Return the shop's products, about one for four articles, evenly from all departments.

    Nine at least, so that each department has one: a family has up to four.
    """
    rng = Random(f"{seed}/goods")
    wanted = max(9, articles // 4)
    goods: list[Good] = []
    families = {name: _families(name, 100 * i, rng) for i, name in enumerate(DEPARTMENTS, start=1)}
    while len(goods) < wanted:
        sizes, known = Counter(good.department for good in goods), {good.name for good in goods}
        family = next(families[min(DEPARTMENTS, key=sizes.__getitem__)])
        goods += [good for good in family if good.name not in known]
    return goods[:wanted]


def _families(department: str, number: int, rng: Random) -> Iterator[list[Good]]:
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
        size = rng.randint(1, 4)
        # Names of a family differ in a word, or in the number of the model alone.
        model = writer.write("product") if rng.random() < 0.4 else ""
        family = []
        for member in range(size):
            number += 1
            name = f"{model} {kind} {10 * (member + 2)}" if model else ""
            name = name or f"{writer.write('product')} {kind}"
            variants = tuple(_variants(department, number, rng))
            sale = rng.random() < 0.3
            family.append(Good(department, category, name, description, facts, variants, sale))
        yield family


def _variants(department: str, number: int, rng: Random) -> Iterator[Variant]:
    colours, sizes = rng.choice(OPTIONS)
    price = 100 * rng.randint(4, 180) + rng.choice([0, 50, 90, 95, 99])
    step = rng.choice([0, 200, 350])  # what a larger one costs more
    chosen = combinations(
        rng.sample(COLOURS, colours) or [""],
        list(enumerate(SIZES[department][:sizes])) or [(0, "")],
    )
    for i, (colour, (rank, size)) in enumerate(chosen):
        code = "-".join(filter(None, (f"{department[0].upper()}{number}", colour[:3], size)))
        yield Variant(
            number=40_000_000 + 100 * number + i,
            sku=code.upper().replace(" ", ""),
            name=" / ".join(filter(None, (colour, size))),
            price=price + rank * step,
            stock=rng.choice([0, 2, 5, 12, 40, 40, 40]),
        )
