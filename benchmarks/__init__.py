"""What the project measures of itself and its peers; run from the repository, not installed."""
