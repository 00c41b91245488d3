from __future__ import annotations

import signal
import socket
import ssl
import subprocess
import sys
from urllib.error import HTTPError, URLError
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener

import pytest

from crawler.site.process import (
    DIRECT,
    PROJECT,
    SiteError,
    SiteProcess,
    contents,
    running_site,
    serve_number,
    truth,
)
from tests.crawls.harness import alive, until

ORPHAN = """
import time
from crawler.site.process import SiteProcess
print(SiteProcess(2, 1).process.pid, flush=True)
time.sleep(600)
"""
pytestmark = pytest.mark.slow


def test_a_site_answers_until_the_block_ends_and_tells_what_it_served():
    with running_site(3) as url:
        with DIRECT.open(f"{url}/", timeout=10) as response:
            assert response.headers["X-Demo-Serve"] == "1"
        assert serve_number(url) == 1
        with pytest.raises(HTTPError, match="404"):
            DIRECT.open(f"{url}/nowhere", timeout=10)
        known = truth(url)
        encodings = set()
        for path in ("/", "/about", "/contact", "/terms", "/imprint", "/privacy", "/live", "/shop"):
            request = Request(url + path, headers={"Accept-Encoding": "gzip"})
            with DIRECT.open(request, timeout=10) as response:
                encodings.add(response.headers["Content-Encoding"])
        assert "gzip" in encodings
    assert known.articles == ["a00000", "a00001", "a00002"]
    served = [(entry.serve, entry.path, entry.status) for entry in known.log]
    assert served == [(1, "/", 200), (2, "/nowhere", 404)]
    with pytest.raises(SiteError, match="no demonstration site answers"):
        serve_number(url)


def test_a_site_tells_what_urls_show_without_serving_them():
    with running_site(8, urls="partial") as url:
        told = contents(url, [f"{url}/about", f"{url}/nowhere", f"{url}/about?v=1"])
        assert serve_number(url) == 0
        with pytest.raises(HTTPError, match="404"):
            DIRECT.open(url, data=b"[]", timeout=10)
    assert told == ["/about", "", "/about"]


def test_a_site_answers_for_its_names_by_plain_http_and_by_tls():
    host = "m.daily-miniature.example.net"
    with running_site(4, urls="aliases") as url:
        untrusting = ssl.create_default_context()
        untrusting.check_hostname, untrusting.verify_mode = False, ssl.CERT_NONE
        proxies = ProxyHandler({"http": url, "https": url})
        opener = build_opener(proxies, HTTPSHandler(context=untrusting))
        asked = [f"{scheme}://{host}/about" for scheme in ("http", "https", "https")]
        for each in asked:
            with opener.open(each, timeout=30) as response:
                assert b"The Daily Miniature" in response.read()
        assert [entry.path for entry in truth(url).log] == asked
        wary = build_opener(proxies, HTTPSHandler(context=ssl.create_default_context()))
        with pytest.raises(URLError, match="self-signed"):
            wary.open(asked[-1], timeout=30)


def test_the_site_stops_at_sigterm_and_when_its_parent_is_killed():
    site = SiteProcess(2, 1)
    site.process.send_signal(signal.SIGTERM)
    assert site.process.wait(timeout=30) == 0
    site.stop()
    with subprocess.Popen(
        [sys.executable, "-c", ORPHAN], cwd=PROJECT, stdout=subprocess.PIPE, text=True
    ) as parent:
        pid = int(parent.stdout.readline())
        assert alive(pid)
        parent.kill()
    until(lambda: not alive(pid))


def test_a_port_in_use_is_a_clear_error(capfd):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SiteError, match="did not start"):
            SiteProcess(2, 1, port)
    assert f"can't listen on port {port}" in capfd.readouterr().err
