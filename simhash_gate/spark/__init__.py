"""Pages and fingerprints of archives larger than one machine: PySpark DataFrames in and out.

The names below are imported when they are first used: PySpark is an extra.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from simhash_gate.common.wording import MissingExtraError

if TYPE_CHECKING:
    from simhash_gate.spark.clustering import clusters
    from simhash_gate.spark.copies import dedupe
    from simhash_gate.spark.pages import read_pages
    from simhash_gate.spark.pairs import near_duplicates

__all__ = ["clusters", "dedupe", "near_duplicates", "read_pages"]

_HOMES = {
    "clusters": "clustering",
    "dedupe": "copies",
    "near_duplicates": "pairs",
    "read_pages": "pages",
}
_NEEDED = {"numpy", "pandas", "pyarrow", "pyspark"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        for package in sorted(_NEEDED):  # PySpark names pandas and pyarrow in the middle of a job
            import_module(package)
        return getattr(import_module(f"simhash_gate.spark.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name not in _NEEDED:
            raise
        raise MissingExtraError(
            f"simhash_gate.spark needs {error.name}: pip install 'simhash-gate[spark]'"
        ) from None
