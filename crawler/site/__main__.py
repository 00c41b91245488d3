"""`python -m crawler.site`: the demonstration site alone."""

from __future__ import annotations

import argparse
import sys

from crawler.site.answering import TRAP_LIMIT
from crawler.site.scenes import SCENES, make_site
from crawler.site.server import serve


def positive(text: str) -> int:
    """Return a number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return int(text)


def main() -> int:
    """Serve the site; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m crawler.site", description=__doc__)
    add = parser.add_argument
    add("--port", type=int, default=0, help="0 (default) takes a free one")
    add("--articles", type=positive, default=100)
    add("--seed", type=int, default=1)
    add("--urls", choices=sorted(SCENES), default="", help="a site whose URLs are the matter")
    add("--days", type=positive, default=0, help="a year of so many days, not one moment")
    add("--trap-limit", type=positive, default=TRAP_LIMIT)
    add("--parent-pipe", action="store_true", help="stop when stdin ends")
    options = parser.parse_args()
    try:
        site = make_site(options.urls, options.articles, options.seed, options.days)
        site.trap_limit = options.trap_limit
        serve(site, options.port, until_stdin_ends=options.parent_pipe)
    except (OSError, OverflowError) as error:
        print(f"can't listen on port {options.port}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
