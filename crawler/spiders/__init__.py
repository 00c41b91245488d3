"""The spiders of the demonstration: `demo` for one crawl, `demo-year` for a year of them."""
