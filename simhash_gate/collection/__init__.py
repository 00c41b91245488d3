"""A collection of pages: all near-duplicate pairs, clusters, pages similar to one page."""
