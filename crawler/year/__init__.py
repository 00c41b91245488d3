"""A year of daily crawls, and what the gate made of them."""
