"""A corpus of pages of many sites: which pairs it has, and what is done to the pages of copies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks.quality.corpus import load
from benchmarks.quality.sites import main

if TYPE_CHECKING:
    from pathlib import Path

TEXT = " ".join(f"word{number}" for number in range(60))


def page(text: str, title: str = "A title") -> str:
    return f"<html><title>{title}</title><body><div><p>{text}</p></div></body></html>"


def test_pages_of_a_site_are_others_if_a_word_or_the_title_is_and_each_is_a_copy_of_itself(
    tmp_path: Path, capsys
) -> None:
    login, same = "http://shop.example.com/login", "http://shop.example.com/login?again"
    title, basket = "http://www.example.com/register", "http://example.com/basket"
    pages = {
        "login": (login, page(TEXT)),
        "same": (same, page(f"<b>{TEXT}</b>")),
        "title": (title, page(TEXT, "Another title")),
        "word": (basket, page(f"{TEXT} more")),
        "site": ("http://example.org/", page(f"{TEXT} elsewhere")),
        "frame": ("http://example.org/frame", page("few words")),
        "gone": ("http://example.org/gone", ""),
    }
    folder, out = tmp_path / "found", tmp_path / "corpus"
    folder.mkdir()
    index = {name: {"url": url, "forms": []} for name, (url, _) in pages.items()}
    (folder / "index.json").write_text(json.dumps(index), "utf-8")
    for name, (_, html) in pages.items():
        if html:
            (folder / name).write_text(html, "utf-8")
    assert main([str(folder), "--out", str(out)]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "left out: 1 page: fewer than 20 words",
        "left out: 1 page: no such file",
    ]
    corpus = load(out)
    others = [
        (corpus.pages[pair.a].url, corpus.pages[pair.b].url)
        for pair in corpus.pairs
        if pair.group == "diff"
    ]
    assert others == [
        *((login, title), (login, basket), (same, title), (same, basket), (title, basket))
    ]
    body = {id_: page.path.read_bytes() for id_, page in corpus.pages.items()}
    copies = [pair for pair in corpus.pairs if pair.group == "dup"]
    assert [pair.op for pair in copies].count("added") == 5
    for pair in copies:
        assert body[pair.a] != body[pair.b]
        assert pair.op in ("added", "changed")
        assert "word59" in body[pair.b].decode()
