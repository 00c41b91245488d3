"""A news site and a shop in miniature, with what makes real crawls hard, and the truth of them."""
