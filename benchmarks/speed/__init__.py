"""What the gate costs, against its peers, in one run."""
