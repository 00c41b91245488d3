"""Dropped responses on disk: a folder of WARC files, bounded in bytes, that anyone can read."""
