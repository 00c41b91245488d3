"""The site over HTTP on loopback: one thread a connection, connections kept alive."""

from __future__ import annotations

import os
import signal
import ssl
import sys
import tempfile
import threading
from datetime import datetime, timedelta, timezone
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import FrameType

from crawler.site.answering import Answering

HOST = "127.0.0.1"


class Server(ThreadingHTTPServer):
    """An HTTP server that answers from a site."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, site: Answering, port: int) -> None:
        self.site = site
        super().__init__((HOST, port), Handler)

    @cached_property
    def tls(self) -> ssl.SSLContext:
        """What is needed to speak TLS as the site's host and its subdomains; made when needed."""
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec

        host = self.site.host
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
        names = [x509.DNSName(host), x509.DNSName(f"*.{host}")]
        now = datetime.now(timezone.utc)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=30))
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(key, hashes.SHA256())
        )
        pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        secret = key.private_bytes(pem, form, serialization.NoEncryption())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.NamedTemporaryFile() as file:  # a private one; the module reads files only
            file.write(certificate.public_bytes(pem) + secret)
            file.flush()
            context.load_cert_chain(file.name)
        return context

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that hung up; anything else is an error of ours."""
        if not isinstance(sys.exc_info()[1], ConnectionError | ssl.SSLError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class Handler(BaseHTTPRequestHandler):
    """Turns requests into calls of the site; `host` is that which a tunnel leads to."""

    protocol_version = "HTTP/1.1"
    server: Server
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and body in one packet
    host = ""

    def do_GET(self) -> None:
        """Answer a GET."""
        accepts_gzip = "gzip" in self.headers.get("Accept-Encoding", "")
        target = f"https://{self.host}{self.path}" if self.host else self.path
        asked = dict(self.headers.items())
        reply = self.server.site.reply(target, accepts_gzip=accepts_gzip, asked=asked)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.status != 304:  # which has no page, whatever its length would be
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def do_CONNECT(self) -> None:
        """Answer what follows by TLS, as the host that was asked for: the site is its own proxy."""
        self.send_response(200, "Connection established")
        self.end_headers()
        self.wfile.flush()
        self.host = self.path.partition(":")[0]
        self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
        self.rfile = self.connection.makefile("rb", self.rbufsize)
        self.wfile = self.connection.makefile("wb", self.wbufsize)
        self.close_connection = False

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep quiet: the site has a log of its own."""


def serve(site: Answering, port: int, *, until_stdin_ends: bool = False) -> None:
    """Serve until SIGTERM or SIGINT, or until standard input ends with the process behind it.

    Raises OSError when the port can't be had.
    """
    with Server(site, port) as server:

        def stop(*_: int | FrameType | None) -> None:
            threading.Thread(target=server.shutdown, daemon=True).start()

        def watch() -> None:
            # Not sys.stdin, whose lock would stop the interpreter from ending while this waits.
            while os.read(0, 4096):
                pass
            stop()

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        if until_stdin_ends:
            threading.Thread(target=watch, daemon=True).start()
        print(f"listening on http://{HOST}:{server.server_address[1]}", flush=True)
        server.serve_forever(poll_interval=0.1)
