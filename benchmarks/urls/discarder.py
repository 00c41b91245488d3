"""The package duplicate-url-discarder, with the rules that it ships; as installed."""

from __future__ import annotations

import tldextract.tldextract
from duplicate_url_discarder.url_canonicalizer import UrlCanonicalizer
from duplicate_url_discarder_rules import RULE_PATHS

from benchmarks.urls.method import FixedRules

# It asks for the domains of URLs, and this package would ask the network for a list of them first.
tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)


class Discarder(FixedRules):
    """What its request fingerprinter does: its rules, then the URL that Scrapy knows it by."""

    title = "duplicate-url-discarder, shipped rules"
    origin = "as installed"

    def __init__(self) -> None:
        canonicalizer = UrlCanonicalizer(RULE_PATHS or ())
        super().__init__(canonicalizer.process_url, len(canonicalizer.processors))
