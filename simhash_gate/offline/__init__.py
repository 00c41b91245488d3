"""The same gate over files: fingerprint pages, replay a crawl, compare two pages."""
