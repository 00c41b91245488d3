"""Writes archive.warc.gz: pages of the demonstration site, as an archive of the web has them."""

import gzip
import sys
from pathlib import Path

from fastwarc.warc import WarcRecord, WarcRecordType

sys.path.append(str(Path(__file__).resolve().parents[2]))
from crawler.site.news import Site


def record(url, reply):
    """Return the record of one response of the site."""
    found = WarcRecord()
    found.init_headers(WarcRecordType.response)
    found.headers["WARC-Target-URI"] = url
    found.headers["Content-Type"] = "application/http; msgtype=response"
    fields = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
    found.set_bytes_content(f"HTTP/1.1 {reply.status} OK\r\n{fields}\r\n".encode() + reply.body)
    return found


if __name__ == "__main__":
    site = Site(articles=40, seed=1)
    with gzip.open("archive.warc.gz", "wb") as file:
        for path in site.views:
            record(f"https://news.example{path}", site.reply(path)).write(file)
