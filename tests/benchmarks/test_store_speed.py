from __future__ import annotations

import json

from benchmarks.speed.store import Sizes, main


def test_each_store_that_is_there_is_measured_and_no_page_is_lost_or_kept_twice(tmp_path) -> None:
    assert main(["--out", str(tmp_path)], Sizes(pages=200, calls=20, crawled=40)) == 0
    rows = json.loads((tmp_path / "store.json").read_text("utf-8"))["stores"]
    assert [row["store"] for row in rows][:2] == ["memory", "SQLite"]
    for row in rows:
        assert min(row["call"], row["read"], row["keep"]) > 0
        assert row["kept_twice"] in (None, 0)
