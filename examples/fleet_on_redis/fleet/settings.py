import logging
import os

BOT_NAME = "fleet"
SPIDER_MODULES = ["fleet.spiders"]
CONCURRENT_REQUESTS_PER_DOMAIN = 8
LOG_LEVEL = "INFO"
TELNETCONSOLE_ENABLED = False

ADDONS = {"simhash_gate.Addon": 0}

# All crawlers start at the same pages. One delivers a page; the others follow its links.
SIMHASH_GATE_STORE = os.environ.get("STORE", "redis://127.0.0.1:6379/0")
SIMHASH_GATE_ACTION = "links"
SIMHASH_GATE_REVISIT = "drop"
SIMHASH_GATE_BLOCKED = "drop"

# The log has no line for each drop.
logging.getLogger("simhash_gate.drops").setLevel(logging.WARNING)
