"""Free TCP ports on the loopback address."""

from __future__ import annotations

import socket

HOST = "127.0.0.1"


def is_free(port: int) -> bool:
    """Whether a server can listen on `port` now."""
    try:
        _bind(port).close()
    except OSError:
        return False
    return True


def choose(preferred: int = 0) -> int:
    """A free port: `preferred` if free, else one that the system chooses.

    Another process may take the port before it is used; the caller then retries.
    """
    try:
        probe = _bind(preferred)
    except OSError:
        probe = _bind(0)
    with probe:
        return int(probe.getsockname()[1])


def choose_several(count: int) -> list[int]:
    """Different free ports."""
    probes = [_bind(0) for _index in range(count)]
    try:
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def _bind(port: int) -> socket.socket:
    probe = socket.socket()
    try:
        # As servers do: connections in TIME_WAIT do not occupy a port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((HOST, port))
    except BaseException:
        probe.close()
        raise
    return probe
