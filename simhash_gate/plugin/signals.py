"""The Scrapy signals of the gate."""

near_duplicate_dropped = object()
"""Sent for every dropped page, with `request`, `response`, `verdict` and `spider`."""

item_held = object()
"""Sent for every item that is held back, with `item`, `response`, `verdict` and `spider`."""
