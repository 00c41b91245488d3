"""A news site in miniature, with everything that makes real crawls hard, and the truth about it.

`python -m crawler.site --port 8000 --articles 100 --seed 1` serves it on loopback.
"""
