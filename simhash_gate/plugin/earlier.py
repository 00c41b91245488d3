"""What earlier crawls left that this one can't compare with."""

from __future__ import annotations

import logging
from contextlib import closing
from threading import Thread

from simhash_gate.common.wording import how_many
from simhash_gate.stores import StoreError, open_store

logger = logging.getLogger(__name__)


def tell_ignored(url: str, pipeline: str) -> None:
    """Log how many pages of a store were read in another way, without anyone waiting for it."""
    if not url.startswith("memory:"):
        Thread(target=_tell_ignored, args=(url, pipeline), daemon=True).start()


def _tell_ignored(url: str, pipeline: str) -> None:
    try:
        with closing(open_store(url)) as store:
            counts = dict(store.versions())
    except StoreError as error:
        logger.warning("Could not count the pages of earlier crawls: %s", error)
        return
    kept = counts.pop(pipeline, 0)
    if counts:
        logger.info(
            "Ignored: %s, read under another pipeline version (%s); of this one (%s): %d. They are "
            "compared with nothing: what is like them passes once more, and is compared with from "
            "then on. To compare with them, take the release that read them, and the settings of "
            "reading pages (SIMHASH_GATE_SHINGLE, _IDF, _EXTRACTOR, ...) as they were",
            how_many(sum(counts.values()), "remembered page"),
            ", ".join(sorted(counts)), pipeline, kept,
        )  # fmt: skip
