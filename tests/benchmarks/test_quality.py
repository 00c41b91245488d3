"""What is told of methods that compare pairs of pages, and what the smaller commands print."""

import gzip
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import benchmarks.__main__ as benchmarks
from benchmarks.quality import archives, captures
from benchmarks.quality.__main__ import main
from benchmarks.quality.generated import KINDS, make
from benchmarks.quality.methods import METHODS, OURS, page_text
from benchmarks.quality.sets import Contents, Pair, Pairs, Rate, Replays, Scores, lines_of
from crawler.truth import words
from tests.crawls.harness import Answer, Site, text


def pair(label: str, changed: float = 0.0) -> Pair:
    return Pair("a", "b", label, "", "", changed, "en", "high")


def test_a_pair_is_a_duplicate_up_to_the_threshold_and_never_without_a_fingerprint() -> None:
    scores = Scores([pair("dup")] * 4, [0, 3, 4, None], threshold=3)
    assert scores.rates["dup"] == Rate(2, 4)
    pairs = [*[pair("dup")] * 4, pair("update", changed=0.05), pair("diff"), pair("diff")]
    scores = Scores(pairs, [0, 0, 0, 9, 0, 0, 9], threshold=3)
    assert (scores.precision, scores.recall, scores.f1) == (3 / 5, 3 / 4, 2 / 3)


def corpus(folder: Path) -> Path:
    """Three articles, each as itself, among other chrome, and with half of it written anew."""
    folder.mkdir()
    pages, pairs = [], []
    for number in range(3):
        stay, old, new = (
            " ".join(f"{x}{number}x{i}" for i in range(90)) for x in ("stay", "old", "new")
        )
        for name, content, chrome in (
            ("one", old, "<nav><a href=/>Home</a></nav>"),
            ("two", old, "<aside>Read this as well</aside>"),
            ("new", new, ""),
        ):
            id_ = f"{name}{number}"
            (folder / id_).write_text(
                f"<html><head><title>Article {number}</title></head><body>{chrome}<article>"
                f"<h1>Article {number}</h1><p>{stay}.</p><p>{content}</p></article></body></html>"
            )
            url = f"https://site.example/{name}/{number}"
            pages.append({"id": id_, "path": id_, "url": url, "words": 181})
        for other, label, kind, changed in (
            (f"two{number}", "dup", "noise", 0.0),
            (f"new{number}", "update", "content", 0.5),
            (f"two{(number + 1) % 3}", "diff", "diff-news", 1.0),
        ):
            told = {"label": label, "kind": kind, "changed": changed, "op": "", "lang": "en"}
            pairs.append({"a": f"one{number}", "b": other, "confidence": "high", **told})
    for name, lines in {"pages": pages, "pairs": pairs}.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines))
    return folder


def test_a_corpus_end_to_end_with_what_is_installed_and_a_line_for_a_peer_that_is_not(
    tmp_path: Path, capsys, monkeypatch
) -> None:
    assert main([str(tmp_path)]) == 2
    assert "no labelled corpus" in capsys.readouterr().err
    run = [str(corpus(tmp_path / "corpus")), "--workers=1", "--peers=page-text,exact,minhash"]
    monkeypatch.setitem(sys.modules, "datasketch", None)
    assert main(run) == 0
    table, complaints = capsys.readouterr()
    assert complaints.count("minhash: left out: needs datasketch: pip install") == 1
    assert "failed on pages" not in complaints
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    assert [row[0] for row in rows] == [METHODS[it].title for it in [*OURS, "page-text", "exact"]]
    assert all(row[1:4] == ["1.000"] * 3 for row in rows[: len(OURS)])
    text_of_page = rows[len(OURS)]
    assert text_of_page[4:8] == ["0.0 %", "–", "–", "0.0 %"]


def test_generated_pairs_are_what_they_are_said_to_be(tmp_path: Path) -> None:
    make(tmp_path, sites=1, stories=2)
    corpus = Pairs.load(tmp_path)
    said = {page.id: words(page_text(page.path.read_bytes())) for page in corpus.pages}
    copies = {pair.op for pair in corpus.pairs if pair.label == "dup" and pair.lang != "shop"}
    assert len(copies) == 12
    assert {pair.lang for pair in corpus.pairs} == {*KINDS, "shop"}
    for pair in corpus.pairs:
        if pair.label == "update":
            assert 0 < pair.changed < 1
            assert said[pair.a] != said[pair.b]
    story = next(pair for pair in corpus.pairs if pair.op == "print")
    assert len(set(said[story.a]) & set(said[story.b])) > 0.5 * len(set(said[story.b]))


def committed(repository: Path, files: dict[str, str | bytes], message: str = "docs") -> str:
    """Commit files to a repository, which is made if it is not there; return the commit."""
    run = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=b"]
    for name, content in files.items():
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    for words_ in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", message]):
        subprocess.run([*run, *words_], check=True)
    head = subprocess.run([*run, "rev-parse", "HEAD"], check=True, stdout=subprocess.PIPE)
    return head.stdout.decode().strip()


