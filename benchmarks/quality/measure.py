"""Every page of a corpus through one method, in several processes; nothing is read twice."""

from __future__ import annotations

import multiprocessing
import pickle
import time
from collections.abc import Collection
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import simhash_gate
from benchmarks.quality import methods
from benchmarks.quality.methods import METHODS
from benchmarks.quality.sets import Page


class Reading(NamedTuple):
    """A page's value, None for nothing to compare, and the CPU time it took."""

    value: Any
    milliseconds: float
    error: str | None = None


def measure(name: str, pages: Collection[Page], cache: Path, workers: int) -> dict[str, Reading]:
    """Return what a method reads of every page, by its id, and remember it in the folder `cache`.

    Raises ModuleNotFoundError if what the method needs is not installed.
    """
    _warm(name)
    path, made_by = cache / f"{name}.pickle", _version(name)
    known: dict[str, Reading] = {}
    with suppress(OSError, EOFError, ValueError, AttributeError, ImportError, pickle.PickleError):
        found, readings = pickle.loads(path.read_bytes())
        known = readings if found == made_by else {}
    keys = {page.id: sha256(page.url.encode() + b"\0" + page.path.read_bytes()) for page in pages}
    todo = [page for page in pages if keys[page.id].hexdigest() not in known]
    if todo:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(max(1, workers), context, _warm, (name,)) as pool:
            readings = pool.map(partial(_read, name), todo, chunksize=16)
            new = zip(todo, readings, strict=True)
            known |= {keys[page.id].hexdigest(): reading for page, reading in new}
        cache.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps((made_by, known)))
    return {id_: known[key.hexdigest()] for id_, key in keys.items()}


def _warm(name: str) -> None:
    """Import what the method needs, which is no cost of a page."""
    try:
        METHODS[name].read(b"<p>a b c</p>", "http://a.example/")
    except ModuleNotFoundError:
        raise
    except Exception:  # a library may raise anything on an odd page
        return


def _read(name: str, page: Page) -> Reading:
    body = page.path.read_bytes()
    start, value, failure = time.process_time(), None, None
    try:
        value = METHODS[name].read(body, page.url)
    except Exception as error:  # as above: then it has no value
        failure = f"{type(error).__name__}: {error}"
    return Reading(value, 1000 * (time.process_time() - start), failure)


def _version(name: str) -> str:
    """Return a digest of all that decides the values."""
    method, package = METHODS[name], Path(simhash_gate.__file__).parent
    digest = sha256(repr([(need, version(need)) for need in method.needs]).encode())
    shared = [path for pattern in method.built_on for path in sorted(package.glob(pattern))]
    for path in (Path(methods.__file__), *shared):
        digest.update(path.read_bytes())
    return digest.hexdigest()
