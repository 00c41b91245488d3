"""Where the threshold of a crawl should lie."""
