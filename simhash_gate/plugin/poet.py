"""A provider for scrapy-poet: page objects and callbacks can depend on a verdict or the Markdown.

scrapy-poet makes page objects before a response comes to the gate. So the provider asks for the
verdict at once. A dropped page ends there, and no page object is made of it.
"""

from __future__ import annotations

import json
import logging
import pickle
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from scrapy import Request
from scrapy.http import Response

from simhash_gate.common.urls import without_credentials
from simhash_gate.gate.verdict import Verdict
from simhash_gate.page import Page
from simhash_gate.plugin.spider_middleware import CrawlGate, settings_of
from simhash_gate.values import PREFIX

try:
    from scrapy_poet.injection import Injector
    from scrapy_poet.page_input_providers import PageObjectInputProvider
    from web_poet.serialization import SerializedLeafData, register_serialization
except ImportError as error:
    raise ImportError(
        f"scrapy-poet is not installed ({error}): pip install 'simhash-gate[poet]'"
    ) from error

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class MarkdownPage:
    """A page as the gate read it.

    If the page was not read (`Verdict.page` is None), only the `url` is set: the title and the
    Markdown are empty, `words` is 0, and the others are None.
    """

    url: str
    title: str = ""
    markdown: str = ""
    words: int = 0
    fingerprint: int | None = None
    kind: str | None = None
    author: str | None = None
    date: str | None = None
    price: str | None = None
    language: str | None = None
    site: str | None = None
    description: str | None = None

    @classmethod
    def of(cls, url: str, page: Page | None) -> MarkdownPage:
        """Return the values of a page, or only the URL if it was not read."""
        if page is None:
            return cls(url)
        return cls(url, *(getattr(page, field.name) for field in fields(cls)[1:]))


class VerdictProvider(PageObjectInputProvider):
    """Provides `Verdict` and `MarkdownPage`: `SCRAPY_POET_PROVIDERS = {VerdictProvider: 500}`.

    Without a gate, the verdict is `skipped`.
    """

    name = "simhash_gate"
    provided_classes = {Verdict, MarkdownPage}  # noqa: RUF012 - as the class above says it

    def __init__(self, injector: Injector) -> None:
        super().__init__(injector)  # type: ignore[no-untyped-call]
        self._crawler = injector.crawler
        self._warned = False

    async def __call__(
        self, to_provide: set[Callable[..., Any]], request: Request, response: Response
    ) -> Sequence[Any]:
        """Return the requested dependencies. Raises `NearDuplicate` if the page is dropped."""
        verdict = await self._verdict(request, response)
        provided: list[Any] = [verdict] if Verdict in to_provide else []
        if MarkdownPage in to_provide:
            provided.append(MarkdownPage.of(without_credentials(response.url), verdict.page))
        return provided

    async def _verdict(self, request: Request, response: Response) -> Verdict:
        gate = self._crawler.get_downloader_middleware(CrawlGate)
        if gate is not None:
            return await gate.verdict_on(request, response)
        if not settings_of(self._crawler).enabled:
            return Verdict("skipped", f"{PREFIX}ENABLED is False")
        if not self._warned:
            self._warned = True
            logger.warning(
                "Verdicts are asked for, but the gate is not installed: "
                "ADDONS = {'simhash_gate.Addon': 0}"
            )
        return Verdict("skipped", "the gate is not installed")


def _write_page(page: MarkdownPage) -> SerializedLeafData:
    return {"json": json.dumps(asdict(page), ensure_ascii=False, indent=2).encode()}


def _write_verdict(verdict: Verdict) -> SerializedLeafData:
    return {"pickle": pickle.dumps(verdict)}


def _read_page(cls: type[MarkdownPage], leaf: SerializedLeafData) -> MarkdownPage:
    return cls(**json.loads(leaf["json"]))


def _read_verdict(_: type[Verdict], leaf: SerializedLeafData) -> Any:
    return pickle.loads(leaf["pickle"])


register_serialization(_write_page, _read_page)
register_serialization(_write_verdict, _read_verdict)
