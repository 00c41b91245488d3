"""The package MaybeDont of 2016, as installed, with the truth in place of its guess at texts.

Two of its parts are replaced. It compares pages by MinHash; here every content has a text of its
own, so that it sees what the others see. And it draws samples in a way that Python 3.11 refuses,
to count pages that are not the same; here they are counted.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from maybedont import DupePredictor
from maybedont.utils import canonicalize_url


class Predictor(DupePredictor):  # type: ignore[misc]
    """Its predictor for one site."""

    def __init__(self) -> None:
        super().__init__()
        self._contents: dict[str, int] = {}
        self._current = 0

    def learn(self, url: str, kept: str, same: bool) -> None:
        """Update the model with a page."""
        known = self._contents.get(canonicalize_url(kept)) if same else None
        self._current = len(self._contents) if known is None else known
        self._contents[canonicalize_url(url)] = self._current
        self.update_model(url, " ".join(f"{self._current}-{word}" for word in range(8)))

    def _nodup_filter(self, min_hash: Any, all_urls: Collection[str], max_sample: int = 200) -> int:
        return sum(self._contents[url] != self._current for url in all_urls)

    def log_dupstats(self, min_dup: int = 100) -> None:
        """Log nothing."""
