"""What tests of reading a page share: a text, and what is left of a body that is cleaned."""

import json

from simhash_gate.page.clean import Cleaned, clean
from simhash_gate.page.parse import parse

SENTENCE = "The river rose overnight and the lower fields went under water. "
PROSE = f"<p>{SENTENCE * 8}</p>"
REPLY = "The lower fields went under water in the night, and the river rose in the afternoon."


def clean_page(body: str, title: str = "t") -> Cleaned:
    root = parse(f"<html><head><title>{title}</title></head>{body}</html>".encode())
    assert root is not None
    return clean(root)


def cleaned(body: str, title: str = "t") -> str:
    """Return the text that is left of a page."""
    return " ".join(clean_page(body, title).body.text_content().split())


def json_ld(data: object) -> str:
    """Return a script that says data, or this text."""
    text = data if isinstance(data, str) else json.dumps(data)
    return f'<script type="application/ld+json">{text}</script>'
