"""The journal: dropped responses in a folder of WARC files, bounded in bytes."""
