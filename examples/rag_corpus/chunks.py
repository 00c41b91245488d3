"""python chunks.py corpus.jsonl chunks.jsonl: pages as chunks of at most 200 words.

A chunk has whole paragraphs, and never crosses a heading. It knows the headings that it stands
under: put them before its text when you embed it.
"""

import json
import re
import sys
from pathlib import Path

MOST_WORDS = 200
HEADING = re.compile(r"(#{1,6}) (.+)")


def chunks(markdown):
    """Yield the headings and the text of each chunk."""
    headings, paragraphs = [], []
    for block in re.split(r"\n\s*\n", markdown):
        heading = HEADING.fullmatch(block.strip())
        words = sum(len(text.split()) for text in [*paragraphs, block])
        if paragraphs and (heading or words > MOST_WORDS):
            yield list(headings), "\n\n".join(paragraphs)
            paragraphs = []
        if heading:
            level = len(heading[1])
            headings = [*headings[: level - 1], heading[2]]
        elif block.strip():
            paragraphs.append(block.strip())
    if paragraphs:
        yield list(headings), "\n\n".join(paragraphs)


if __name__ == "__main__":
    corpus, output = map(Path, sys.argv[1:])
    with corpus.open(encoding="utf-8") as pages, output.open("w", encoding="utf-8") as file:
        for page in map(json.loads, pages):
            for number, (headings, text) in enumerate(chunks(page["markdown"]), 1):
                line = {"id": f"{page['id']}#{number}", "url": page["url"], "date": page["date"]}
                line |= {"title": page["title"], "headings": headings, "text": text}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
