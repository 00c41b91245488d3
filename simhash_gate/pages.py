"""`Page`: what is known of a response once it was read; nothing here loads what reads one."""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from simhash_gate.page.facts import Kind

UNREADABLE = "unreadable:"
"""What the reason of a page begins with that could not be read."""


class Renderer(Protocol):
    """Anything that makes Markdown."""

    def render(self) -> str:
        """Return the Markdown."""


@dataclass(frozen=True)
class Page:
    """What the pipeline makes of one response.

    `words` is a count, without the lines that tell of the page itself (clocks, counters), unless
    there is nothing else; `fingerprint` 64 bits unsigned, or None, and then `reason` says why;
    `digest` an unsigned 64-bit hash of the words that last, on a short page with its dates and the
    names of its images, 0 for none;
    `listing` tells that the page is mostly links to others. `claims` are what it calls itself and
    offers, as `Claims.encode` writes them; `sentences` are hashes of what it says, as `pack` writes
    them; `sketch` is what `Sketch.encode` makes of it, if the options ask for one.
    `kind`, `author`, `date` (ISO 8601) and `price` (`19.99 EUR`)
    are what the page's structured data say of it, None where they don't. With a `draft`, `markdown`
    is rendered when it is first asked for; a page that is pickled before takes its draft along.
    """

    title: str
    markdown: str
    words: int
    fingerprint: int | None
    digest: int
    listing: bool
    reason: str | None
    claims: bytes = b""
    sentences: bytes = b""
    sketch: bytes = b""
    kind: Kind | None = None
    author: str | None = None
    date: str | None = None
    price: str | None = None
    draft: InitVar[Renderer | None] = None

    def __post_init__(self, draft: Renderer | None) -> None:
        if draft is not None:
            vars(self)["_draft"] = draft
            del vars(self)["markdown"]

    def __getattr__(self, name: str) -> Any:
        if name != "markdown" or "_draft" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        vars(self)["markdown"] = text = vars(self).pop("_draft").render()
        return text

    def drafted(self, draft: Renderer | None) -> Page:
        """Return this page with Markdown that `draft` renders when it is first asked for.

        With None it has no Markdown, and nobody may ask for it.
        """
        page = object.__new__(Page)
        vars(page).update(vars(self))
        vars(page).pop("markdown", None)
        vars(page).pop("_draft", None)
        if draft is not None:
            vars(page)["_draft"] = draft
        return page

    @property
    def weight(self) -> int:
        """Bytes of what is known of it beside its title and Markdown."""
        return len(self.claims) + len(self.sentences) + len(self.sketch)

    @property
    def is_rendered(self) -> bool:
        """Whether the Markdown is there already."""
        return "markdown" in vars(self)

    @property
    def unreadable(self) -> bool:
        """Whether reading failed, which an empty page is no case of."""
        return (self.reason or "").startswith(UNREADABLE)
