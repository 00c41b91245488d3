"""`python -m crawler.site`: the demonstration site alone."""

from __future__ import annotations

import click

from crawler.site.scenes import make_site
from crawler.site.scenes.variants import SCENES
from crawler.site.server import serve

SOME = click.IntRange(min=1)


@click.command("python -m crawler.site")
@click.option("--port", default=0, help="0 (default) takes a free one")
@click.option("--articles", type=SOME, default=100)
@click.option("--seed", default=1)
@click.option("--urls", type=click.Choice(["", *SCENES]), default="")
@click.option(
    "--days", type=click.IntRange(min=0), default=0, help="a year of so many days, not one moment"
)
@click.option("--parent-pipe", is_flag=True, help="stop when stdin ends")
def main(port: int, articles: int, seed: int, urls: str, days: int, parent_pipe: bool) -> None:
    """Serve a site on loopback."""
    site = make_site(urls, articles, seed, days)
    try:
        serve(site, port, until_stdin_ends=parent_pipe)
    except (OSError, OverflowError) as error:
        raise SystemExit(f"can't listen on port {port}: {error}") from error


if __name__ == "__main__":
    main()
