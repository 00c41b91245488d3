"""What the gate costs, against peers in the same run."""
