"""What a person looks at afterwards: verdicts -> bounded figures -> one HTML file."""
