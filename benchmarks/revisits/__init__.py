"""When to come back: policies with a budget of visits, on a simulated year."""
