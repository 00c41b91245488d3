"""How Markdown is scored: what is kept of an article, and what is lost of it."""

from lxml import html

from benchmarks.markdown import PROPERTIES, kept, main, rendered, view

ARTICLE = """<h2>One</h2><p>a <code>x_y</code> <a href=/b>c</a> <img src=/d.png data-src=/e.png></p>
    <ol start=3><li>f<ul><li>g</ul><li>h</ol><pre>i\n  j</pre>
    <table><tr><th rowspan=2>k<th>l<tr><td>m</table>"""
SAID = """## One

a `x_y` [c](https://a.example/b) ![](https://a.example/e.png)

3. f
   - g
4. h

```
i
  j
```

| k | l |
| --- | --- |
| k | m |"""
BASE = "https://a.example/"


def lost(markdown: str) -> list[str]:
    article = view(html.fromstring(f"<div>{ARTICLE}</div>"), BASE)
    holds = kept(article, view(rendered(markdown), BASE))
    return [name for name, held in zip(PROPERTIES, holds, strict=True) if not held]


def test_what_is_lost_is_named():
    assert lost(SAID) == []
    assert lost(SAID.replace("## One", "### One")) == ["headings"]
    assert lost(SAID.replace("  j", " j")) == ["code"]
    assert lost(SAID.replace("`x_y`", "x_y")) == ["code"]
    assert lost(SAID.replace("/b)", "/x)")) == ["links"]
    assert lost(SAID.replace("/e.png", "/x.png")) == ["images"]
    assert lost(SAID.replace("   - g", "- g")) == ["lists"]
    assert lost(SAID.replace("3. f", "1. f")) == ["lists"]
    assert lost(SAID.replace("| k | m |", "| m |")) == ["words", "tables"]
    assert lost(SAID.replace("a `", "b `")) == ["words"]


def test_the_table_tells_of_each_method(tmp_path, capsys):
    pages = tmp_path / "pages"
    pages.mkdir()
    for name in ("one", "two"):
        page = f"<title>One</title><h1>One</h1>{ARTICLE}<p>{'word ' * 40}</p>"
        (pages / f"{name}.html").write_text(page)
    assert main([str(tmp_path), "--methods", "ours,markdownify", "--workers", "1"]) == 0
    told = capsys.readouterr()
    ours, other = told.out.splitlines()[2:]
    assert ours.count("100.00%") == len(PROPERTIES)
    assert other.strip("| ").split(" | ")[4] == "0.00%"  # its tables
    assert "lost" not in told.err
