"""simhash-py of seomoz (now Moz): its C++ library, built from its source distribution.

The package itself does not build on Python 3.11 or later: its Cython file is of 2017.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed.measure import MissingError
from benchmarks.speed.peers.pairs import PairsPeer

_SDIST = "simhash-py==0.4.0"
_SHIM = Path(__file__).with_suffix(".cpp")


class Seomoz(PairsPeer):
    """Five blocks, as the package's README shows it for three bits."""

    title = "seomoz simhash-py (C++), five blocks"

    def __init__(self) -> None:
        library = ctypes.CDLL(str(_build(_folder())))
        self._count = library.count_pairs
        self._count.restype = ctypes.c_size_t
        self._count.argtypes = [ctypes.c_void_p, *[ctypes.c_size_t] * 3]

    def count(self, values: NDArray[np.uint64], radius: int) -> int:
        """Return the number of pairs of distinct values."""
        values = np.ascontiguousarray(values)
        return int(self._count(values.ctypes.data, len(values), radius + 2, radius))


def _folder() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache, "simhash-gate-benchmarks", "seomoz")


def _build(folder: Path) -> Path:
    library = folder / "count_pairs.so"
    if library.exists():
        return library
    compiler = shutil.which("g++")
    if compiler is None:
        raise MissingError("needs g++")
    folder.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    _run([*pip, "--no-binary", "simhash-py", "--dest", str(folder), _SDIST])
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    source = next(folder.glob("*/simhash/simhash-cpp"))
    files = [str(path) for path in (_SHIM, *sorted((source / "src").glob("*.cpp")))]
    flags = ["-std=c++11", "-O3", "-shared", "-fPIC", f"-I{source / 'include'}"]
    _run([compiler, *flags, *files, "-o", str(library)])
    return library


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MissingError(f"{command[0]} failed: {done.stderr.strip().splitlines()[-1:]}")
