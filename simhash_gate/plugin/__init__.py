"""The Scrapy face of the gate. Nothing outside this package imports Scrapy or Twisted."""
