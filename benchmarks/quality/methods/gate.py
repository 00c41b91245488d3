"""simhash_gate itself: its bare fingerprint, and what its gate says of the second of two pages."""

from __future__ import annotations

from benchmarks.quality.methods.base import HammingMethod, Method
from simhash_gate import Gate, Page, Policy, open_store, read_page
from simhash_gate.options import Options

NEEDS = ("lxml", "readability-lxml", "mmh3", "numpy")
READING = ("pipeline.py", "page/*.py", "fingerprints/*.py")


class Fingerprint(HammingMethod):
    """What `read_page` gives."""

    title = "**simhash_gate**, fingerprint"
    needs = NEEDS
    built_on = READING

    def fingerprint(self, body: bytes, url: str) -> int | None:
        """Return the page's fingerprint."""
        return read_page(body, url=url).fingerprint


class Verdicts(Method):
    """A gate with an empty window sees both pages, one after the other."""

    title = "**simhash_gate**, verdict"
    needs = NEEDS
    built_on = ("**/*.py",)  # all of it may decide what a page is, or is pickled as
    policy = Policy()
    options = Options()

    def fingerprint(self, body: bytes, url: str) -> Page | None:
        """Return all that the gate needs of a page."""
        page = read_page(body, url=url, options=self.options)
        return None if page.fingerprint is None else page

    def distance(self, a: Page, b: Page) -> float:
        """Return 0 if the second page is called a duplicate of the first, else 1."""
        store = open_store("memory:")
        store.begin("pair")
        gate = Gate(store, run="pair", pipeline="benchmark")
        for url, page in (("a", a), ("b", b)):
            verdict = gate.judge(page, self.policy, url=url, scope="pair", request=url)
        return float(verdict.outcome != "duplicate")


class VerifiedVerdicts(Verdicts):
    """The same with `SIMHASH_GATE_VERIFY`."""

    title = "**simhash_gate**, verified verdict"
    policy = Policy(verify=True)
    options = Options(sketch=True)
