import logging

BOT_NAME = "news"
SPIDER_MODULES = ["news.spiders"]
CONCURRENT_REQUESTS_PER_DOMAIN = 8
LOG_LEVEL = "INFO"
TELNETCONSOLE_ENABLED = False

ADDONS = {"simhash_gate.Addon": 0}

# Remember stories for the next crawl, and deliver each once. (Front pages: see the spider.)
SIMHASH_GATE_STORE = "sqlite:"
SIMHASH_GATE_REVISIT = "drop"
SIMHASH_GATE_TTL = "30d"
SIMHASH_GATE_DOMAINS = "domains.toml"

# The log has no line for each drop: the verdicts and the report have it. Dropped pages are in the
# journal.
logging.getLogger("simhash_gate.drops").setLevel(logging.WARNING)
SIMHASH_GATE_VERDICTS = "verdicts/%(time)s.jsonl"
SIMHASH_GATE_REPORT = "report.html"
SIMHASH_GATE_JOURNAL = "dropped"
