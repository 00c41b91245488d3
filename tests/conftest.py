"""What the tests of every room use: the stores and their servers, a browser, the slow ones."""

import os
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.chromium import MissingError, find_chromium
from tests.crawls.harness import end_crawls

# A run starts hundreds of processes that load the same modules: they are compiled once, also where
# the environment says that no bytecode is to be written.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

HERE = Path(__file__).parent
SLOW_ROOMS = {"benchmarks", "crawler", "crawls", "examples"}
SLOW_MODULES = {
    "collection/test_pairs.py",
    "collection/test_stream.py",
    "offline/test_bad_input.py",
    "offline/test_dedupe_command.py",
    "offline/test_idf_command.py",
    "offline/test_replay_http_cache.py",
    "offline/test_report_command.py",
    "offline/test_store_import_command.py",
    "sources/test_parquet_pages.py",
    "sources/test_read_pages.py",
    "stores/test_network.py",
    "stores/test_redis_server.py",
}
"""Whose items take more than half a second on average, or start processes."""
SLOW_FIXTURES = {
    *("apart", "at_terminal", "chromium", "crawler", "own_redis", "postgresql_server"),
    *("real_server", "redis_cluster_server", "redis_server", "spark"),
}
"""What starts a browser, a server, or processes."""
SKIPPED_IN_CI = {
    "PySpark brings the server of Spark Connect from 4.0 on",
    "Scrapy's HTTP download handler needs a reactor before 2.19",
}
"""Why a test may be skipped where the variable CI is "true"; for any other reason, it fails."""
NOBODY = 65534

pytest_plugins = ["tests.stores.store_urls"]

# Nothing is timed in a test: examples take as long as the machine needs for them.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# A shell lets what it starts in the background ignore Ctrl-C, and all that this starts in turn.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)  # where pytest-xdist is installed
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import WorkStealingScheduling  # a process without tests takes others'

    return WorkStealingScheduling(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    # Beside each other, and first: one process runs them then, with one JVM.
    items.sort(key=lambda item: item.path.parent.name != "spark")
    for item in items:
        module = item.path.relative_to(HERE)
        if (
            module.parts[0] in SLOW_ROOMS
            or module.as_posix() in SLOW_MODULES
            or SLOW_FIXTURES.intersection(item.fixturenames)
        ):
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    fail_if_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    fail_if_skipped(report)
    return report


def fail_if_skipped(report) -> None:
    """Let nothing be skipped in silence where the variable CI is "true"."""
    if os.environ.get("CI") == "true" and report.skipped and not hasattr(report, "wasxfail"):
        _, _, told = report.longrepr
        reason = told.removeprefix("Skipped: ")
        if reason not in SKIPPED_IN_CI:
            report.outcome = "failed"
            report.longrepr = f"skipped, which is a failure where CI is true: {reason}"


@pytest.fixture(autouse=True)
def _no_crawl_outlives_its_test():
    yield
    end_crawls()


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a browser. Without one the test is skipped."""
    try:
        return find_chromium()
    except MissingError as error:
        pytest.skip(str(error))


@pytest.fixture
def without_root():
    """A folder, and no right to read or write everything: root goes on as "nobody"."""
    with tempfile.TemporaryDirectory() as folder:
        if os.geteuid() != 0:
            yield Path(folder)
            return
        os.chown(folder, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, 0)  # the real one too: os.access asks for it
        try:
            yield Path(folder)
        finally:
            os.setresuid(0, 0, 0)
