"""The history of pages: versions, texts, and what servers say of them."""
