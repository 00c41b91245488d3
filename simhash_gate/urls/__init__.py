"""Rules learned from pages about which parts of a URL do not matter."""
