"""Settings that fit a crawl: where its threshold should lie, and how much each word weighs."""
