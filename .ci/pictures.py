"""Make the pictures of what the program shows: `python .ci/pictures.py docs/img`.

Needs Chromium. A picture holds the names of settings that can be read in it, for a test.
"""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.chromium import running_chromium  # noqa: E402


def picture_report(folder: Path, *arguments: str) -> None:
    """Crawl the demonstration, and take a picture of the top of its report."""
    with TemporaryDirectory() as made, running_chromium() as browser:
        path = Path(made, "report.html").absolute()
        crawl = ("scrapy", "crawl", "demo", "-s", f"SIMHASH_GATE_REPORT={path}", *arguments)
        subprocess.run([sys.executable, "-m", *crawl], cwd=ROOT, check=True)
        page = browser.new_page(viewport={"width": 1180, "height": 1000})
        page.goto(path.as_uri())
        picture, text = page.screenshot(), page.inner_text("body")
    named = " ".join(sorted({*re.findall(r"SIMHASH_GATE_[A-Z_]*[A-Z]", text)}))
    chunk = b"tEXtSettings\0" + named.encode()
    chunk = struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", crc32(chunk))
    (folder / "report.png").write_bytes(picture[:-12] + chunk + picture[-12:])  # before its end


if __name__ == "__main__":
    picture_report(Path(sys.argv[1]), *sys.argv[2:])
