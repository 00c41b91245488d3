"""Real crawls with scrapy-redis: its scheduler and its filter of duplicate requests."""

from __future__ import annotations

import pytest

from tests.crawls import alike

pytest.importorskip("scrapy_redis", reason="scrapy-redis is not installed")


@pytest.fixture
def beside(redis_server, tmp_path):
    settings = {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "REDIS_URL": redis_server.url,
        "SCHEDULER_QUEUE_KEY": f"{tmp_path.name}:requests",
        "SCHEDULER_DUPEFILTER_KEY": f"{tmp_path.name}:dupefilter",
    }
    return alike.Beside(spider=alike.PLAIN, settings=settings)


@pytest.mark.parametrize(
    "check",
    [alike.drops_alike, alike.audits_alike, alike.fetches_again_alike, alike.recovers_alike],
)
def test_alike(beside, tmp_path, check) -> None:
    check(beside, tmp_path)
