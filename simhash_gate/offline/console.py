"""The two streams of a command: JSON lines on stdout, what a person should know on stderr."""

from __future__ import annotations

import os
import sys
from collections import Counter
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from simhash_gate.common.complaints import why
from simhash_gate.gate.verdict import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

T = TypeVar("T")

BROKEN_PIPE = 141  # what a shell reports of a process that SIGPIPE ended: 128 + 13


class Console:
    """Writes results and complaints; counts the complaints."""

    def __init__(self) -> None:
        self.complaints = 0
        self._echo: Callable[[str], Any] = lambda message: click.echo(message, err=True)

    def complain(self, place: str, message: str) -> None:
        """Report an input that can't be used; what comes after it goes on."""
        self.complaints += 1
        self._echo(f"{place}: {message}")

    def complain_of_nothing(self, place: str, message: str, *, since: int = 0) -> None:
        """Report that a source has nothing to use.

        It counts once: not again where complaints beyond the first `since` were about it.
        """
        if self.complaints == since:
            self.complain(place, message)
        else:
            self.say(f"{place}: {message}")

    def write_lines(
        self,
        lines: Generator[dict[str, Any]],
        total: Callable[[], int | None],
        progress: bool | None,
    ) -> Counter[str]:
        """Write each line as JSON, whole or not at all; return how often each outcome came.

        A progress bar stands on stderr where `progress`; if that is None, where a terminal shows
        stderr and not the lines too.
        """
        if progress is None:
            progress = sys.stderr.isatty() and not sys.stdout.isatty()
        outcomes: Counter[str] = Counter()
        with closing(lines):
            for line in self.watched(lines, total(), progress):
                self.write(line)
                outcomes[line.get("outcome", "")] += 1
        return outcomes

    def watched(self, pages: Iterable[T], total: int | None, progress: bool | None) -> Iterable[T]:
        """Return the pages, with a bar on stderr while they are read; if None, on a terminal."""
        return self._bar(pages, total) if self.shows_a_bar(progress) else pages

    def shows_a_bar(self, progress: bool | None) -> bool:
        """Tell if a bar is asked for; if None, whether stderr is a terminal."""
        return sys.stderr.isatty() if progress is None else progress

    def say(self, message: str) -> None:
        """Say on stderr what a person should know."""
        self._echo(message)

    @contextmanager
    def counted(self, unit: str, progress: bool | None) -> Iterator[Callable[[int], object]]:
        """Yield what is told how many more there are; a bar as `watched` shows it counts them."""
        from tqdm import tqdm

        off = not self.shows_a_bar(progress)
        with tqdm(unit=f" {unit}", file=sys.stderr, dynamic_ncols=True, disable=off) as bar:
            yield bar.update

    def _bar(self, pages: Iterable[T], total: int | None) -> Any:
        from tqdm import tqdm

        bar = tqdm(pages, total=total, unit=" pages", file=sys.stderr, dynamic_ncols=True)
        self._echo = lambda message: bar.write(message, file=sys.stderr)
        return bar

    def write(self, line: dict[str, Any]) -> None:
        """Write one JSON object as a line of UTF-8. Exits quietly when nobody reads any more."""
        self.write_raw(encode(line))

    def write_raw(self, data: bytes) -> None:
        """Write whole lines to stdout. Exits quietly when nobody reads any more.

        Raises click.ClickException where they can't be written, on a full disk for one.
        """
        with _stdout():
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def show(self, lines: Iterable[str]) -> None:
        """Write text for a person to stdout: in colour on a terminal, unless NO_COLOR is set.

        Raises click.ClickException where it can't be written.
        """
        color = False if os.environ.get("NO_COLOR") else None
        with _stdout():
            for line in lines:
                click.echo(line, color=color)

    def summarise(self, outcomes: Counter[str]) -> None:
        """Say on stderr how many pages had each outcome."""
        parts = [f"{number} {outcome}" for outcome, number in outcomes.most_common()]
        click.echo(f"pages: {sum(outcomes.values())} ({', '.join(parts) or 'none'})", err=True)

    def status(self) -> int:
        """Return the exit status; say on stderr how many inputs could not be used."""
        if self.complaints:
            click.echo(f"could not be used: {self.complaints}", err=True)
        return 1 if self.complaints else 0


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
