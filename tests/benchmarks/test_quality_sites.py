"""A corpus of pages of many sites: which pairs it has, and what is done to the pages of copies."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from benchmarks.quality.corpus import Corpus, load
from benchmarks.quality.furniture import furnish
from benchmarks.quality.sites import main

if TYPE_CHECKING:
    from pathlib import Path

WORDS = [f"word{number}" for number in range(60)]


def page(text: str, title: str = "A title") -> str:
    return f"<html><title>{title}</title><body><div><p>{text}</p></div></body></html>"


def found(folder: Path, pages: dict[str, tuple[str, str]]) -> Path:
    """Write pages, each with its URL, and the index of them."""
    folder.mkdir()
    for name, (_, html) in pages.items():
        (folder / name).write_text(html, "utf-8")
    index = {name: {"url": url, "forms": []} for name, (url, _) in pages.items()}
    (folder / "index.json").write_text(json.dumps(index), "utf-8")
    return folder


def made(tmp_path: Path, pages: dict[str, tuple[str, str]], name: str = "corpus") -> Corpus:
    folder = tmp_path / "found"
    if not folder.exists():
        found(folder, pages)
    assert main([str(folder), "--out", str(tmp_path / name)]) == 0
    return load(tmp_path / name)


def test_pages_of_a_site_are_others_if_a_word_or_the_title_is_another(tmp_path: Path) -> None:
    text = " ".join(WORDS)
    login, same = "http://shop.example.com/login", "http://shop.example.com/login?again"
    title, basket = "http://www.example.com/register", "http://example.com/basket"
    corpus = made(
        tmp_path,
        {
            "login": (login, page(text)),
            "same": (same, page(f"<b>{text}</b>")),
            "title": (title, page(text, "Another title")),
            "word": (basket, page(f"{text} more")),
            "fragment": (f"{basket}#top", page(f"{text} less")),
            "site": ("http://example.org/", page(f"{text} elsewhere")),
        },
    )
    found = [
        (corpus.pages[pair.a].url, corpus.pages[pair.b].url)
        for pair in corpus.pairs
        if pair.group == "diff"
    ]
    others = [title, basket, f"{basket}#top"]
    assert found == [
        *((login, other) for other in others),
        *((same, other) for other in others),
        *((title, other) for other in others[1:]),
    ]


def test_each_page_is_a_copy_of_itself_with_furniture_and_with_other_values(tmp_path: Path) -> None:
    pages = {
        f"page{number}": (
            f"http://site{number}.example/",
            page(f"{' '.join(WORDS)} number{number}"),
        )
        for number in range(10)
    }
    corpus = made(tmp_path, pages)
    body = {id_: page.path.read_bytes() for id_, page in corpus.pages.items()}
    assert {(pair.group, pair.kind, pair.op) for pair in corpus.pairs} == {
        ("dup", "noise", "added"),
        ("dup", "noise", "changed"),
    }
    assert len(corpus.pairs) == 2 * len(pages)
    for pair in corpus.pairs:
        assert body[pair.a] != body[pair.b]
        if pair.op == "added":
            assert body[pair.a].decode() in [html for _, html in pages.values()]
        else:
            assert markup(body[pair.a]) == markup(body[pair.b])
        assert corpus.pages[pair.a].words == 61

    again = made(tmp_path, pages, "again")
    assert {id_: page.path.read_bytes() for id_, page in again.pages.items()} == body
    assert again.pairs == corpus.pairs


def markup(body: bytes) -> list[str]:
    """Return the tags of a page, without what their attributes say."""
    return re.findall(r"</?\w+", body.decode())


@pytest.mark.parametrize("encoding", ["iso-8859-2", "gb18030", "utf-16"])
def test_furniture_is_text_in_any_encoding_and_leaves_the_page_as_it_was(encoding: str) -> None:
    text = "网页内容" if encoding == "gb18030" else "čeština"
    html = f"<body><div><p>{text}</p></div>{text}</body>"
    for seed in map(str, range(20)):
        furnished = furnish(html.encode(encoding), seed, "").decode(encoding)
        assert furnished.count(text) == 2
        assert len(furnished) > len(html) + 40
        assert "".join(c for c in furnished if not c.isascii()) == "".join(
            c for c in html if not c.isascii()
        )


def test_pages_with_few_words_or_without_a_file_are_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = {
        "whole": ("http://example.com/", page(" ".join(WORDS[:20]))),
        "frame": ("http://example.com/frame", page(" ".join(WORDS[:19]))),
        "gone": ("http://example.com/gone", page("")),
    }
    folder = found(tmp_path / "found", pages)
    (folder / "gone").unlink()
    assert len(made(tmp_path, pages).pages) == 3
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [
        "left out: 1 page: fewer than 20 words",
        "left out: 1 page: no such file",
    ]
    assert captured.out.endswith("2 pairs `dup` and 0 pairs `diff`, of 1 page\n")


@pytest.mark.parametrize(
    ("index", "complaint"),
    [
        (None, "No such file or directory"),
        ("{", "index.json is no JSON"),
        ('{"a.html": {"url": "/login"}}', "index.json: 'a.html' has no url of a site"),
        ('{"a.html": {"url": "http://example.com/"}}', "none of the pages in its index"),
    ],
)
def test_a_folder_without_such_pages_is_said_to_be_none(
    index: str | None, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if index is not None:
        (tmp_path / "index.json").write_text(index, "utf-8")
    assert main([str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert complaint in capsys.readouterr().err
