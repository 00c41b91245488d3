"""What a missing package, or a name that is not there, says."""

from __future__ import annotations

import sys

import pytest

import simhash_gate.spark
from simhash_gate.common.wording import MissingExtraError


@pytest.mark.parametrize("package", ["pyspark", "pandas", "pyarrow"])
def test_the_extra_is_named(monkeypatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"{package}: pip install 'simhash-gate\[spark\]'"):
        _ = simhash_gate.spark.dedupe
    monkeypatch.undo()
    with pytest.raises(AttributeError, match="no attribute 'near'"):
        _ = simhash_gate.spark.near
    assert all(callable(getattr(simhash_gate.spark, name)) for name in simhash_gate.spark.__all__)