def fetched(folder: Path, recipe: list[dict[str, Any]]) -> Path:
    """Fetch the pages of a recipe into a folder."""
    (folder / "recipe.json").write_text(json.dumps(recipe))
    assert archives.main([str(folder / "recipe.json"), str(folder / "pages")]) == 0
    return folder / "pages"


def test_pairs_are_fetched_by_commit_and_by_url(tmp_path: Path) -> None:
    repository, html = tmp_path / "docs", "<nav>{}</nav><main><p>{}</p></main>"
    commits, routes = [], {}
    for n, more in enumerate(("", " and more")):
        says = [text(name, 60) + more * (name == 2) for name in range(3)]
        pages = {f"docs/{name}.html": html.format(n, said) for name, said in enumerate(says)}
        commits.append(committed(repository, dict(pages)))
        http = f"HTTP/1.1 200 OK\r\n\r\n{html.format(n, text(3, 60))}"
        warc = f"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: {len(http)}\r\n"
        warc += f"Content-Type: application/http;msgtype=response\r\n\r\n{http}\r\n\r\n"
        routes[f"/{n}.warc.gz"] = Answer(gzip.compress(warc.encode()))
        place = {"filename": f"{n}.warc.gz", "offset": "0", "length": "9"}
        asked = f"/{n}?url=http%3A%2F%2Fx%2F&output=json&filter=status:200"
        routes[asked] = Answer(json.dumps(place).encode())
    with Site(routes).running() as site:
        recipe = [
            {"site": "docs", "git": str(repository), "places": [[c, "docs/"] for c in commits]},
            {"site": "news", "indexes": [f"{site.url}/0", f"{site.url}/1"], "urls": ["http://x/"]},
        ]
        recipe = [{**each, "article": "//main", "files": f"{site.url}/"} for each in recipe]
        folder = fetched(tmp_path, recipe)
    found = Counter((pair.label, pair.lang) for pair in Pairs.load(folder / "pairs").pairs)
    assert found == {
        ("dup", "docs"): 2,
        ("update", "docs"): 1,
        ("diff", "docs"): 4,
        ("dup", "news"): 1,
    }
    whole = Replays.load(folder / "sites").pages
    assert [page.facts["fresh"] for page in whole] == [*[True] * 3, *[False] * 3, True, False]
    assert all(page.path.exists() for page in whole)
    assert sum("copies" in page.facts for page in whole) == 3


def test_marked_pages_and_captures_are_fetched(tmp_path: Path, capsys, monkeypatch) -> None:
    truth = {"title": "Mill", "main_content": "All of it."}
    told = {
        "url": "http://m/",
        "ground_truth": truth,
        "_internal": {"page_type": {"primary": "article"}},
    }
    marked = {
        "dev/ground-truth/1.json": json.dumps(told),
        "dev/html/1.html.gz": gzip.compress(b"x"),
    }
    place = committed(tmp_path / "marked", marked), "dev/"
    one, other = tmp_path / "snapshots", tmp_path / "versions"
    says = [text(1, 60), text(1, 60), f"{text(1, 60)} More.", f"{text(1, 60)} Other."]
    for day, said in enumerate(says):
        monkeypatch.setenv("GIT_AUTHOR_DATE", f"{day + 2}00000000 +0000")
        committed(one, {"A/Terms.html": f"<nav>{day}</nav><main><p>{said}</p></main>"})
        if day != 1:
            committed(other, {"A/Terms.md": said}, "Refilter A" if day == 3 else "Update A")
    site = {"site": "demo", "snapshots": str(one), "versions": str(other)}
    recipe = [{"site": "wcxb", "git": str(tmp_path / "marked"), "places": [place]}, site]
    folder = fetched(tmp_path, recipe)
    (page,) = Contents.load(folder / "text").pages
    assert (page.path.read_bytes(), page.facts["text"]) == (b"x", "All of it.")
    pairs = [*lines_of(folder / "captures/pairs.jsonl")]
    assert [pair["label"] for pair in pairs] == ["same", "changed"]
    assert captures.main([str(folder / "captures"), "--no-peers"]) == 0
    assert "all years | 1 of 1 | - | - | 0 of 1 |" in capsys.readouterr().out


def test_one_table_has_a_row_for_each_figure(tmp_path: Path, capsys, monkeypatch) -> None:
    corpus(tmp_path / "pairs")
    assert benchmarks.main([str(tmp_path), "--only=pairs,text"]) == 0
    shown, said = capsys.readouterr()
    rows = [line for line in shown.splitlines() if "duplicates, " in line]
    assert [row.split(" | ")[1] for row in rows] == ["1.000", "1.000"]
    assert "text: left out" in said
    assert benchmarks.main([str(tmp_path), "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(benchmarks.PARTS)
