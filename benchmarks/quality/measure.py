"""Every page of a corpus through one method, in several processes."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Collection
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from benchmarks.quality.methods import METHODS, Reading
from benchmarks.quality.sets import Page


def measure(name: str, pages: Collection[Page], workers: int) -> dict[str, Reading]:
    """Return what a method reads of every page, by its id.

    Raises ModuleNotFoundError if what the method needs is not installed.
    """
    _warm(name)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max(1, workers), context, _warm, (name,)) as pool:
        readings = pool.map(partial(_read, name), pages, chunksize=16)
        return {page.id: reading for page, reading in zip(pages, readings, strict=True)}


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
