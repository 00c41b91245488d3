"""The methods that are compared, each in a file of its own, loaded by name.

To add one: write a `Method`, and give it a line here.
"""

from __future__ import annotations

from importlib import import_module

from benchmarks.quality.methods.base import Method, MissingError

OURS = {
    "fingerprint": "gate.Fingerprint",
    "verdict": "gate.Verdicts",
    "verified": "gate.VerifiedVerdicts",
}
PEERS = {
    "body-md5": "digests.BodyMd5",
    "readability-md5": "digests.ReadabilityMd5",
    "page-text": "page_text.PageText",
    "nutch": "nutch.TextProfile",
    "simhash": "simhash_pypi.PageSimhash",
    "simhash-readability": "simhash_pypi.ReadabilitySimhash",
    "minhash": "minhash.GateMinHash",
    "trafilatura": "trafilatura_.OwnSimhash",
    "trafilatura-text": "trafilatura_.GateFeatures",
    "plain": "plain.PlainRecipe",
    "javascript": "javascript.JavaScriptRecipe",
}

__all__ = ["OURS", "PEERS", "Method", "MissingError", "create"]


def create(name: str) -> Method:
    """Return a method, ready to measure; raises `MissingError` for what is not installed."""
    module, _, kind = (OURS | PEERS)[name].rpartition(".")
    try:
        method: Method = getattr(import_module(f"{__name__}.{module}"), kind)()
    except ModuleNotFoundError as error:
        raise MissingError(f"needs {error.name}: pip install --group peers") from error
    method.prepare()
    return method
