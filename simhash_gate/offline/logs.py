"""What crawls leave: which files are verdict logs, the settings of their crawls, dropped pages."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from glob import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from simhash_gate.common.wording import Say, how_many, unread
from simhash_gate.journal.segments import Found
from simhash_gate.settings import SQLITE_DEFAULT, Settings, read_settings
from simhash_gate.sources import STDIN, Entry
from simhash_gate.sources.find import is_folder, names_store
from simhash_gate.sources.jsonl import OF_A_LOG, first_object
from simhash_gate.values import PREFIX, SettingsError

PLACE = Path(".scrapy", "simhash_gate")
"""The folder of a Scrapy project that is searched for the log of the last crawl."""
WITH_LOG = f"crawl with {PREFIX}VERDICTS = '{PLACE}/%(name)s-%(time)s.jsonl'"
"""How to get a verdict log there."""

_OF_FILES = {f"{PREFIX}{name}" for name in ("STORE", "JOURNAL", "VERDICTS", "REPORT")}
_SUFFIXES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")


def last_log() -> str:
    """Return the project's newest log. Raises FileNotFoundError that says how to get one."""
    if logs := logs_of_project():
        return logs[-1]
    raise FileNotFoundError(
        f"no verdict log in {PLACE}, here or in a folder above. Name a SOURCE, or {WITH_LOG}"
    )


def logs_of_project() -> list[str]:
    """Return the verdict logs of the project that the working directory is in, the newest last."""
    logs = Path(_project(), PLACE).glob("*.jsonl")
    return [str(path) for path in sorted(logs, key=lambda path: path.stat().st_mtime)]


def left_by(crawl: Mapping[str, Any]) -> list[str]:
    """Return what a crawl has left in the project: its store, its journal and its HttpCache.

    `crawl` is what a verdict log says of it. Without, it is what all spiders have left.
    """
    project, name = _project(), str(crawl.get("name", ""))
    given = crawl.get("settings") or {}
    files = [*Path(project, PLACE).glob(f"{escape(quote(name, safe='')) or '*'}.sqlite")]
    if crawl and (store := str(given.get(f"{PREFIX}STORE", ""))) != SQLITE_DEFAULT:
        path = store.partition("?")[0].partition("sqlite:///")[2]
        files = [Path(project, path)] if path else []
    stores = [f"sqlite:///{path}" for path in files if path.exists()]
    journal, caches = given.get(f"{PREFIX}JOURNAL", ""), Path(project, ".scrapy", "httpcache")
    folders = [Path(project, str(journal))] if journal else []
    folders += [caches / name] if name else caches.glob("*")
    return stores + [str(folder) for folder in folders if folder.is_dir()]


def _project() -> str:
    """Return the nearest folder with `.scrapy`, from the working directory upwards, relative."""
    here = Path.cwd()
    with_crawls = (folder for folder in (here, *here.parents) if (folder / PLACE.parent).is_dir())
    return os.path.relpath(next(with_crawls, here))


def is_log(path: str) -> bool:
    """Tell whether a file begins as a verdict log does."""
    return not first_object(path).keys().isdisjoint(OF_A_LOG)


def logs_in(folder: str, say: Say) -> list[str]:
    """Return the verdict logs in a folder, by name; `say` is told how many other files it has."""
    files = [Path(place, name) for place, _, names in os.walk(folder) for name in names]
    logs = [str(it) for it in sorted(files) if it.name.endswith(_SUFFIXES) and is_log(str(it))]
    if logs:
        others = sorted({*map(str, files)} - {*logs})
        more = f", {unread(folder, len(others), others[:3])}" if others else ""
        say(f"{folder}: {how_many(len(logs), 'verdict log')}{more}")
    return logs


def named_logs(sources: Iterable[str], say: Say, refuse: Say) -> Iterator[str]:
    """Yield the verdict logs in some sources, and stores; `refuse` is called with other sources."""
    for source in sources:
        for path in (logs_in(source, say) if is_folder(source) else []) or [source]:
            if names_store(path) or path == STDIN or is_log(path) or not Path(path).exists():
                yield path  # what is missing is told when it is opened
            else:
                refuse(path)


def settings_of_crawl(crawl: Mapping[str, Any], more: Mapping[str, Any]) -> Settings:
    """Return the settings by which the pages of a log were judged, with `more` on top.

    `crawl` is what its first verdict says of the crawl. What can't be read, such as that of another
    release, is left out. Raises `SettingsError` for what is wrong in `more`.
    """
    settings, domains = crawl.get("settings"), crawl.get("domains")
    known = {PREFIX + "DOMAINS": domains} if isinstance(domains, dict) else {}
    known |= settings if isinstance(settings, dict) else {}
    judged_by = {name: value for name, value in known.items() if name not in _OF_FILES}
    try:
        return read_settings({**judged_by, **more})
    except SettingsError:
        return read_settings(more)


def entry_of(found: Found) -> Entry:
    """Return a dropped page of a journal."""
    drop = found.drop
    return Entry(found.place, found.body, url=drop.url, encoding=drop.encoding)
