"""Which fetches do rules about URLs avoid, and which contents do they lose? Us and our peers."""
