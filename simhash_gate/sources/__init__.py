"""Where pages are read from: files, WARC, HttpCache, JSON Lines, Parquet."""
