"""The commands without a crawl: what each does with pages on disk, stores and journals."""
