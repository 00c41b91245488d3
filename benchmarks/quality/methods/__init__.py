"""The methods that are compared, each in a file of its own, loaded by name.

To add one: write a `Method` or an `Extractor`, and give it a line here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TypeVar

from benchmarks.quality.methods.base import Extractor, Method, Reader
from benchmarks.speed.measure import MissingError

OURS = {
    "fingerprint": "gate.Fingerprint",
    "verdict": "gate.Verdicts",
    "distance": "gate.DistanceVerdicts",
}
PEERS = {
    "body-md5": "digests.BodyMd5",
    "readability-md5": "digests.ReadabilityMd5",
    "page-text": "page_text.PageText",
    "nutch": "nutch.TextProfile",
    "simhash-readability": "simhash_pypi.ReadabilitySimhash",
    "minhash": "minhash.GateMinHash",
    "trafilatura": "trafilatura_.OwnSimhash",
    "trafilatura-text": "trafilatura_.GateFeatures",
    "resiliparse-text": "resiliparse_.ResiliparseFeatures",
    "rs-trafilatura-text": "rs_trafilatura_.RsTrafilaturaFeatures",
    "datatrove": "minhash.Datatrove",
    "text-dedup": "minhash.TextDedup",
    "plain": "plain.PlainRecipe",
}
CONTENT_OURS = {"content": "gate.GateContent"}
CONTENT_PEERS = {
    "page-text": "page_text.PageContent",
    "readability": "readability_lxml.ReadabilityContent",
    "trafilatura": "trafilatura_.TrafilaturaContent",
    "resiliparse": "resiliparse_.ResiliparseContent",
    "plain": "plain.PlainContent",
}

R = TypeVar("R", bound=Reader)


def create(name: str) -> Method:
    """Return a method, ready to measure; raises `MissingError` for what is not installed."""
    return _ready((OURS | PEERS)[name], Method)  # type: ignore[type-abstract]


def create_extractor(name: str) -> Extractor:
    """Return an extractor, ready to measure; raises `MissingError` for what is not installed."""
    place = (CONTENT_OURS | CONTENT_PEERS)[name]
    return _ready(place, Extractor)  # type: ignore[type-abstract]


def _ready(place: str, kind: type[R]) -> R:
    module, _, name = place.rpartition(".")
    try:
        reader = getattr(import_module(f"{__name__}.{module}"), name)()
    except ModuleNotFoundError as error:
        raise MissingError(f"needs {error.name}: pip install --group peers") from error
    assert isinstance(reader, kind)
    reader.prepare()
    return reader
