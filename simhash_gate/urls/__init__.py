"""What URLs tell before their pages are fetched: rules that were learned, and traps."""
