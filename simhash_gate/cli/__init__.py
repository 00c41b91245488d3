"""The `simhash-gate` command. Each command is a module: its options, and what it does.

A module is imported when its command runs, so that the list of commands is shown at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TypeVar

import click

T = TypeVar("T")

INTERRUPTED = 130  # what a shell reports of a process that Ctrl-C ended: 128 + 2
OF_PAGES = ("dedupe", "fingerprint", "replay")  # commands that a store has nothing for
COMMANDS = {
    "crawl": "Crawl a site, and write a corpus of its pages.",
    "dedupe": "Write a corpus without near-duplicates.",
    "fingerprint": "Print the fingerprint of each page.",
    "history": "Show how pages changed.",
    "pairs": "Find all pairs of near-duplicate pages.",
    "replay": "Judge stored pages as a crawl would.",
    "report": "Make an HTML report of verdicts.",
    "similar": "Find the pages that are like one page.",
    "store": "Fill a store; list, remove or move its pages.",
    "urls": "Suggest rules that skip requests for known pages.",
    "why": "Tell what became of a page, and why; or compare two.",
}
"""The commands, and what each does, in short."""
_FILES = {"duplicates", "journal", "other", "output", "page", "pages", "report", "sources"}
QUIET = "simhash_gate.quiet"
"""Says in the context of a command that the option -q was given."""
_QUIET = click.Option(
    ["-q", "--quiet"],
    is_flag=True,
    is_eager=True,  # before the console is made
    expose_value=False,
    callback=lambda context, _, quiet: context.meta.update({QUIET: quiet}),
    help="Tell only what could not be used.",
)


class Commands(click.Group):
    """Finds a command in the module of its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Return a command. Raises click.UsageError if there is none of this name."""
        if cmd_name not in COMMANDS:
            from simhash_gate.values import meant

            raise click.UsageError(f"No such command {cmd_name!r}; {meant(cmd_name, COMMANDS)}")
        module = {"similar": "pairs"}.get(cmd_name, cmd_name)
        found: click.Command = getattr(import_module(f"{__name__}.{module}"), cmd_name)
        for each in (found, *getattr(found, "commands", {}).values()):
            if each.params[-1:] != [_QUIET]:
                each.params.append(_QUIET)
            for parameter in each.params:
                if parameter.name in _FILES and parameter.type is click.STRING:
                    parameter.type = click.Path(readable=False)  # a shell completes it
                if isinstance(parameter, click.Argument) or parameter.name in ("sources", "pages"):
                    parameter.callback = _plausible
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="simhash-gate")
def cli() -> None:
    """Make a corpus of a site; work with pages on disk and with stores.

    Results go to stdout, one JSON object per line. Messages go to stderr.

    Exit status: 0 if all input was used. 1 if some input could not be used. 2 if the command line
    or a setting is wrong.
    """


def _plausible(context: click.Context, argument: click.Parameter, value: T) -> T:
    """Refuse what can't be meant, before it is read as something else, and say what to write."""
    names = {parameter.name for parameter in context.command.params}
    of_pages = argument.name == "sources" and context.command.name in OF_PAGES
    is_store = argument.name == "store" or (argument.name == "url" and "store" not in names)
    for each in value if isinstance(value, tuple) else (value,):
        if isinstance(each, str) and (
            message := _mistake(each, argument.name or "", is_store, of_pages=of_pages)
        ):
            raise click.BadParameter(message)
    return value


def _mistake(value: str, name: str, is_store: bool, *, of_pages: bool) -> str:
    """Return what is wrong with an argument, "" for nothing."""
    is_web, is_url = value.startswith(("http://", "https://")), "://" in value
    if not value:  # as a path it would be the working directory
        return "the argument is empty. Is a variable not set?"
    is_file = not is_url and _is_sqlite(value)
    if is_file and not of_pages:
        return f"{value} is a store. Write sqlite:///{value}"
    if is_store and is_web:
        return f"{value} is no store. The store comes first, then the page"
    if is_store and not is_url and ":" not in value:
        return f"{value} is no store. Write its URL, such as sqlite:///pages.sqlite"
    if name == "sources" and is_web:
        return f"{value}: nothing is fetched. Name files, folders or stores; the page comes last"
    if is_file or (is_url and not is_web and (of_pages or name in ("page", "other"))):
        from simhash_gate.stores.base import without_password

        shown = without_password(value)
        if of_pages:
            return f"{shown}: a store has no pages to read. Name the files of the crawl"
        return f"{shown} is no page. A store comes first; for `why`, after --in"
    return ""


def _is_sqlite(path: str) -> bool:
    with suppress(OSError, ValueError):
        if os.path.isfile(path):  # noqa: PTH113 - a pipe can't be read twice
            with open(path, "rb") as file:  # noqa: PTH123 - any name is asked for
                return file.read(16) == b"SQLite format 3\0"
    return False


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    sys.path.append(str(Path.cwd()))  # settings may name classes of the project here
    try:
        status = cli.main(arguments, prog_name="simhash-gate", standalone_mode=False)
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        shown = error
    except Exception as error:
        from simhash_gate.collection.listing import TooManyError
        from simhash_gate.common.wording import MissingExtraError
        from simhash_gate.stores.base import StoreError, StoreURLError
        from simhash_gate.values import SettingsError

        if isinstance(error, SettingsError | StoreURLError):
            shown = click.UsageError(str(error))
        elif isinstance(error, MissingExtraError | StoreError | TooManyError | OSError):
            shown = click.ClickException(str(error))
        else:  # a defect of the program
            raise
    else:
        return status or 0
    shown.show()
    return shown.exit_code
