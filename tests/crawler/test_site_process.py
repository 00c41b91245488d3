import subprocess
import sys
from urllib.error import HTTPError

import pytest

from crawler.site.process import DIRECT, PROJECT, SiteError, running_site, serve_number, truth
from tests.crawls.harness import alive, until

ORPHAN = """
import time
from crawler.site.process import SiteProcess
print(SiteProcess(2, 1).process.pid, flush=True)
time.sleep(600)
"""


def test_a_site_answers_until_the_block_ends_and_tells_what_it_served():
    with running_site(3) as url:
        with DIRECT.open(f"{url}/", timeout=10) as response:
            assert response.headers["X-Demo-Serve"] == "1"
        assert serve_number(url) == 1
        with pytest.raises(HTTPError, match="404") as missing:
            DIRECT.open(f"{url}/nowhere", timeout=10)
        missing.value.close()
        known = truth(url)
    assert known.articles == ["a00000", "a00001", "a00002"]
    served = [(entry.serve, entry.path, entry.status) for entry in known.log]
    assert served == [(1, "/", 200), (2, "/nowhere", 404)]
    with pytest.raises(SiteError, match="no demonstration site answers"):
        serve_number(url)


def test_the_site_stops_when_its_parent_is_killed():
    with subprocess.Popen(
        [sys.executable, "-c", ORPHAN], cwd=PROJECT, stdout=subprocess.PIPE, text=True
    ) as parent:
        pid = int(parent.stdout.readline())
        assert alive(pid)
        parent.kill()
    until(lambda: not alive(pid))
