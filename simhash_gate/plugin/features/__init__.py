"""The list of the features of a crawl. Each is a listener in a module of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scrapy.utils.misc import load_object

from simhash_gate.plugin.listeners import Crawl, Listener
from simhash_gate.settings import Settings
from simhash_gate.values import PREFIX, SettingsError

FEATURES: tuple[tuple[str, Callable[[Settings], bool] | None], ...] = (
    ("stats.GateStats", None),
    ("kept_texts.KeptTexts", lambda settings: settings.keep_markdown > 0),
    ("revalidation.Revalidation", lambda settings: settings.revalidates),
    ("waiting_room.WaitingRoom", None),
    ("resend_dropped.Resending", None),
    ("site_warnings.AlikePages", None),
    ("site_warnings.AnswerWatch", None),
    ("site_warnings.SelectorWatch", lambda settings: bool(settings.policies.compared)),
    ("site_warnings.RedesignWatch", None),
    ("held_items.FieldMemory", None),
    ("held_items.PollWatch", None),
    ("verdict_log.VerdictLog", lambda settings: bool(settings.verdicts or settings.report)),
    ("journal.Journal", lambda settings: bool(settings.journal)),
    ("announcements.Announcements", None),
)
"""The listeners in the order of their calls, and when each is needed (None: always). The modules of
others are not loaded. The project's own follow."""


def listeners_of(crawl: Crawl) -> Iterator[Listener]:
    """Yield the listeners of a crawl. Raises `SettingsError`."""
    settings = crawl.settings
    needed = [path for path, wanted in FEATURES if wanted is None or wanted(settings)]
    for path in (*(f"{__package__}.{path}" for path in needed), *settings.listeners):
        try:
            kind = load_object(path)
        except (ImportError, NameError, ValueError) as error:
            raise SettingsError(f"{PREFIX}LISTENERS: {path}: {error}") from error
        if not (isinstance(kind, type) and issubclass(kind, Listener)):
            raise SettingsError(f"{PREFIX}LISTENERS: {path} is no simhash_gate.Listener")
        if (listener := kind.for_crawl(crawl)) is not None:
            yield listener
