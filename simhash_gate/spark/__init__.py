"""Pages and fingerprints of archives larger than one machine, as PySpark DataFrames.

The names below are imported when they are first used, because PySpark is an extra.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from simhash_gate.common.wording import need

if TYPE_CHECKING:
    from simhash_gate.spark.clustering import clusters
    from simhash_gate.spark.copies import dedupe
    from simhash_gate.spark.pages import read_pages
    from simhash_gate.spark.pairs import near_duplicates

__all__ = ["clusters", "dedupe", "near_duplicates", "read_pages"]

_HOMES = dict(zip(__all__, ("clustering", "copies", "pairs", "pages"), strict=True))


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # PySpark itself reports missing pandas and pyarrow only in the middle of a job.
    for package in ("numpy", "pandas", "pyarrow", "pyspark"):
        need(package, "simhash_gate.spark", "spark")
    return getattr(import_module(f"simhash_gate.spark.{_HOMES[name]}"), name)
