"""The extension that docs/production.md names, in a real crawl, with a real socket."""

import shutil
import socket

import pytest

from tests.crawls.harness import ROOT, Site, crawl, page

pytestmark = pytest.mark.slow


def test_the_documented_extension_sends_the_stats_of_the_gate(tmp_path) -> None:
    shutil.copy(ROOT / "examples/stats_to_statsd.py", tmp_path)
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server,
        Site({"/1": page(1), "/1?print=1": page(1, noise=3)}).running() as site,
    ):
        server.bind(("127.0.0.1", 0))
        server.settimeout(0.5)
        chosen = {
            "EXTENSIONS": '{"stats_to_file.StatsToFile": 0, "stats_to_statsd.StatsToStatsd": 500}',
            "STATSD": f"127.0.0.1:{server.getsockname()[1]}",
        }
        done = crawl(tmp_path, site, "/1 /1?print=1", settings=chosen)
        assert "Traceback" not in done.log
        received = set()
        try:
            while True:
                received.add(server.recv(1000).decode())
        except TimeoutError:
            pass
    assert {"test.simhash_gate.checked:2|g", "test.simhash_gate.duplicate:1|g"} <= received
