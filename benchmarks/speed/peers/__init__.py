"""What else one could use for near fingerprints."""
