"""The list of the features of a crawl. Each is a listener in a module of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scrapy.utils.misc import load_object

from simhash_gate.plugin.listeners import Crawl, Listener
from simhash_gate.settings import Settings
from simhash_gate.values import PREFIX, SettingsError

Wanted = Callable[[Settings], bool]
"""Tells whether the settings of a crawl need a feature. The module of others is not loaded."""


def _always(_: Settings) -> bool:
    return True


FEATURES: tuple[tuple[str, Wanted], ...] = (
    ("stats.GateStats", _always),
    ("kept_texts.KeptTexts", lambda settings: settings.keep_markdown > 0),
    ("revalidation.Revalidation", lambda settings: settings.revalidates),
    ("waiting_room.WaitingRoom", _always),
    ("resend_dropped.Resending", _always),
    ("site_warnings.AlikePages", _always),
    ("site_warnings.AnswerWatch", _always),
    ("site_warnings.SelectorWatch", lambda settings: bool(settings.policies.compared)),
    ("site_warnings.RedesignWatch", _always),
    ("held_items.FieldMemory", _always),
    ("held_items.PollWatch", _always),
    ("verdict_log.VerdictLog", lambda settings: bool(settings.verdicts or settings.report)),
    ("journal.Journal", lambda settings: bool(settings.journal)),
    ("announcements.Announcements", _always),
)
"""The listeners in the order of their calls, and when each is needed. The project's own follow."""


def listeners_of(crawl: Crawl) -> Iterator[Listener]:
    """Yield the listeners of a crawl. Raises `SettingsError`."""
    settings = crawl.settings
    own_paths = (f"{__package__}.{path}" for path, is_wanted in FEATURES if is_wanted(settings))
    for path in (*own_paths, *settings.listeners):
        try:
            kind = load_object(path)
        except (ImportError, NameError, ValueError) as error:
            raise SettingsError(f"{PREFIX}LISTENERS: {path}: {error}") from error
        if not (isinstance(kind, type) and issubclass(kind, Listener)):
            raise SettingsError(f"{PREFIX}LISTENERS: {path} is no simhash_gate.Listener")
        if (listener := kind.for_crawl(crawl)) is not None:
            yield listener
