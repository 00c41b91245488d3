"""Decision quality on labelled pairs of pages: `python -m benchmarks.quality CORPUS_DIR`."""
