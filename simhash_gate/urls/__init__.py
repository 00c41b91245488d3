"""What URLs tell before their pages are fetched."""
