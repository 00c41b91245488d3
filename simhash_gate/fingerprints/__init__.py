"""Text to 64 bits, and all that is arithmetic on them."""
