"""Pages of a browser that come with dropped responses: nobody else would close them.

scrapy-playwright leaves a page open for the callback of a request with `playwright_include_page`.
A page that stays open takes the place of others, until a crawl stands still.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy import Request

logger = logging.getLogger(__name__)

KEY = "playwright_page"


def orphaned_page(request: Request) -> Any:
    """Take the page of a browser out of a dropped request; None if it has none.

    An errback gets the page with the request, and closes it, as it does after any failure.
    """
    if request.errback is not None:
        return None
    return request.meta.pop(KEY, None)


async def close(page: Any) -> None:
    """Close the page of a browser."""
    try:
        await page.close()
    except Exception as error:
        logger.warning("A page of the browser could not be closed: %s", error)
