"""Helpers that every room may use: files, URLs, wording."""
