"""The names that users read in requests."""

META_KEY = "simhash_gate"
"""What a request asks of the gate: False, or a mapping of policy values."""

VERDICT_KEY = "simhash_gate_verdict"
"""Where the gate leaves its verdict, for the spider."""

RECOVERED_KEY = "simhash_gate_recovered"
"""What the journal knew of a page that is recovered from it."""

KEPT_KEY = "simhash_gate_kept"
"""Where the gate notes which request's page it kept, so that a retry of it is known."""
