"""A news site and a shop in miniature, with what makes real crawls hard, and the truth about them.

`python -m crawler.site --port 8000 --articles 100 --seed 1` serves it on loopback.
"""
