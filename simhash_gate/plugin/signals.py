"""The Scrapy signals of the gate."""

near_duplicate_dropped = object()
"""Sent for every dropped page, with `request`, `response`, `verdict` and `spider`."""

item_held = object()
"""Sent for every item that is held back, with `item`, `response`, `verdict` and `spider`."""

request_not_sent = object()
"""Sent for every request that the gate does not send, with `request`, `why` (a `NotSent`) and
`spider`."""
