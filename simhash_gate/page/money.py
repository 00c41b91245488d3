"""Amounts of money, as texts and data write them: `1.299,00 €` is `1299.00 EUR`."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

_CURRENCIES = {
    **{"€": "EUR", "EURO": "EUR", "EUROS": "EUR", "£": "GBP", "₹": "INR", "₽": "RUB", "₺": "TRY"},
    **{"₩": "KRW", "ZŁ": "PLN", "KČ": "CZK", "US$": "USD", "R$": "BRL"},
}
_OF_SIGN = {
    "$": ("USD", "AUD", "CAD", "NZD", "HKD", "SGD", "TWD", "MXN", "ARS", "CLP", "COP", "BRL"),
    "¥": ("JPY", "CNY"),
    "KR": ("SEK", "NOK", "DKK", "ISK"),
    "RS": ("INR", "PKR", "LKR", "NPR", "MUR"),
}
"""The currencies that are written with one sign. Which of them it is, a text does not say."""

_SIGN = r"(?:(?<!\w)[A-Z]{1,2}(?=\$))?[$\u00a2-\u00a5\u20a0-\u20cf]"
_CODE = r"AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|INR|JPY|KRW|MXN|NOK|NZD|PLN|RUB|SEK|SGD|TRY|USD"
_NAME = rf"(?:{_CODE}|[Ee]uros?|Rs\.?|[Kk]r\.?|zł|Kč)"
# Spaces part thousands. Numbers have a bound: each of many would be searched to the end of a text.
AMOUNT = r"(?<!\d)(?:\d{1,3}(?:[ \u00a0\u202f'’]\d{3}){1,4}(?!\d)|\d{1,12})(?:[.,]\d{1,12}){0,4}"
AMOUNT += r"(?:\^\d\d(?!\d))?"  # raised cents
_AMOUNT = re.compile(AMOUNT)
_MONEY = re.compile(
    rf"({_SIGN}|(?<!\w){_NAME})[^\S\n]?({AMOUNT})|({AMOUNT})[^\S\n]?({_SIGN}|{_NAME})(?!\w)"
)
_DECIMAL = re.compile(r"\d{1,12}(?:\.\d{1,24})?")


class Money(NamedTuple):
    """An amount such as `1299.00`, with two decimals or more, and its currency.

    The currency is a code, or a sign that several currencies have; "" if it is not known.
    """

    amount: str
    currency: str = ""

    @classmethod
    def parse(cls, price: str) -> Money:
        """Return the money that `str` wrote."""
        amount, _, currency = price.partition(" ")
        return cls(amount, currency)

    def __str__(self) -> str:
        return " ".join(filter(None, self))

    def agrees(self, other: Money) -> bool:
        """Tell whether this may be the same money: one currency may be unknown, or a sign."""
        one, its = self.currency, other.currency
        of_sign = its in _OF_SIGN.get(one, ()) or one in _OF_SIGN.get(its, ())
        return self.amount == other.amount and (not (one and its) or one == its or of_sign)


def find_money(text: str) -> list[Money]:
    """Return the amounts of money in a text: those that a currency stands beside."""
    return [
        Money(_decimal(before or after), _currency(name or sign))
        for name, before, after, sign in _MONEY.findall(text)
    ]


def read_money(amount: str, currency: str = "") -> list[Money]:
    """Return the money of a value that is an amount; several for a range, none for nothing.

    Data write `1.299` for less than two, texts for more than a thousand. A value without a number,
    such as "on request", is the amount as it is.
    """
    if _DECIMAL.fullmatch(amount):
        found = [Money(_rounded(amount))]
    else:
        found = find_money(amount) or [Money(_decimal(it)) for it in _AMOUNT.findall(amount)]
    found = found or ([Money(amount)] if amount else [])
    return [it._replace(currency=_currency(currency) or it.currency) for it in found]


def _currency(name: str) -> str:
    name = name.strip().rstrip(".").upper()
    return _CURRENCIES.get(name, "$" if name.endswith("$") else name)


def _decimal(amount: str) -> str:
    """Return an amount of a text with `.` before its decimals, which are one or two digits.

    More digits are decimals after a zero alone, or after a mark that is no other: "1,299.000".
    """
    *groups, last = re.split(r"\D", amount)
    marks = re.sub(r"\d", "", amount)
    if not groups or marks[-1] not in ".,^":
        return _rounded("".join((*groups, last)))
    whole = len(last) > 2 and groups != ["0"] and marks[-1] * len(marks) == marks
    return _rounded("".join(groups) + ("" if whole else ".") + last)


def _rounded(amount: str) -> str:
    """Return a decimal number in one form: `12`, `12.0` and `11.9999999999999` are `12.00`."""
    whole, _, fraction = f"{Decimal(amount):.10f}".partition(".")
    return f"{whole}.{fraction.rstrip('0').ljust(2, '0')}"
