"""Processes that read pages beside a crawl."""
