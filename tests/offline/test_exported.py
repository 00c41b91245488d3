"""What `store export` writes is what `store import` reads."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from simhash_gate.offline.exported import (
    Repeated,
    Rules,
    is_exported,
    memory_line,
    page_line,
    read_exported,
    rules_line,
)
from tests.offline.kept_pages import record

SITE = Repeated("a.example", bytes(range(256)))
RULE = {"scope": "a.example", "shape": "*", "kind": "slash", "word": "pinned"}
RULES = Rules("a.example", [RULE])


def test_a_line_says_all_of_a_page_but_its_run(tmp_path) -> None:
    path = tmp_path / "exported.jsonl"
    pages = [record(number, settled=True) for number in range(5)]
    lines = [*map(page_line, pages), memory_line(SITE), rules_line(RULES)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    read = [*read_exported(str(path), pytest.fail)]
    assert read == [*(replace(page, run="", settled=False) for page in pages), SITE, RULES]


def test_a_file_is_known_by_its_first_line(tmp_path) -> None:
    path = tmp_path / "exported.jsonl"
    for line, expected in (
        (page_line(record(1)), True),
        (memory_line(SITE), True),
        (rules_line(RULES), True),
        ({"url": "u", "fingerprint": "0" * 16, "words": 3}, False),
        ({"url": "u", "path": "a.html"}, False),
    ):
        path.write_text(json.dumps(line))
        assert is_exported(str(path)) is expected


GOOD = page_line(record(1))


BAD = [
    ("no json", "not JSON"),
    ([1], "not a JSON object"),
    ({key: value for key, value in GOOD.items() if key != "url"}, "no 'url': expected a line"),
    (GOOD | {"fingerprint": 17}, "'fingerprint' is 17: expected a string"),
    (GOOD | {"digest": "xyz"}, "'digest' is 'xyz'"),
    (GOOD | {"words": "many"}, "'words' is 'many': expected a number"),
    (GOOD | {"words": True}, "'words' is True"),
    (GOOD | {"words": -1}, "'words' is -1"),
    (GOOD | {"scope": None}, "'scope' is None: expected a string"),
    (GOOD | {"sketch": "?" * 1_000}, f"'sketch' is '{'?' * 79}…: "),
    (GOOD | {"first_seen": "today"}, "'first_seen' is 'today'"),
    (GOOD | {"first_seen": float("nan")}, "'first_seen' is nan"),
    (GOOD | {"last_seen": 1e300}, "'last_seen' is 1e+300: expected a time"),
    ({"site_memory": ""}, "no 'scope'"),
    ({"scope": "a", "site_memory": "?"}, "'site_memory' is '?'"),
    ({"scope": "a", "site_memory": 3}, "'site_memory' is 3"),
    ({"url_rules": []}, "no 'scope'"),
    ({"scope": "a", "url_rules": 3}, "'url_rules': expected a list of rules"),
    ({"scope": "a", "url_rules": [RULE, {}]}, "'url_rules': rule 2: 'scope' is None"),
]


def test_lines_that_cannot_be_used_are_named_and_the_others_read(tmp_path) -> None:
    path = tmp_path / "exported.jsonl"
    bad = [line if isinstance(line, str) else json.dumps(line) for line, _ in BAD]
    path.write_text("\n".join([json.dumps(GOOD), *bad, json.dumps(GOOD)]))
    complaints: list[tuple[str, str]] = []
    assert len([*read_exported(str(path), lambda *said: complaints.append(said))]) == 2
    for number, ((_, why), (place, said)) in enumerate(zip(BAD, complaints, strict=True), 2):
        assert place == f"{path}:{number}"
        assert why in said
