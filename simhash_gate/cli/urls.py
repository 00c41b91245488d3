"""`simhash-gate urls`: what sites have shown of their URLs, in a store."""

from __future__ import annotations

import click

from simhash_gate.cli.console import Console
from simhash_gate.identity.saved import from_json
from simhash_gate.offline.chosen import forget_all
from simhash_gate.sources.open import open_kept
from simhash_gate.stores.base import URL_RULES


@click.group(epilog="Example: simhash-gate urls list sqlite:///pages.sqlite")
def urls() -> None:
    """List or forget what sites have shown to make no difference in their URLs.

    A crawl learns that, and keeps it in its store. STORE is written as in SIMHASH_GATE_STORE.
    """


@urls.command(
    "list",
    short_help="List what is known.",
    epilog="Example: simhash-gate urls list sqlite:///pages.sqlite",
)
@click.argument("store")
def list_(store: str) -> int:
    """Print one line of JSON for each part of URLs, by site."""
    console = Console()
    with open_kept(store) as kept:
        known = sorted((blob.scope, blob.data) for blob in kept.blobs(URL_RULES))
    entries = [entry for scope, data in known for entry in from_json(data, f"URLs of {scope}")]
    for entry in entries:
        console.write(entry)
    if not entries:
        console.say("nothing is known of URLs")
    return console.status()


@urls.command(
    short_help="Forget what is known of a site.",
    epilog="Example: simhash-gate urls forget sqlite:///pages.sqlite example.com",
)
@click.argument("store")
@click.argument("scopes", nargs=-1, required=True, metavar="SCOPE...")
def forget(store: str, scopes: tuple[str, ...]) -> int:
    """Forget all that is known of the URLs of each SCOPE, as `urls list` names it.

    Do it while no crawl is running: one that has met the site writes it again when it ends.
    """
    console = Console()
    with open_kept(store) as kept:
        for scope in scopes:
            if not forget_all(kept, kept.blobs(URL_RULES, scope)):
                console.complain(scope, "nothing is known of its URLs")
    return console.status()
