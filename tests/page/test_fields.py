"""What the user's own selectors find on a page."""

from __future__ import annotations

from lxml import html

from simhash_gate.fingerprints.claims import decode_claims, split_claims
from simhash_gate.page.fields import find_fields
from simhash_gate.pipeline import Options, read_page

PAGE = (
    "<html><head><meta itemprop=sku content=D-1></head><body><h1>A <b>drill</b></h1>"
    "<p class=price>19.90 €</p><p class=price>17.90 €</p></body></html>"
)


def test_a_selector_gives_the_text_of_all_that_it_selects_or_an_attribute() -> None:
    selectors = ("h1", ".price", "meta[itemprop=sku]@content", "h2")
    assert find_fields(html.fromstring(PAGE), selectors) == (
        ("h1", "A drill"),
        (".price", "19.90 € 17.90 €"),
        ("meta[itemprop=sku]@content", "D-1"),
        ("h2", ""),
    )


def test_the_fields_of_a_page_are_those_of_its_domain() -> None:
    options = Options(compare=(("", ("h2",)), ("shop.example", ("h1",)), ("old.shop.example", ())))

    def compared(url: str) -> dict[str, str]:
        page = read_page(PAGE.encode(), url=url, options=options)
        return dict(decode_claims(split_claims(page.claims)[0]).compared)

    assert compared("https://www.shop.example/a") == {"h1": "A drill"}
    assert compared("https://de.shop.example/a") == {"h1": "A drill"}
    assert compared("https://old.shop.example/a") == {}
    assert compared("https://elsewhere.example/a") == {"h2": ""}
