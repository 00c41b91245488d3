"""Products of the site's shop: families share a description under other names, prices and SKUs."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from crawler.site.prose import Writer, grammar


@dataclass(frozen=True)
class Product:
    """One product on sale."""

    sku: str
    name: str
    colour: str
    price: str
    description: tuple[str, ...]

    @property
    def path(self) -> str:
        """Where it is sold."""
        return f"/shop/{self.sku.lower()}"

    @property
    def offer(self) -> str:
        """Number, variant (there is none) and price: what the truth knows the offer by."""
        return f"{self.sku};;{self.price}"


def make_products(seed: int, articles: int) -> list[Product]:
    """Return the shop's products, about one for ten articles: half alone, half in families."""
    rng = Random(f"{seed}/products")
    products: list[Product] = []
    wanted = max(6, articles // 10)
    while len(products) < wanted:
        writer = Writer("en", rng.choice(grammar("en").topics()), rng)
        description = tuple(writer.several("description", rng.randint(3, 8)))
        kind = writer.write("productkind")
        for _ in range(rng.choice([1, 1, 1, 3, 5])):
            products.append(
                Product(
                    sku=f"{rng.choice('ABCDEFGH')}{rng.randint(10, 99)}-{len(products):04}",
                    name=f"{writer.write('product')} {kind}",
                    colour=writer.write("colour"),
                    price=f"{rng.randint(4, 390)}.{rng.choice(['00', '50', '90', '95', '99'])}",
                    description=description,
                )
            )
    return products[:wanted]
