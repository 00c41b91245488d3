"""A TCP proxy in front of a server, for what a network does to a store."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress


class Proxy:
    """Passes bytes on between a port of its own and the server's.

    `delay` is in seconds for each answer. `cut_after` is how many bytes of answers still get
    through before every connection is cut in the middle; None for all. With `tls`, an SSL context,
    clients are spoken to in TLS.
    """

    def __init__(self, port, tls=None):
        self.delay = 0.0
        self.cut_after = None
        self._target = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._tls = tls
        self._open = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        # A thread that waits in `accept` keeps a closed listener open: this wakes it.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def cut(self):
        for connection in list(self._open):
            _shut(connection)

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._tls:
                try:
                    client = self._tls.wrap_socket(client, server_side=True)
                except OSError:
                    client.close()
                    continue
            server = socket.create_connection(self._target)
            self._open |= {client, server}
            for source, sink, answers in ((client, server, False), (server, client, True)):
                arguments = (source, sink, answers)
                threading.Thread(target=self._pass_on, args=arguments, daemon=True).start()

    def _pass_on(self, source, sink, answers):
        try:
            while data := source.recv(65536):
                if answers:
                    time.sleep(self.delay)
                    if self.cut_after is not None and len(data) > self.cut_after:
                        sink.sendall(data[: self.cut_after])
                        break
                sink.sendall(data)
        except OSError:
            pass
        finally:
            _shut(source)
            _shut(sink)
            self._open -= {source, sink}
            source.close()


def _shut(connection):
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
