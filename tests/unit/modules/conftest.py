"""Runs modules as Ansible does, in this process, against an API server that answers as a test says."""

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

TESTS = Path(__file__).parents[2]
sys.path.append(str(TESTS / "integration" / "modules"))

from modules_support import execute  # noqa: E402
from scripted_server import Answer, session_with  # noqa: E402


@pytest.fixture
def run() -> Callable[..., dict[str, Any]]:
    """run(module, answer, check=False, **options): the module's result where a server answers like that."""

    def run_module(module: str, answer: Answer, /, *, check: bool = False, **options: Any) -> dict[str, Any]:
        with session_with(answer) as session:
            where = {"host": session.host, "api_key": "scripted-token", "retry_timeout": 0}
            result = execute(module, {**where, **options}, check=check)
        # From ansible-core 2.19 on a warning is more than its text.
        warnings = [
            output if isinstance(output, str) else output["event"]["msg"] for output in result.get("warnings", [])
        ]
        return {**result, "warnings": warnings}

    return run_module


@pytest.fixture
def no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves no name of a cluster, and makes each connection an error."""
    for name in [name for name in os.environ if name.startswith("K8S_AUTH_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("KUBECONFIG", "/none")
    refused = mock.Mock(side_effect=AssertionError("a connection"))
    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)


@pytest.fixture
def render(no_connection: None) -> Callable[..., dict[str, Any]]:
    """render(module, check=False, **options): the result of the module with state rendered."""

    def rendered(module: str, /, *, check: bool = False, **options: Any) -> dict[str, Any]:
        return execute(module, {"state": "rendered", **options}, check=check)

    return rendered
