"""Lines of pages, made by hand."""

from simhash_gate.fingerprints.folding import HashedLines
from simhash_gate.fingerprints.lines import Kind, Lines, cut_lines
from simhash_gate.look import LEAST_SENTENCE

SAID = Kind.ARTICLE | Kind.CONTENT


def lines_of(*texts: str, kind: int = SAID, place: int = 0) -> Lines:
    """Return the lines of some texts, all of one kind, and in one place of the template."""
    words = [text.split() for text in texts]
    kinds = [kind | Kind.SENTENCE * (len(each) >= LEAST_SENTENCE) for each in words]
    return cut_lines(HashedLines.of(words), kinds, [place] * len(texts))[0]
