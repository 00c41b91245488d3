"""Ports of loopback for the servers of tests."""

import socket

TRIES = 5
"""How often to look for a port that nobody else takes before the server does."""


def free_port(up_to=65535):
    """Return a port where nobody listens."""
    while True:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
            if port <= up_to:
                return port
