"""`simhash-gate recover`: the dropped pages of a journal, as lines or as a file of their own."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from simhash_gate.common.wording import why
from simhash_gate.journal.contents import Selection, copy, counted, line, selected

if TYPE_CHECKING:
    from simhash_gate.offline.console import Console


def run(console: Console, *, path: str, output: str | None, **wanted: Any) -> int:
    """Print or copy the pages that are wanted; return the exit status."""
    versions: Counter[str] = Counter()
    given = {name: value for name, value in wanted.items() if value is not None}
    try:
        pages = counted(selected(path, Selection(**given), console.complain), versions)
        if output is None:
            console.write_lines(line(found) for found in pages)
        else:
            copy(console.bar(pages), output)
    except OSError as error:
        console.complain(output or path, why(error))
    if len(versions) > 1:
        names = ", ".join(sorted(versions))
        console.say(f"distances of several pipeline versions can't be compared: {names}")
    console.say(f"pages: {versions.total()}")
    return console.status()
