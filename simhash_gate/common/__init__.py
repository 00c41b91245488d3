"""What every room may use: files, URLs, wording."""
