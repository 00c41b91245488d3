"""Two pages that look alike: what each of them claims and says, and what of it differs."""
