"""The history of pages: versions, texts, and the validators of servers."""
