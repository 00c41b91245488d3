"""Sites for what URLs do to a crawl: variants that make no difference, and traps without an end.

`python -m crawler.site --urls tracking` serves one of them on loopback.
"""
