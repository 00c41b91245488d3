"""The two streams of a command: results on stdout, messages and a progress bar on stderr."""

from __future__ import annotations

import os
import sys
from collections import Counter
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import click

from simhash_gate.common.files import check_writable
from simhash_gate.common.wording import why

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from tqdm import tqdm

BROKEN_PIPE = 141  # what a shell reports of a process that SIGPIPE ended: 128 + 13


class Console:
    """Writes results and messages, and counts the inputs that can't be used.

    A progress bar is shown if `progress` is True; if it is None, on a terminal.
    """

    def __init__(self, progress: bool | None = None) -> None:
        self.complaints = 0
        self._progress = progress
        self._echo: Callable[[str], Any] = lambda message: click.echo(message, err=True)

    def complain(self, place: str, message: str) -> None:
        """Report an input that can't be used. The command goes on with the next."""
        self.complaints += 1
        self._echo(f"{place}: {message}")

    def complain_of_nothing(self, place: str, message: str, *, since: int = 0) -> None:
        """Report that a source has nothing to use.

        It counts as an input that can't be used, unless complaints about it are counted already:
        those beyond the first `since`.
        """
        if self.complaints == since:
            self.complain(place, message)
        else:
            self.say(f"{place}: {message}")

    def say(self, message: str) -> None:
        """Write a message to stderr."""
        self._echo(message)

    def bar(
        self,
        things: Iterable[Any] | None = None,
        total: Callable[[], int | None] = lambda: None,
        unit: str = "pages",
    ) -> tqdm[Any]:
        """Return the things, counted by a progress bar while they are read, if one is shown.

        Without things, its `update` is told how many more there are.
        """
        from tqdm import tqdm

        shown = sys.stderr.isatty() if self._progress is None else self._progress
        bar = tqdm(
            things,
            total=total() if shown else None,
            unit=f" {unit}",
            file=sys.stderr,
            dynamic_ncols=True,
            disable=not shown,
        )
        if shown:
            self._echo = lambda message: bar.write(message, file=sys.stderr)
        return bar

    def write_lines(
        self, lines: Generator[dict[str, Any]], total: Callable[[], int | None] = lambda: None
    ) -> Counter[str]:
        """Write each line as JSON; return how often each outcome came.

        The terminal that shows the lines shows no bar, unless it is asked for.
        """
        if self._progress is None and sys.stdout.isatty():
            self._progress = False
        outcomes: Counter[str] = Counter()
        with closing(lines):
            for line in self.bar(lines, total):
                self.write(line)
                outcomes[line.get("outcome", "")] += 1
        return outcomes

    def write(self, line: dict[str, Any]) -> None:
        """Write one JSON object as a line of UTF-8. Exits quietly when nobody reads any more."""
        from simhash_gate.gate.verdict import encode  # not for `--help`

        self.write_raw(encode(line))

    def write_raw(self, data: bytes) -> None:
        """Write whole lines to stdout. Exits quietly when nobody reads any more.

        Raises click.ClickException where they can't be written, on a full disk for example.
        """
        with _stdout():
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def show(self, lines: Iterable[str]) -> None:
        """Write lines of text to stdout: in colour on a terminal, unless NO_COLOR is set.

        Raises click.ClickException where they can't be written.
        """
        color = False if os.environ.get("NO_COLOR") else None
        with _stdout():
            for line in lines:
                click.echo(line, color=color)

    def status(self) -> int:
        """Return the exit status; say on stderr how many inputs could not be used."""
        if self.complaints:
            click.echo(f"inputs that could not be used: {self.complaints}", err=True)
        return 1 if self.complaints else 0


def refuse_stores(sources: Iterable[str]) -> None:
    """Raise click.UsageError if a source is a store: this has no pages to read."""
    from simhash_gate.sources.find import names_store, shown  # not for `--help`

    for source in filter(names_store, sources):
        raise click.UsageError(
            f"{shown(source)}: a store has no pages to read. Name the files of the crawl."
        )


def check_output(path: str | None) -> None:
    """Raise click.ClickException, before hours of reading, if `-o` names no place to write."""
    if path:
        with disk(path):
            check_writable(path)


@contextmanager
def disk(place: str) -> Iterator[None]:
    """Name the place where the disk failed. Raises click.ClickException."""
    try:
        yield
    except OSError as error:
        raise click.ClickException(f"{place}: {why(error)}") from None


@contextmanager
def _stdout() -> Iterator[None]:
    """End the command where stdout fails: quietly when nobody reads any more."""
    try:
        yield
    except OSError as error:
        # The interpreter flushes stdout once more when it ends: that must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise SystemExit(BROKEN_PIPE) from None
        raise click.ClickException(f"<stdout>: {why(error)}") from None
