"""A shop of three departments, in the markup of a shop system.

What its pages repeat is long, and what they say of a product is short: products differ in name,
number and price, variants of one in number, price and the option that is chosen.
"""
