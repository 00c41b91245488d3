"""A small shop on this machine, crawled on three days, on which prices change, and change back."""

import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

LAMPS = {f"lamp-{n}": {"price": f"{19 + n}.90 EUR", "stock": "in stock"} for n in range(1, 9)}
TEXT = """This desk lamp has a heavy foot, an arm of brushed steel with two joints, and a shade that
keeps its light off your screen. It takes any bulb with a common socket. We send it within two days,
and take it back within thirty. All our lamps are made in the same small factory by the sea."""


class Shop(BaseHTTPRequestHandler):
    """A list of lamps, and each lamp under two addresses. All of them have the same text."""

    def do_GET(self):
        sku = self.path.strip("/").partition("?")[0]
        if sku in LAMPS:
            lamp = LAMPS[sku]
            main = (
                f'<h1 data-sku="{sku}">A desk lamp</h1><p class="price">{lamp["price"]}</p>'
                f'<p class="stock">{lamp["stock"]}</p><p>{TEXT}</p>'
            )
        else:
            links = (
                f'<a href="/{sku}">A lamp</a> <a href="/{sku}?from=ads">*</a>' for sku in LAMPS
            )
            main = " ".join(links)
        body = f"<!doctype html><title>Lamps</title><main>{main}</main>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def crawl(day, shop):
    """Crawl the shop; return the products of the day by number."""
    feed = Path(f"{day}.jsonl")
    subprocess.run(["scrapy", "crawl", "prices", "-a", f"shop={shop}", "-O", feed], check=True)
    lines = feed.read_text("utf-8").splitlines()
    return {product["sku"]: product for product in map(json.loads, lines)}


with ThreadingHTTPServer(("127.0.0.1", 0), Shop) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    shop = f"http://127.0.0.1:{server.server_port}/"
    before = crawl("monday", shop)
    for day, changes in {
        "tuesday": {"lamp-3": {"price": "24.90 EUR"}, "lamp-8": {"stock": "sold out"}},
        "wednesday": {"lamp-3": {"price": "22.90 EUR"}},
    }.items():
        for sku, changed in changes.items():
            LAMPS[sku] |= changed
        now = crawl(day, shop)
        for sku in sorted(now):
            for field in ("price", "stock"):
                if now[sku][field] != before[sku][field]:
                    print(f"{day}: {sku} {field} {before[sku][field]} -> {now[sku][field]}")
        before = now
    server.shutdown()
