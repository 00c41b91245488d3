"""Page-reading processes beside a crawl."""
