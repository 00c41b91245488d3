"""What each department of the shop says on every page of a product."""

from __future__ import annotations

from typing import NamedTuple


class Note(NamedTuple):
    """A text with its heading."""

    heading: str
    paragraphs: tuple[str, ...]


NOTES: dict[str, tuple[Note, ...]] = {
    "workshop": (
        Note(
            "Delivery",
            (
                "Orders that reach us before two in the afternoon leave our warehouse on the same "
                "working day. Parcels take one to three days within the country and three to seven "
                "days to our neighbours. You get a message with a number as soon as the carrier "
                "has collected your parcel, and another one on the morning of its delivery.",
                "Delivery costs 4.90 € up to 30 kg and nothing from an order value of 75 € on. "
                "Long goods and machines come by forwarding agent, who calls you to agree on a "
                "day. Packing stations take parcels up to 60 cm in length. We pack in paper and "
                "cardboard alone, and take both back.",
            ),
        ),
        Note(
            "Returns and guarantee",
            (
                "You may send back whatever you do not like within thirty days, unused and in its "
                "box. The label for the way back is in the parcel; print another one from your "
                "account if you lose it. The money is with you five working days after the goods "
                "are with us, by the way you paid.",
                "Beyond your rights by law we repair everything that bears our own name for as "
                "long as there are parts. Blades, belts and bulbs wear out and are not covered. "
                "Send us a photograph of the damage first: often a part by post is quicker than "
                "the whole thing on its way to us.",
            ),
        ),
        Note(
            "Care",
            (
                "Wipe steel with an oiled cloth after work and keep it dry. Wood takes linseed "
                "oil twice a year: let it soak for twenty minutes, then rub off what is left. "
                "Unplug lamps before you clean them, and never use solvents on painted parts. "
                "Oily cloths can catch fire by themselves; dry them flat in the open air.",
            ),
        ),
        Note(
            "Ways to pay",
            (
                "We take cards, bank transfer and direct debit, and open accounts for schools, "
                "towns and firms that have been in the register for a year. With a transfer in "
                "advance you save two per cent of the value of the goods. We draw the money when "
                "the parcel leaves us and not before. Invoices come by e-mail; if you need one "
                "on paper, write so in the field for remarks. Vouchers can be used in parts, and "
                "are good for three years from the day on which they were bought.",
            ),
        ),
        Note(
            "Questions and answers",
            (
                "Can I fetch my order myself? Yes, from the ramp behind our hall, on working days "
                "from seven to four; choose this at the till, and wait for our message. Do you "
                "sharpen? We sharpen irons, chisels and saws that were bought here or elsewhere, "
                "within a week, at the prices on the list that hangs in the shop. Do you lend? "
                "Large machines can be had for a day or a weekend against a deposit.",
                "Is there a paper catalogue? One a year, in March, free to all who ordered in the "
                "two years before. Are pictures true to scale? Nearly; measures in the text count. "
                "Who answers the telephone? Five people who have all stood at a bench for years.",
            ),
        ),
    ),
    "wardrobe": (
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
    ),
    "household": (
        Note(
            "Delivery information",
            (
                "Items in stock are handed to the carrier within twenty-four hours. Please allow "
                "two to five working days for delivery. Delivery is free of charge for orders "
                "above 49 €. Breakable items travel in a double box; should one arrive broken "
                "all the same, keep the box and tell us within a week, and we send another one "
                "without asking for the pieces. Furniture is delivered to the kerb. For a small "
                "fee two people carry it to the room of your choice and take the packaging away.",
            ),
        ),
        Note(
            "Returns",
            (
                "Our return period is one hundred days. Register the return on our website, "
                "choose a drop-off point near you and show the code there; no printer is needed. "
                "Items must be clean and complete. Engraved items and opened food cannot be "
                "returned. Refunds are made within ten days to the card or account that you paid "
                "with, vouchers to your customer account.",
            ),
        ),
        Note(
            "Care guide",
            (
                "Enamel is glass on steel: it does not mind acid or heat, but it chips when it "
                "falls. Soak burnt food overnight with a spoon of soda and never scrape with "
                "metal. Rinse tin and iron by hand and dry them at once. Cushions and blankets "
                "are washed at thirty degrees; bring garden furniture inside before the first "
                "frost, or cover it so that air can still pass.",
            ),
        ),
        Note(
            "Disposal",
            (
                "Old appliances do not belong in household rubbish. Bring them to a collecting "
                "point of your town, or give them to the carrier when a new one is delivered. "
                "Take batteries and lamps out first, if that can be done without breaking "
                "anything, and hand them in where they are sold.",
            ),
        ),
        Note(
            "Payment options",
            (
                "We accept all usual cards, online transfer and purchase on account. Invoices are "
                "due within fourteen days of delivery. For purchases of 100 € or more you can "
                "choose monthly rates; the yearly interest is shown before you confirm. Customer "
                "cards collect one point for each whole euro, and one hundred points are worth "
                "two euros on a later order. Points are not collected on books and vouchers.",
            ),
        ),
        Note(
            "Services",
            (
                "Gift wrapping: choose from four papers in the basket and write a card of up to "
                "two hundred letters; no prices are shown in such parcels. Wedding lists: make "
                "your list online or in one of our shops, share its link, and see what has been "
                "bought. What is left over can be had at a tenth less for half a year. Spare "
                "parts: lids, seals, handles and screws of most series are kept for ten years; "
                "send us the number from the bottom of the item.",
                "Advice: our shops are open from Monday to Saturday. By telephone and chat we are "
                "there until eight in the evening. Ask for a video call if you want to see an "
                "item in use or next to another one. Reservations are held for three days and "
                "cost nothing. Interior planning for kitchens and balconies takes about an hour "
                "and is free if you order within a month.",
            ),
        ),
    ),
}
NEWSLETTER = {
    "workshop": "Plans, offers and new tools once a month. Enter your e-mail address and get 5 € "
    "off your next order of 50 € or more. You can cancel at any time.",
    "wardrobe": "Join the club and take 10 % off your first order. We write twice a month at most, "
    "about new colours, repairs and sales. Unsubscribe with one click.",
    "household": "Sign up for our newsletter: recipes, ideas for balcony and table, and a voucher "
    "worth 5 € for your next purchase. Information on data protection is in our privacy policy.",
}
