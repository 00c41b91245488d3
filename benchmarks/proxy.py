"""A small TCP proxy on a loopback port: the network as it is when it is slow, hangs, or breaks."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from time import sleep


class Proxy:
    """Passes bytes to and from a port, with what is set: each for the next bytes that come.

    `delay`: seconds that each request waits. `cut_after`: of the next reply only so many bytes
    come, then the connection is cut. `swallow`: replies never come. With `tls`, an SSL context,
    clients are spoken to in TLS.
    """

    def __init__(self, target, tls=None):
        self.target = target
        self.delay = 0.0
        self.cut_after = None
        self.swallow = False
        self._tls = tls
        self._ends = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._spawn(self._accept)

    def close(self):
        """Cut all connections, and take no more."""
        # A thread that waits in accept() is woken by this, not by close().
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def cut(self):
        """Cut all connections."""
        while self._ends:
            end = self._ends.pop()
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _spawn(self, work, *arguments):
        threading.Thread(target=work, args=arguments, daemon=True).start()

    def _accept(self):
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    self._connect(client)
                except OSError:  # the client refuses the certificate, or the server is dead
                    client.close()

    def _connect(self, client):
        server = socket.create_connection(("127.0.0.1", self.target))
        self._ends.append(server)
        if self._tls:
            client = self._tls.wrap_socket(client, server_side=True)
        self._ends.append(client)
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._spawn(self._pass, client, server, self._ask)
        self._spawn(self._pass, server, client, self._reply)

    def _pass(self, source, drain, send):
        with suppress(OSError):
            while data := source.recv(1 << 16):
                send(drain, data)
        for end in (source, drain):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _ask(self, server, data):
        if self.delay:
            sleep(self.delay)
        server.sendall(data)

    def _reply(self, client, data):
        if self.cut_after is not None:
            client.sendall(data[: self.cut_after])
            self.cut_after = None
            raise ConnectionError
        if not self.swallow:
            client.sendall(data)
