"""A year of four newspapers: what they publish, change, move and delete, and how they answer."""
