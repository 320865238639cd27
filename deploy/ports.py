"""Ports for servers that checks, tests and benchmarks start. Imports the standard library only."""

import random
import socket

# Hypothesis seeds the common generator alike in every process: several would choose the same port.
_random = random.SystemRandom()


def free_port() -> int:
    """Return an unused port outside the system's range for outgoing connections.

    While the server is down, an outgoing connection could take a port of that range, or even
    connect to itself.
    """
    while True:
        port = _random.randrange(15_000, 30_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
