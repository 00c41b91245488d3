"""Everyday spiders with and without the gate: what a change of a page costs them."""
