"""simhash_gate itself: its bare fingerprint, and what its gate says of the second of two pages."""

from __future__ import annotations

from typing import Any
from weakref import finalize

from benchmarks.quality.methods.base import Content, Extractor, HammingMethod, Method, Window
from simhash_gate import Gate, Page, Policy, open_store, read_page
from simhash_gate.options import Options
from simhash_gate.pipeline import read_closely

NEEDS = ("lxml", "readability-lxml", "mmh3", "numpy")
READING = ("pipeline.py", "page/*.py", "fingerprints/*.py")


class Fingerprint(HammingMethod):
    """What `read_page` gives."""

    title = "**simhash_gate**, fingerprint"
    needs = NEEDS
    built_on = READING

    def fingerprint(self, body: bytes, url: str) -> int | None:
        return read_page(body, url=url).fingerprint


class Verdicts(Method):
    """A gate with an empty window sees both pages, one after the other."""

    title = "**simhash_gate**, verdict"
    needs = NEEDS
    built_on = ("**/*.py",)  # all of it may decide what a page is, or is pickled as
    policy = Policy()
    options = Options()

    def fingerprint(self, body: bytes, url: str) -> Page | None:
        page = read_page(body, url=url, options=self.options)
        return None if page.fingerprint is None else page

    def distance(self, a: Page, b: Page) -> float:
        window = self.window()
        window.see("a", a)
        return float(window.see("b", b) is None)

    def window(self) -> Window:
        """Return a gate that has seen no page."""
        return GateWindow(self.policy)


class GateWindow(Window):
    """A gate, and what it remembers of one site."""

    def __init__(self, policy: Policy) -> None:
        store = open_store("memory:")
        finalize(self, store.close)
        store.begin("site")
        self._gate = Gate(store, run="site", pipeline="benchmark")
        self._policy = policy

    def see(self, id_: str, value: Any) -> str | None:
        """Let the gate judge a page."""
        verdict = self._gate.judge(value, self._policy, url=id_, scope="site", request=id_)
        kept = verdict.match if verdict.outcome == "duplicate" else None
        return kept.record.url if kept else None


class DistanceVerdicts(Verdicts):
    """The same without `SIMHASH_GATE_VERIFY`."""

    title = "**simhash_gate**, verdict by distance alone"
    policy = Policy(verify=False)


class GateContent(Extractor):
    """The text of the Markdown, and the page's title."""

    title = "**simhash_gate**"
    needs = NEEDS
    built_on = READING

    def read(self, body: bytes, url: str) -> Content:
        reading = read_closely(body, url=url)
        return Content(reading.text, reading.page.title)
