"""Every page of a corpus through one method, in several processes; nothing is read twice."""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from typing import TYPE_CHECKING

from benchmarks.quality.methods import Method, create

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.quality.corpus import Corpus
    from benchmarks.quality.methods.base import Reading

_method: Method


def measure(
    name: str, method: Method, corpus: Corpus, cache: Path, workers: int
) -> dict[str, Reading]:
    """Return the reading of every page, by its id, and remember it in the folder `cache`."""
    path = cache / f"{name}.pickle"
    known = _load(path, _version(method))
    keys = {page.id: _key(page.path.read_bytes(), page.url) for page in corpus.pages.values()}
    todo = [page for page in corpus.pages.values() if keys[page.id] not in known]
    if todo:
        jobs = [(page.path, page.url) for page in todo]
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(
            max(1, workers), mp_context=context, initializer=_start, initargs=(name,)
        ) as pool:
            readings = pool.map(_read, jobs, chunksize=16)
            known |= {keys[page.id]: r for page, r in zip(todo, readings, strict=True)}
        cache.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps((_version(method), known)))
    return {id_: known[key] for id_, key in keys.items()}


def _start(name: str) -> None:
    global _method  # noqa: PLW0603 - one method for the life of this process
    _method = create(name)


def _read(job: tuple[Path, str]) -> Reading:
    path, url = job
    return _method.measure(path.read_bytes(), url)


def _load(path: Path, version: str) -> dict[str, Reading]:
    try:
        found, readings = pickle.loads(path.read_bytes())
    except (OSError, EOFError, ValueError, AttributeError, ImportError, pickle.PickleError):
        return {}
    return readings if found == version else {}


def _key(body: bytes, url: str) -> str:
    return sha256(url.encode() + b"\0" + body).hexdigest()


def _version(method: Method) -> str:
    digest = sha256(repr(sorted(method.versions().items())).encode())
    for path in method.sources():
        digest.update(path.read_bytes())
    return digest.hexdigest()
