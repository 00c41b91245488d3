"""A collection of pages: all near-duplicate pairs, clusters, what is like one page."""
