"""The same recipe with JavaScript's best: jsdom, @mozilla/readability, turndown."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from abc import abstractmethod
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.quality.methods.base import (
    Content,
    Extractor,
    HammingMethod,
    MissingError,
    Reader,
    Reading,
)
from benchmarks.quality.text import shown
from simhash_gate.page.parse import decode

_SCRIPT = Path(__file__).with_name("javascript.mjs")
_PACKAGES = ("jsdom@26.1.0", "@mozilla/readability@0.6.0", "turndown@7.2.0")


class _NodeReader(Reader):
    """One node process for many pages; its packages are kept in the user's cache folder."""

    title = "JavaScript recipe: jsdom, @mozilla/readability, turndown"
    needs = ()

    def __init__(self) -> None:
        self._node: subprocess.Popen[str] | None = None

    def prepare(self) -> None:
        """Install the packages, unless they are there."""
        if not shutil.which("node") or not shutil.which("npm"):
            raise MissingError("needs node and npm")
        folder = _folder()
        if (folder / "installed").exists():
            return
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder)]
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [*command, *_PACKAGES], capture_output=True, text=True, check=False, cwd=folder
        )
        if done.returncode:
            raise MissingError(f"npm install failed: {done.stderr.strip().splitlines()[-1:]}")
        (folder / "installed").touch()

    @abstractmethod
    def value_of(self, answer: dict[str, Any]) -> Any:
        """Return the value, of what the node process says of a page."""

    def read(self, body: bytes, url: str) -> Any:
        """Return the value of one page."""
        return self.measure(body, url).value

    def measure(self, body: bytes, url: str) -> Reading:
        """Read one page in the node process, which takes the time itself."""
        node = self._running()
        assert node.stdin is not None
        assert node.stdout is not None
        node.stdin.write(json.dumps({"html": decode(body), "url": url}) + "\n")
        node.stdin.flush()
        answer = json.loads(node.stdout.readline())
        return Reading(self.value_of(answer), answer["milliseconds"], answer["error"])

    def sources(self) -> list[Path]:
        """The script does the work."""
        return [*super().sources(), _SCRIPT]

    def versions(self) -> dict[str, str]:
        """The packages as they are pinned."""
        return dict(package.rsplit("@", 1) for package in _PACKAGES)

    def _running(self) -> subprocess.Popen[str]:
        if self._node is None:
            # It ends when this process does: its stdin is closed then.
            self._node = subprocess.Popen(
                ["node", str(_SCRIPT), str(_folder())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
        return self._node


class JavaScriptRecipe(_NodeReader, HammingMethod):
    """Counted shingles of three words of the Markdown."""

    def value_of(self, answer: dict[str, Any]) -> int | None:
        """Return the SimHash that the node process computed."""
        value = answer["fingerprint"]
        return value and int(value, 16)

    def fingerprint(self, body: bytes, url: str) -> int | None:
        """Return the SimHash of one page."""
        value: int | None = self.read(body, url)
        return value


class JavaScriptContent(_NodeReader, Extractor):
    """The text of the HTML that becomes Markdown, and Readability's title."""

    def value_of(self, answer: dict[str, Any]) -> Content:
        """Return the text and title that Readability found."""
        return Content(shown(answer["content"]), answer["title"])


def _folder() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "simhash-gate" / sha256(" ".join(_PACKAGES).encode()).hexdigest()[:12]
