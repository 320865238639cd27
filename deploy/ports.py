"""Ports for servers that checks, tests and benchmarks start. Imports the standard library only."""

import random
import socket


def free_port() -> int:
    """Return a port that nobody listens on, and that the system gives to no outgoing connection.

    While the server of the port is down, an outgoing connection could take such a port, or even
    reach itself there.
    """
    while True:
        port = random.randrange(15_000, 30_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
