"""Real crawls whose files nobody else may read, and whose outputs name no password."""

import gzip
import re
import stat

import pytest

from tests.crawls.harness import Answer, Site, crawl, page

# What Scrapy makes, and the test.
THEIRS = {"spider.py", "items.jsonl", "stats.json", "scrapy.cfg"}
FOLDERS = ("job/requests.queue", ".scrapy")
MODES = """
import pathlib, stat
def modes():
    return {str(path): stat.S_IMODE(path.lstat().st_mode) for path in pathlib.Path().rglob("*")}
class Spider(Base):
    name = "test"
    def parse(self, response):
        for item in super().parse(response):
            yield {**item, "modes": modes()}
"""
EVERYTHING = {
    "CONCURRENT_REQUESTS": 1,
    "SIMHASH_GATE_JOURNAL": "kept/dropped",
    "SIMHASH_GATE_VERDICTS": "out/verdicts.jsonl",
    "SIMHASH_GATE_REPORT": "report/report.html",
}
COPIES = {f"/{n}": page(1, noise=n) for n in range(12)}


def ours(modes: dict[str, int]) -> dict[str, int]:
    return {
        path: mode
        for path, mode in modes.items()
        if path not in (*THEIRS, *FOLDERS, "job")
        and not path.startswith(("job/requests.", "job/spider.state", "__pycache__"))
    }


@pytest.mark.parametrize(
    ("store", "umask"),
    [
        ({"SIMHASH_GATE_STORE": "sqlite:///new/store.sqlite"}, 0),
        ({"SIMHASH_GATE_STORE": "sqlite:"}, 0o022),
        ({"JOBDIR": "job"}, 0o777),
    ],
    ids=["path", "default", "jobdir"],
)
def test_what_a_crawl_writes_is_its_owners_alone(tmp_path, store: dict, umask: int) -> None:
    (tmp_path / "scrapy.cfg").touch()
    for folder in FOLDERS:  # which Scrapy would make such that it can't enter them
        (tmp_path / folder).mkdir(parents=True)
    routes, settings = {**COPIES, "/b": page(2)}, {**EVERYTHING, **store}
    result = crawl(tmp_path, routes, spider=MODES, settings=settings, umask=umask)
    assert result.delivered() == ["/0", "/b"]
    live = ours(result.items[-1]["modes"])
    for ending in (".sqlite", ".sqlite-wal", ".sqlite-shm", ".lock", ".warc.gz", "verdicts.jsonl"):
        assert any(path.endswith(ending) for path in live), ending
    left = [path.relative_to(tmp_path) for path in tmp_path.rglob("*")]
    after = {str(path): stat.S_IMODE((tmp_path / path).lstat().st_mode) for path in left}
    assert {"out/verdicts.jsonl", "report/report.html"} <= set(after)
    for path, mode in [*live.items(), *ours(after).items()]:
        folder = (tmp_path / path).is_dir()
        assert oct(mode) == oct(0o700 if folder else 0o600), path


# Downloaders other than Scrapy's own log in by what the URL says, and leave it there.
PASSWORDS = """
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.logformatter import LogFormatter
class Handler(HTTP11DownloadHandler):
    async def download_request(self, request):
        bare = request.replace(url=request.url.replace("user:secret@", ""))
        response = await super().download_request(bare)
        return response.replace(url=request.url)
class Quiet(LogFormatter):
    def spider_error(self, failure, request, response, spider):
        return {"level": 40, "msg": "broken", "args": {}}
class Spider(Base):
    name = "test"
    custom_settings = {"DOWNLOAD_HANDLERS": {"http": Handler}, "LOG_FORMATTER": Quiet}
    def request(self, path, **kwargs):
        url = self.settings["TEST_SITE"].replace("//", "//user:secret@") + path
        return super().request(path, **kwargs).replace(url=url)
    def parse(self, response):
        verdict = response.meta["simhash_gate_verdict"]
        if response.url.endswith("/fails"):
            raise ValueError("broken")
        yield {"said": repr(verdict), "text": f"{response.url}: {len(response.body)}"}
    def failed(self, failure):
        yield {"said": str(failure.value)}
"""
LINKS = '<a href="/next">on</a> <a href="deeper">and on</a>'


@pytest.mark.parametrize(
    "more",
    [{"SIMHASH_GATE_WORKERS": 1, "SIMHASH_GATE_ACTION": "tag"}, {"SIMHASH_GATE_VERIFY": True}],
    ids=str,
)
def test_no_output_of_a_crawl_names_a_password(tmp_path, more: dict) -> None:
    routes = {f"/{n}": page(1, noise=n, links=LINKS) for n in range(24)}
    routes |= {"/fails": page(2), "/copy": page(2, noise=1), "/missing": Answer(b"gone", 404)}
    settings = {**EVERYTHING, **more, "SIMHASH_GATE_STORE": "sqlite:///store.sqlite"}
    with Site(routes).running() as site:
        first = crawl(tmp_path, site, " ".join(routes), spider=PASSWORDS, settings=settings)
        second = crawl(tmp_path, site, "/0 /1", spider=PASSWORDS, settings=settings)
    alike = re.findall("WARNING: Pages of 127.0.0.1 at different addresses are dup.*", first.log)
    assert len(alike) == (settings.get("SIMHASH_GATE_ACTION") != "tag")
    assert first.count("forgotten") == 1
    assert second.count("unchanged") > 0
    for result in (first, second):
        assert "secret" not in result.log
        assert "secret" not in str([item["said"] for item in result.items])
    looked_at = 0
    for path in tmp_path.rglob("*"):
        name = path.name
        if path.is_file() and name != "items.jsonl" and not name.endswith((".py", ".pyc")):
            data = path.read_bytes()
            assert b"secret" not in (gzip.decompress(data) if name.endswith(".gz") else data), path
            looked_at += 1
    assert looked_at >= 4
