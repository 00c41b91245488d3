"""Scrapy settings of the demonstration project."""

BOT_NAME = "crawler"
SPIDER_MODULES = ["crawler.spiders"]
NEWSPIDER_MODULE = "crawler.spiders"

ADDONS = {"simhash_gate.Addon": 0}

ROBOTSTXT_OBEY = True
CONCURRENT_REQUESTS_PER_DOMAIN = 8
DOWNLOAD_DELAY = 0.25

FEED_EXPORT_ENCODING = "utf-8"
LOG_LEVEL = "WARNING"  # else each of hundreds of drops is a line
TELNETCONSOLE_ENABLED = False
