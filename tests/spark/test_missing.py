"""What a missing package, or a name that is not there, says."""

from __future__ import annotations

import subprocess
import sys

import pytest

import simhash_gate.spark


@pytest.mark.parametrize("package", ["pyspark", "pandas", "pyarrow"])
def test_the_extra_is_named(package: str) -> None:
    code = f"import sys; sys.modules['{package}'] = None; from simhash_gate.spark import dedupe"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "simhash_gate.common.wording.MissingExtraError: simhash_gate.spark needs "
        f"{package}: pip install 'simhash-gate[spark]'"
    )


def test_all_names_are_there_and_no_others() -> None:
    for name in simhash_gate.spark.__all__:
        assert callable(getattr(simhash_gate.spark, name))
    with pytest.raises(AttributeError, match="no attribute 'near'"):
        _ = simhash_gate.spark.near
