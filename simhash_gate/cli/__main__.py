"""`python -m simhash_gate.cli`."""

import sys

from simhash_gate.cli import main

if __name__ == "__main__":
    sys.exit(main())
