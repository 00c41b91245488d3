"""The gate's own Scrapy signals."""

near_duplicate_dropped = object()
"""Sent for every dropped page, with `request`, `response`, `verdict` and `spider`."""
