"""Exported lines that `store import` can't use are named, and the others are added."""

from simhash_gate.offline.exported import blob_line, page_line
from tests.offline.kept_pages import record
from tests.offline.test_store_command import URLS, Kept, kept, visited

GOOD, PAST = page_line(record(1)), blob_line(visited(1, 1.0).blob)
SITE = {"scope": "a", "key": "", "at": 1.0}
BAD = [
    ("no json", "not JSON"),
    ({key: value for key, value in GOOD.items() if key != "url"}, "no 'url': expected a line"),
    (GOOD | {"fingerprint": 17}, "'fingerprint' is 17: expected 16 hex digits"),
    (GOOD | {"words": -1}, "'words' is -1"),
    (GOOD | {"words": "many"}, "'words' is 'many': expected a count"),
    (GOOD | {"gave": 2**63}, f"'gave' is {2**63}: expected a count"),
    (GOOD | {"gave": True}, "'gave' is True"),
    (GOOD | {"sketch": "?" * 1_000}, f"'sketch' is '{'?' * 78}…: "),
    (GOOD | {"first_seen": float("nan")}, "'first_seen' is nan"),
    (GOOD | {"last_seen": 1e300}, "'last_seen' is 1e+300: expected a time"),
    (GOOD | {"last_seen": 10**400}, "'last_seen' is 1"),
    ({"kind": "site_memory", "data": ""}, "no 'scope'"),
    (SITE | {"kind": "else"}, "'kind' is 'else': expected one of"),
    (SITE | {"kind": "site_memory", "data": "?"}, "'data' is '?'"),
    (SITE | {"kind": "site_notes", "data": [1]}, "'data' of 'site_notes': expected an object"),
    (SITE | {"kind": "kept_text"}, "no 'data'"),
    (PAST | {"data": "AAAAAAAA"}, "'data' of 'history': the bytes are none that a store packed"),
    (PAST | {"at": "now"}, "'at' is 'now'"),
    (SITE | {"kind": "kept_text", "data": "AAAA"}, "'data' of 'kept_text': no text of a page"),
]


def test_lines_that_cannot_be_used_are_named_and_the_others_added(run, url, manifest) -> None:
    path = manifest(GOOD, *(line for line, _ in BAD), PAST)
    result = run("store", "import", url, path)
    assert result.status == 1
    for number, (_, why) in enumerate(BAD, 2):
        assert f"{path}:{number}: {why}" in result.err
    assert result.err.endswith(f"inputs that could not be used: {len(BAD)}\n")
    assert kept(url) == Kept([record(1).url], [URLS[1]], [], {}, {})
