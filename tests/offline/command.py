"""How the tests run the command."""

import sys

COMMAND = [sys.executable, "-m", "simhash_gate.cli"]
