"""The files of a corpus: names that lead nowhere else, front matter that says what was given."""

import json
from typing import Any

import pytest

from simhash_gate.offline.corpus import COLUMNS, file_name, front_matter, write_folder


def kept(url: str, *, name: str = "1", title: str = "Title") -> dict[str, Any]:
    said = (name, url, url, title, *(None,) * 5, 3, "0" * 16, "version", f"of {name}")
    return dict(zip(COLUMNS, said, strict=True))


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://example.com/a/b.html", "example.com/a/b.md"),
        ("https://example.com/a?id=5&x=y", "example.com/a-id-5-x-y.md"),
        ("https://example.com/../../etc/passwd", "example.com/etc/passwd.md"),
        ("https://example.com/con", "example.com/con-.md"),
        ("https://example.com/b\0c\n", "example.com/b-c.md"),
        ("https://bücher.example/größe", "bücher.example/größe.md"),
        ("", "page.md"),
    ],
)
def test_a_name_is_told_by_the_url_and_leads_nowhere_else(url: str, name: str) -> None:
    assert file_name(url) == name


def test_long_urls_have_names_that_a_disk_takes() -> None:
    name = file_name("https://example.com/" + "ü" * 5000 + "/a" * 5000)
    assert all(len(part.encode()) <= 90 for part in name.split("/"))
    assert len(name.encode()) < 2000


def test_no_page_takes_the_place_of_another(tmp_path) -> None:
    urls = [
        "https://example.com/a",
        "https://example.com/a",
        "http://example.com/a.html",
        "https://example.com/a.md/b",
        "https://example.com/a/b",
    ]
    pages = [kept(url, name=str(number)) for number, url in enumerate(urls)]
    write_folder([*pages, *pages], tmp_path / "corpus")
    files = [path for path in (tmp_path / "corpus").rglob("*") if path.is_file()]
    texts = sorted(path.read_text().rsplit("of ", 1)[1] for path in files)
    assert texts == sorted(f"{number}\n" for number in [*range(5)] * 2)
    assert (tmp_path / "corpus/example.com/a.md").read_text().endswith("of 0\n")


@pytest.mark.parametrize("title", ['A "b" \\ c: #d', "- x", "a\u2028b\x85c\x7f", "\ud800", "ü"])
def test_front_matter_is_json_in_yaml(title: str) -> None:
    lines = front_matter(kept("https://example.com/", title=title)).splitlines()
    assert lines[0] == lines[-1] == "---"
    said = dict(line.split(": ", 1) for line in lines[1:-1])
    assert json.loads(said["title"]) == title
    assert said["title"].isprintable()
