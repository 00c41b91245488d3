"""Amounts of money, as shops write them."""

import pytest

from simhash_gate.page.money import Money, find_money, read_money


@pytest.mark.parametrize(
    ("text", "money"),
    [
        ("19,90 €", "19.90 EUR"),
        ("19 euros", "19.00 EUR"),
        ("2,5 €", "2.50 EUR"),
        ("€1.299,00", "1299.00 EUR"),
        ("1.299 €", "1299.00 EUR"),
        ("$1,16999", "116999.00 $"),
        ("1,299.000 USD", "1299.00 USD"),
        ("$0.0000166667", "0.0000166667 $"),
        ("12.345.678 €", "12345678.00 EUR"),
        ("1\u202f299,00 €", "1299.00 EUR"),
        ("12’345.50 CHF", "12345.50 CHF"),
        ("0,125 €", "0.125 EUR"),
        ("CHF 19.90", "19.90 CHF"),
        ("US$19.90", "19.90 USD"),
        ("CA$ 19.90", "19.90 $"),
        ("from 500 kr.", "500.00 KR"),
        ("since 2024 500 €", "500.00 EUR"),
        ("€19.90 EUR, was €25", "19.90 EUR, 25.00 EUR"),
        ("$9^99 or $1,000^1", "9.99 $, 1000.00 $"),
        ("version 2.5, 12 times", ""),
    ],
)
def test_money_in_a_text_has_one_form(text: str, money: str) -> None:
    assert ", ".join(map(str, find_money(text))) == money


@pytest.mark.parametrize(
    ("amount", "currency", "money"),
    [
        ("19.9", "EUR", "19.90 EUR"),
        ("19.899999999999999", "", "19.90"),
        ("1.299", "eur", "1.299 EUR"),
        ("1,299.00", "€", "1299.00 EUR"),
        ("19.90 - 29.90", "USD", "19.90 USD, 29.90 USD"),
        ("£ 5", "", "5.00 GBP"),
        ("on request", "EUR", "on request EUR"),
        ("", "EUR", ""),
    ],
)
def test_an_amount_in_data_is_decimal_first(amount: str, currency: str, money: str) -> None:
    assert ", ".join(map(str, read_money(amount, currency))) == money


def test_a_currency_may_be_unknown_or_a_sign_that_several_have() -> None:
    euro = Money("5.00", "EUR")
    assert Money.parse(str(euro)) == euro
    assert euro.agrees(Money("5.00"))
    assert not euro.agrees(Money("6.00"))
    assert not euro.agrees(Money("5.00", "USD"))
    assert not euro.agrees(Money("5.00", "$"))
    assert Money("5.00", "$").agrees(Money("5.00", "CAD"))
    assert not Money("5.00", "USD").agrees(Money("5.00", "CAD"))
