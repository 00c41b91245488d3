"""The gate's own Scrapy signals."""

near_duplicate_dropped = object()
"""Sent for every dropped page, with `request`, `response`, `verdict` and `spider`."""

request_held_back = object()
"""Sent for every request that the trap shield holds back, with `request`, `reason` and `spider`."""
