"""What do the rules that `simhash-gate urls` suggests spare, and what do they lose?"""
