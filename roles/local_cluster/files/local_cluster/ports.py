"""Free TCP ports on the loopback address."""

from __future__ import annotations

import socket

HOST = "127.0.0.1"


def is_free(port: int) -> bool:
    """Whether a server could listen on `port` now."""
    try:
        _bind(port).close()
    except OSError:
        return False
    return True


def choose(preferred: int = 0) -> int:
    """A free port: `preferred` if it is free, else one of the system's choice. Another process may take it before it
    is used; the caller tries again then."""
    try:
        probe = _bind(preferred)
    except OSError:
        probe = _bind(0)
    with probe:
        return int(probe.getsockname()[1])


def _bind(port: int) -> socket.socket:
    probe = socket.socket()
    try:
        # As servers do: connections that linger in TIME_WAIT do not keep a port taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((HOST, port))
    except BaseException:
        probe.close()
        raise
    return probe
