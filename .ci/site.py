"""What `mkdocs build` needs beside mkdocs.yml.

Pages that are not in docs/, links, the options of the commands as `--help` has them, and llms.txt.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simhash_gate.cli import cli

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
OUTSIDE = {
    "README.md": "index.md",
    **{name: name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")},
    "examples/README.md": "examples/index.md",
    **{
        f"examples/{path.parent.name}/README.md": f"examples/{path.parent.name}.md"
        for path in (ROOT / "examples").glob("*/README.md")
    },
}
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)#\s]+)(#[^)]*)?\)")
NAMED = re.compile(r"^Options: .*$", re.MULTILINE)
STYLE = "site.css"  # the theme breaks names of settings in the middle
told: dict[str, str] = {}


def on_config(config: MkDocsConfig) -> None:
    """List the pages as the table in the README does, each row a section, then the others."""
    left = {path.name: None for path in sorted((ROOT / "docs").glob("*.md"))}
    left |= dict.fromkeys(place for path, place in OUTSIDE.items() if path != "README.md")
    sections = {}
    _, _, table = (ROOT / "README.md").read_text("utf-8").partition("## Documentation")
    for purpose, pages in re.findall(r"^\| (\w.*?) \| (\[.*?) \|$", table, re.MULTILINE):
        named = [OUTSIDE.get(path, path[5:]) for path in re.findall(r"\]\(([\w/-]+\.md)", pages)]
        sections[purpose[0].upper() + purpose[1:]] = [page for page in named if page in left]
        for page in named:
            left.pop(page, None)
    examples = [page for page in left if page.startswith("examples/")]
    more = [page for page in left if page not in examples]
    config.nav = ["index.md", *({name: pages} for name, pages in sections.items())]
    config.nav += [{"Examples": examples}, {"More": more}]
    config.extra_css.append(STYLE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    from mkdocs.structure.files import File  # the tests of this file do without

    files.append(File.generated(config, STYLE, content=".md-typeset code { word-break: normal; }"))
    for path, place in OUTSIDE.items():
        files.append(File.generated(config, place, content=(ROOT / path).read_text("utf-8")))
    return files


def with_options(markdown: str) -> str:
    """Put what `--help` says of the options in place of the lines that name them."""
    parts = re.split(r"^(## `simhash-gate (\w+).*)$", markdown, flags=re.MULTILINE)
    for place in range(2, len(parts), 3):
        told = options_of(parts[place])
        lines = [f"| `{names}` | {of}{text} |" for names, of, text in told]
        table = "\n".join(["| option | meaning |", "|---|---|", *lines])
        parts[place + 1] = NAMED.sub(lambda _, table=table: table, parts[place + 1])
    del parts[2::3]
    return "".join(parts)


def options_of(name: str) -> list[tuple[str, str, str]]:
    """Return what a table says of the options of a command: names, whose they are, and the help."""
    command = cli.get_command(click.Context(cli), name)
    inner = getattr(command, "commands", {})
    found: dict[tuple[str, str], list[str]] = {}
    for each in inner.values() or [command]:
        for option in each.params:
            if isinstance(option, click.Option):
                record = option.get_help_record(click.Context(each))
                names, text = (part.replace("|", r"\|") for part in record)
                names = re.sub(", | / ", "`, `", names)
                found.setdefault((names, text), []).append(f"`{each.name}`")
    return [
        (names, f"{', '.join(of)}: " if len(of) < len(inner) else "", text)
        for (names, text), of in found.items()
    ]


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Let links lead to pages of the site. What is none, such as code, stays as text."""
    here = page.file.src_uri
    if here == "commands.md":
        markdown = with_options(markdown)
    source = next((path for path, place in OUTSIDE.items() if place == here), f"docs/{here}")

    def moved(link: re.Match[str]) -> str:
        picture, text, to, anchor = link.groups(default="")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), to))
        place = OUTSIDE.get(path) or path.removeprefix("docs/")
        if path not in OUTSIDE and not path.startswith("docs/"):
            return text
        to = posixpath.relpath(place, posixpath.dirname(here) or ".")
        return f"{picture}[{text}]({to}{anchor})"

    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    parts[::2] = [LINK.sub(moved, part) for part in parts[::2]]
    first = re.search(r"^[\w`\[].*?(?=\n\n|\Z)", parts[0], re.MULTILINE | re.DOTALL)
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", first[0] if first else "")
    told[here] = " ".join(plain.split()).partition(". ")[0].rstrip(".:")
    return "".join(parts)


def on_post_build(config: MkDocsConfig) -> None:
    """Write llms.txt, as https://llmstxt.org has it: the pages, and what each is about."""
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", "", "## Pages", ""]
    for place, about in told.items():
        name = re.sub(r"/?index$", "", place.removesuffix(".md")) or config.site_name
        address = re.sub(r"(index)?\.md$", "/", place).lstrip("/") or "./"
        lines.append(f"- [{name}]({config.site_url or ''}{address}): {about}")
    Path(config.site_dir, "llms.txt").write_text("\n".join(lines) + "\n", "utf-8")
