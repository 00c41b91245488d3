BOT_NAME = "prices"
SPIDER_MODULES = ["prices.spiders"]
LOG_LEVEL = "INFO"
TELNETCONSOLE_ENABLED = False

ADDONS = {"simhash_gate.Addon": 0}

# Pages that differ in one of these are never copies of each other, whatever else they share.
SIMHASH_GATE_DOMAINS = {
    "127.0.0.1": {"compare": ["h1", ".price", ".stock", "[data-sku]@data-sku"]},
}
# Each crawl on its own: a price that goes back to that of last week is news, too.
SIMHASH_GATE_STORE = "memory:"

SIMHASH_GATE_VERDICTS = "verdicts/%(time)s.jsonl"
SIMHASH_GATE_REPORT = "report.html"
SIMHASH_GATE_JOURNAL = "dropped"
