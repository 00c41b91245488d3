"""Page-reading processes that are started before the gate: whose they are, and who ends them."""

import gc

import pytest
from scrapy.settings import Settings

from simhash_gate.options import Options
from simhash_gate.pipeline import read_page
from simhash_gate.plugin.addon import Addon
from simhash_gate.workers.pool import WorkerPool

BODY = b"<article><h1>Title</h1><p>" + b"word " * 50


def addon(**settings) -> Addon:
    made = Addon()
    made.update_settings(Settings({f"SIMHASH_GATE_{key}": it for key, it in settings.items()}))
    return made


@pytest.mark.parametrize("size", [1, 2])
def test_a_pool_reads_pages_in_the_processes_that_were_started_and_ends_all(size: int) -> None:
    started = addon(WORKERS="2").take_processes()
    pool = WorkerPool(Options(), size, timeout=10, started=started)
    try:
        assert pool.read(BODY, "", None).result(60) == read_page(BODY)
        assert [worker.process for worker in pool._workers] == started[:size]
    finally:
        pool.close()
    assert all(process.returncode is not None for process in started)


def test_processes_that_nobody_takes_are_ended_with_the_addon() -> None:
    made = addon(WORKERS=1)
    (process,) = made._processes
    assert process.poll() is None
    del made
    gc.collect()
    assert process.returncode is not None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("ENABLED", False), ("ENABLED", "perhaps")),
        *(("WORKERS", 0), ("WORKERS", "many"), ("WORKERS", float("inf"))),
    ],
)
def test_none_is_started_where_none_can_be_used(name: str, value: object) -> None:
    assert addon(**{name: value}).take_processes() == []
