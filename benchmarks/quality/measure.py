"""Every page of a corpus through one method, in several processes; nothing is read twice."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Collection
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from pathlib import Path

from benchmarks.quality.corpus import Page
from benchmarks.quality.methods.base import Reader, Reading

_reader: Reader


def measure(
    reader: Reader, pages: Collection[Page], cache: Path, workers: int
) -> dict[str, Reading]:
    """Return the reading of every page, by its id, and remember it in the folder `cache`."""
    path = cache / f"{type(reader).__name__}.pickle"
    known = _load(path, _version(reader))
    keys = {page.id: _key(page.path.read_bytes(), page.url) for page in pages}
    todo = [page for page in pages if keys[page.id] not in known]
    if todo:
        jobs = [(page.path, page.url) for page in todo]
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(
            max(1, workers), mp_context=context, initializer=_start, initargs=(type(reader),)
        ) as pool:
            readings = pool.map(_read, jobs, chunksize=16)
            known |= {keys[page.id]: r for page, r in zip(todo, readings, strict=True)}
        cache.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps((_version(reader), known)))
    return {id_: known[key] for id_, key in keys.items()}


def _start(kind: type[Reader]) -> None:
    global _reader  # noqa: PLW0603 - one for the life of this process
    _reader = kind()
    _reader.prepare()


def _read(job: tuple[Path, str]) -> Reading:
    path, url = job
    return _reader.measure(path.read_bytes(), url)


def _load(path: Path, version: str) -> dict[str, Reading]:
    try:
        found, readings = pickle.loads(path.read_bytes())
    except (OSError, EOFError, ValueError, AttributeError, ImportError, pickle.PickleError):
        return {}
    return readings if found == version else {}


def _key(body: bytes, url: str) -> str:
    return sha256(url.encode() + b"\0" + body).hexdigest()


def _version(reader: Reader) -> str:
    digest = sha256(repr(sorted(reader.versions().items())).encode())
    for path in reader.sources():
        digest.update(path.read_bytes())
    return digest.hexdigest()
