"""The settings of a crawl, read once, and the store that they mean."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote
from weakref import WeakKeyDictionary

from scrapy.utils.job import job_dir
from scrapy.utils.project import data_path

from simhash_gate.common.files import check_writable, private_folder
from simhash_gate.settings import SQLITE_DEFAULT, Settings, read_settings

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_read: WeakKeyDictionary[Crawler, Settings] = WeakKeyDictionary()


def settings_of(crawler: Crawler) -> Settings:
    """Return the gate's settings of a crawl. Raises `SettingsError`."""
    settings = _read.get(crawler)
    if settings is None:
        settings = _read[crawler] = read_settings(crawler.settings)
    return settings


def store_url(
    configured: str, settings: BaseSettings, spider: str, *, falls_back: bool = True
) -> str:
    """Return the URL of the store to open: the default of this crawl, and paths made absolute.

    Where the folder of a default path can't be written, the log says so, and memory is taken if
    `falls_back`.
    """
    folder = None
    if not configured:
        folder = job_dir(settings)
        if not folder:
            return "memory:"
        path = Path(folder) / "simhash_gate.sqlite"
    elif configured == SQLITE_DEFAULT:
        path = Path(data_path("simhash_gate")) / f"{quote(spider, safe='')}.sqlite"
    else:
        return configured
    path = path.absolute()
    url = f"sqlite:///{path}"
    if not falls_back:
        return url
    try:
        private_folder(path.parent)
        check_writable(path)
    except OSError as error:
        logger.error("The gate remembers this crawl in memory only: %s", error)
        return "memory:"
    return url
