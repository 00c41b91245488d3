"""What commands share: stdout for results, stderr for messages and the bar, and their options."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from simhash_gate.cli import QUIET
from simhash_gate.common.files import check_writable, private_folder, private_lock, whole_file
from simhash_gate.common.times import seconds_of
from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import printable, why
from simhash_gate.gate.verdict import encode
from simhash_gate.offline.logs import settings_of_crawl
from simhash_gate.settings import Settings
from simhash_gate.sources import STDIN
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from tqdm import tqdm

_MOST_ALIKE = 10
BROKEN_PIPE = 141  # what a shell reports of a process that SIGPIPE ended: 128 + 13


class Console:
    """Writes results and messages, and counts the inputs that can't be used.

    A progress bar is shown if `progress` is True; if it is None, on a terminal. After `-q`, only
    what can't be used is told.
    """

    def __init__(self, progress: bool | None = None) -> None:
        self.complaints = 0
        self._similar: Counter[tuple[str, str]] = Counter()
        context = click.get_current_context(silent=True)
        self.quiet = bool(context and context.meta.get(QUIET))
        self._progress = False if self.quiet and progress is None else progress
        self._echo: Callable[[str], Any] = lambda message: click.echo(message, err=True)

    def complain(self, place: str, message: str) -> None:
        """Report an input that can't be used. The command goes on with the next.

        Of a file of another kind, each line would be reported: those beyond the first are counted.
        """
        self.complaints += 1
        place, message = printable(place), printable(message)  # a file may have any name
        file, _, line = place.rpartition(":")
        kind = file, message.partition(":")[0]
        self._similar[kind] += line.isdigit()
        if self._similar[kind] <= _MOST_ALIKE:
            self._echo(f"{place}: {message}")
        elif self._similar[kind] == _MOST_ALIKE + 1:
            self._echo(f"{file}: {kind[1]}: more lines are like this")

    def complain_of_nothing(self, place: str, message: str) -> None:
        """Report that a source has nothing to use, as an input that can't be used.

        It counts as none if there are complaints already: one of them says why.
        """
        if self.complaints:
            self.say(f"{place}: {message}")
        else:
            self.complain(place, message)

    def say(self, message: str) -> None:
        """Write a message to stderr."""
        if not self.quiet:
            self._echo(printable(message))

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
        self,
        lines: Generator[dict[str, Any]],
        total: Callable[[], int | None] = lambda: None,
        tell: Callable[[dict[str, Any]], object] = lambda _: None,
    ) -> int:
        """Write each line as JSON, and `tell` of it; return how many there were.

        The terminal that shows the lines shows no bar, unless it is asked for.
        """
        if self._progress is None and sys.stdout.isatty():
            self._progress = False
        written = 0
        with closing(lines):
            for line in self.bar(lines, total):
                tell(line)
                self.write(line)
                written += 1
        return written

    def write(self, line: dict[str, Any]) -> None:
        """Write one JSON object as a line of UTF-8. Exits quietly when nobody reads any more.

        Raises click.ClickException where it can't be written, on a full disk for example.
        """
        with self.sink(None) as file:
            file.write(encode(line))

    @contextmanager
    def sink(self, output: str | None, *, private: bool = False) -> Iterator[BinaryIO]:
        """Give stdout, or a file that is replaced at the end. Raises click.ClickException.

        A `private` file is for its owner alone, and its folder is made if needed.
        """
        if output in (None, STDIN):
            with _stdout():
                yield sys.stdout.buffer
                sys.stdout.buffer.flush()
            return
        with disk(output):
            if private:
                private_folder(Path(output).parent)
            with whole_file(output, private=private) as file:
                yield file

    def show(self, lines: Iterable[str]) -> None:
        """Write lines to stdout, coloured on a terminal without NO_COLOR. Raises ClickException."""
        color = False if os.environ.get("NO_COLOR") else None
        with _stdout():
            for line in lines:
                click.echo(line, color=color)

    def status(self) -> int:
        """Return the exit status; say on stderr how many inputs could not be used."""
        if self.complaints:
            click.echo(f"inputs that could not be used: {self.complaints}", err=True)
        return 1 if self.complaints else 0


def check_place(path: str | None, sources: Iterable[str] = ()) -> None:
    """Raise click.ClickException, before hours of reading, if `-o` is no place, or a source."""
    if path not in (None, STDIN):
        with disk(path):
            target, given = Path(path), map(Path, sources)
            if target.exists() and any(it.exists() and target.samefile(it) for it in given):
                raise click.UsageError(f"{path} is a source. Name another file for the output")
            check_writable(path)


@contextmanager
def disk(place: str) -> Iterator[None]:
    """Name the place where the disk failed. Raises click.ClickException."""
    try:
        yield
    except OSError as error:
        raise click.ClickException(f"{place}: {why(error)}") from None


@contextmanager
def own_folder(output: str, ending: str) -> Iterator[Path]:
    """Make a folder beside an output, for one command. Raises click.ClickException for another."""
    from filelock import Timeout

    target = Path(output).absolute()
    folder = target.with_name(f"{target.name}.{ending}")
    with disk(f"-o {output}"):
        private_folder(folder)
    try:
        with private_lock(folder / "lock").acquire(blocking=False):
            yield folder
    except Timeout:
        raise click.ClickException(f"{output}: another command is writing it") from None


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


_setting = partial(
    click.option,
    "-s",
    "--set",
    metavar="NAME=VALUE",
    multiple=True,
    help="A SIMHASH_GATE_* setting, as in Scrapy. Repeat the option for more settings.",
)
setting = _setting("assignments")
with_settings = _setting("settings", callback=lambda _context, _option, given: settings_of(given))
"""Gives a command the option -s; it is called with the `settings` that are read of it."""
with_console = click.option(
    "--progress/--no-progress",
    "console",
    default=None,
    callback=lambda _context, _option, progress: Console(progress),
    help="Show or hide the progress bar on stderr. By default, a terminal shows it, unless the "
    "results go to the same terminal.",
)
"""Gives a command the options of a progress bar; it is called with a `console`."""
output = click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to FILE, not to stdout. FILE is replaced only when all is written.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, not text.")


def settings_of(assignments: Sequence[str], crawl: Mapping[str, Any] | None = None) -> Settings:
    """Return what `-s` gave, on top of the settings in a `crawl`'s log. Raises SettingsError."""
    given = assigned(assignments, f"{PREFIX}NAME=VALUE", lambda name: name.startswith(PREFIX))
    return settings_of_crawl(crawl or {}, given)


def assigned(
    assignments: Sequence[str], expected: str, is_expected: Callable[[str], bool]
) -> dict[str, str]:
    """Return the values that `-s` gave, by name. Raises click.UsageError."""
    given = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not is_expected(name):
            raise click.UsageError(f"-s {assignment}: expected {expected}")
        given[name] = value
    return given


def age(value: str) -> float:
    """Return the seconds of a time span such as 7d."""
    try:
        return seconds_of(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def with_chosen(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options that choose pages, and call it with the pages as `chosen`."""

    @click.option("--domain", metavar="NAME", help="Only pages of this domain and its subdomains.")
    @click.option("--scope", metavar="NAME", help="Only pages of this scope.")
    @click.option("--page", metavar="URL", help="Only the page that this URL leads to.")
    @click.option(
        "--age",
        type=age,
        metavar="AGE",
        help="Pages that were last seen longer ago than AGE: 90s, 30m, 12h, 7d.",
    )
    @wraps(command)
    def run(*, domain: Any, scope: Any, page: Any, age: Any, **given: Any) -> int:
        from simhash_gate.offline.chosen import Chosen  # with what asks stores

        own = page and without_credentials(page)  # as pages are remembered
        return command(chosen=Chosen(domain, scope, own, age), **given)

    return run
