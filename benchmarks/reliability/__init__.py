"""Random crawls under random faults, and whether the books balance afterwards."""
