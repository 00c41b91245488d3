"""What the shop says on every page of a product."""

from __future__ import annotations

from typing import NamedTuple


class Note(NamedTuple):
    """A text with its heading."""

    heading: str
    paragraphs: tuple[str, ...]


NOTES = (
    Note(
        "Shipping",
        (
            "We ship from Monday to Friday. Standard shipping takes two to four working days "
            "and is free above 90 €; below that it is 3.50 €. Express orders that we receive "
            "before noon arrive on the next working day and cost 9.90 €. Parcels to islands "
            "take two days longer. Customs duties outside of the union are paid by you when "
            "the parcel arrives.",
            "One order may come in two parcels if a size has to be fetched from our second "
            "warehouse. You pay the shipping once. Each parcel has a tracking link of its own.",
        ),
    ),
    Note(
        "Exchanges and returns",
        (
            "Does it not fit? Exchanges of size or colour are free for sixty days. Choose the "
            "new size in your account and put the old one back into its bag; the driver who "
            "brings the new parcel takes the old one along. Returns for a refund are free for "
            "thirty days. Labels must be on, and for reasons of hygiene we cannot take back "
            "socks that have been worn.",
        ),
    ),
    Note(
        "Size guide",
        (
            "Measure yourself over a thin shirt, with the tape flat and not tight. Chest: "
            "around the widest point. Waist: where you bend. S is 88 to 94 cm around the "
            "chest, M 95 to 101 cm, L 102 to 109 cm and XL 110 to 118 cm. If you are between "
            "two sizes and wear layers, take the larger one. Gloves: measure the palm without "
            "the thumb.",
        ),
    ),
    Note(
        "Washing",
        (
            "Wash at thirty degrees with like colours, inside out, zips closed. Do not use "
            "softener: it clogs membranes and makes wool greasy. Dry flat and out of the sun. "
            "Waterproof layers want ten minutes of low heat after every third wash. Small "
            "holes can be mended; we send wool and patches free of charge.",
        ),
    ),
    Note(
        "Payment",
        (
            "Pay by card, by wallet or in three parts without interest. We reserve the amount "
            "when you order, and take it when the parcel is handed over. If something is sold "
            "out after all, the reservation ends within two days. Gift cards are sent by "
            "e-mail within minutes, never expire, and can be put together in one order.",
        ),
    ),
    Note(
        "How we make things",
        (
            "Our clothes are sewn in four family firms that we visit twice a year. They pay at "
            "least a fifth above the wages agreed for the trade, and their reports can be read "
            "on our website. Wool comes from flocks that are not mulesed. Membranes and "
            "finishes are free of fluorine. Cotton is grown without artificial fertiliser, "
            "and dyed in closed tanks whose water is cleaned and used again.",
            "Nothing of what is left over is burnt. Off-cuts become patches and filling, and "
            "samples are sold once a year at the gate. Bring back what you do not wear any "
            "more: for clothes in good order you get a gift card, and we sell them again, "
            "mended and at half their price. The rest is torn and spun into new yarn. In this "
            "way two thirds of all that we have sold since our first year is still in use, "
            "as far as our customers tell us in the yearly survey.",
        ),
    ),
)
NEWSLETTER = (
    "Join the club and take 10 % off your first order. We write twice a month at most, "
    "about new colours, repairs and sales. Unsubscribe with one click."
)
