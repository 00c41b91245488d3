"""The history of pages: visits, versions, how often they change, when to come back."""
