"""What a page offers: by its data, by what is chosen, by what stands near the headline."""

import pytest
from lxml import html

from simhash_gate.compare.sketch import decode
from simhash_gate.options import Options
from simhash_gate.page.offer import find_fields
from simhash_gate.pipeline import read_page
from tests.page.pages import json_ld

TEXT = "<p>The drill weighs less than the old one, and it comes with two batteries and a case.</p>"


def offered(html: str) -> dict[str, str]:
    page = read_page(
        f"<html><body><main><h1>A drill</h1>{html}{TEXT}</main></body></html>".encode(),
        url="https://x.example/drill",
    )
    return dict(decode(page.sketch).offered)


OFFER = {
    "@type": "Offer",
    "price": "19.9",
    "priceCurrency": "EUR",
    "availability": "https://schema.org/InStock",
}


def test_a_products_number_price_and_availability_are_offered_and_those_of_no_other() -> None:
    other = {"@type": "Product", "mpn": "E-2", "offers": {**OFFER, "price": "5"}}
    node = {"@type": "Product", "name": "A drill", "sku": "D-1", "gtin13": "4006381333931"}
    assert offered(json_ld({**node, "offers": OFFER, "isRelatedTo": other})) == {
        "availability": "InStock",
        "gtin13": "4006381333931",
        "price": "19.90 EUR",
        "sku": "D-1",
    }


def test_microdata_and_product_metadata_are_read_too() -> None:
    microdata = (
        '<div itemscope itemtype="https://schema.org/Product"><span itemprop=sku>D-1</span>'
        '<div itemprop=offers itemscope itemtype="https://schema.org/Offer">'
        "<meta itemprop=price content=19.9><meta itemprop=priceCurrency content=EUR></div></div>"
    )
    assert offered(microdata) == {"price": "19.90 EUR", "sku": "D-1"}
    metadata = (
        '<meta property="og:type" content="product">'
        '<meta property="product:price:amount" content="19.90">'
        '<meta property="product:price:currency" content="EUR">'
        '<meta property="product:retailer_item_id" content="D-1">'
    )
    assert offered(metadata) == {"item": "D-1", "price": "19.90 EUR"}


SIZE = "<select {}>{}</select>"
CART = "<form action=/cart/add method=post{}>{}</form>"


@pytest.mark.parametrize("size", ["S", "L"])
def test_what_is_chosen_in_the_form_that_fills_the_basket_is_offered(size: str) -> None:
    options = "".join(
        f"<option{' selected' if name == size else ''}>{name}</option>" for name in "SML"
    )
    form = CART.format("", SIZE.format("name=size", options))
    other = "<option selected>By price</option>"
    sort = f"<form class=products>{SIZE.format('name=orderby', other)}</form>"
    sort += SIZE.format("name=sort", other)
    node = json_ld({"@type": "Product", "name": "A drill", "offers": OFFER})
    assert offered(form + sort) == {"chosen": size}
    beside = f"<h2>Others</h2>{CART.format('', SIZE.format('name=size', other))}"
    assert offered(f"{node}{form}</main><main>{beside}")["chosen"] == size
    assert offered(node + SIZE.format("name=size", options))["chosen"] == size


@pytest.mark.parametrize(
    "box",
    [
        "<div class=mini-cart>Your bag: {}</div>",
        "<p>Others bought a hose for {}</p>",
        "<form class=product-filter><select name=price><option selected>up to {}</select></form>",
    ],
)
def test_prices_beside_are_no_offers(box: str) -> None:
    node = json_ld({"@type": "Product", "name": "A drill", "offers": OFFER})
    story = '<meta property="og:type" content="article">'
    for kind in (node, story):
        found = [offered(f"{kind}<p>19.90 €</p>{box.format(price)}") for price in ("$5", "$7")]
        assert found[0] == found[1]
        assert "shown price" not in found[0]


BERN = {"@type": "Place", "address": {"addressLocality": "Bern"}}
SALARY = {"@type": "MonetaryAmount", "currency": "CHF", "value": {"value": 90000}}
CONCERT = {"@type": "MusicEvent", "startDate": "2026-05-01", "location": {"name": "Hall", **BERN}}
JOB = {"@type": "JobPosting", "baseSalary": SALARY, "jobLocation": BERN}


def test_the_date_and_place_of_an_event_and_the_place_and_salary_of_a_job_are_offered() -> None:
    assert offered(json_ld(CONCERT)) == {"place": "Hall Bern", "startDate": "2026-05-01"}
    assert offered(json_ld(JOB)) == {"place": "Bern", "salary": "CHF 90000"}
    assert offered(json_ld([CONCERT, {**CONCERT, "startDate": "2026-05-02"}])) == {}, "a list"


def test_the_price_and_number_near_the_headline_are_offered() -> None:
    found = offered("<p>€1.299,00</p><p>SKU: D-1</p>")
    assert found == {"shown number": "D-1", "shown price": "1299.00 EUR"}


def test_a_label_and_its_value_may_stand_in_two_cells_but_a_sum_in_a_text_is_no_price() -> None:
    rows = (("SKU", "D-1"), ("Price", "1 299.00"), ("Weight", "4 kg"))
    cells = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows)
    assert offered(f"{TEXT * 9}<table>{cells}</table>") == {
        "shown number": "D-1",
        "shown price": "1299.00",
    }
    assert offered(f"<p>{'It was sold for $500 to somebody who had never drilled. ' * 2}</p>") == {}


def test_any_amount_of_names_and_offers_is_read_and_kept_in_bounds() -> None:
    node = {
        "@type": "Product",
        "name": "ü" * 50_000,
        "sku": ["ü" * 1_000] * 500,
        "offers": [{"price": "9" * 400, "priceCurrency": "ü" * 1_000}] * 500,
    }
    page = read_page(f"<title>{'drill ' * 5_000}</title>{json_ld(node)}{TEXT}".encode())
    assert page.fingerprint is not None
    assert len(page.sketch) < 20_000


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
        return dict(decode(page.sketch).compared)

    assert compared("https://www.shop.example/a") == {"h1": "A drill"}
    assert compared("https://de.shop.example/a") == {"h1": "A drill"}
    assert compared("https://old.shop.example/a") == {}
    assert compared("https://elsewhere.example/a") == {"h2": ""}


def test_the_last_of_many_comments_is_a_part_of_their_field_however_long_they_are() -> None:
    def compared(*comments: str) -> dict[str, str]:
        html = "".join(f"<p class='comment'>{comment}</p>" for comment in comments)
        page = read_page(f"<main>{TEXT}{html}</main>".encode(), options=options)
        return dict(decode(page.sketch).compared)

    options, many = Options(compare=(("", (".comment",)),)), ["It is too heavy for me."] * 40
    assert compared(*many) == compared(*many)
    assert compared(*many, "Not for me.") != compared(*many, "Not for you.")
