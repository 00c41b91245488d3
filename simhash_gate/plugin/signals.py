"""The gate's own Scrapy signals."""

near_duplicate_dropped = object()
"""Sent for every dropped page, with `request`, `response`, `verdict` and `spider`."""

item_held = object()
"""Sent for every item that is held back, with `item`, `response`, `verdict` and `spider`."""

url_skipped = object()
"""Sent for every request that is not sent, because its page was fetched under another URL, with
`request`, `stand_in` (a URL), `rule` (in words) and `spider`."""
request_held_back = object()
"""Sent for every request that is held back: in a trap, or in a listing that leads to nothing
new; with `request`, `reason` and `spider`."""
