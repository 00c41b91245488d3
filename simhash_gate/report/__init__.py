"""The report of a crawl: verdicts become figures of bounded size, and these one HTML file."""
