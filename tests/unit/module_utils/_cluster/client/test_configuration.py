"""Which cluster is meant, and what is said when none can be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client import transport as rules
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.errors import ConnectionFailed
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.transport import configure

KUBECONFIG: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "one",
    "clusters": [
        {"name": "a", "cluster": {"server": "https://127.0.0.1:1"}},
        {"name": "b", "cluster": {"server": "https://127.0.0.1:2"}},
    ],
    "users": [{"name": "u", "user": {"token": "t"}}],
    "contexts": [
        {"name": "one", "context": {"cluster": "a", "user": "u"}},
        {"name": "two", "context": {"cluster": "b", "user": "u"}},
    ],
}


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(tmp_path / "none"))


def authorization(configuration: Any) -> str:
    return str(configuration.auth_settings()["BearerToken"]["value"])


def test_a_kubeconfig_as_a_dictionary_and_its_contexts() -> None:
    result = configure({"kubeconfig": KUBECONFIG})
    assert (result.host, authorization(result)) == ("https://127.0.0.1:1", "Bearer t")
    assert configure({"kubeconfig": KUBECONFIG, "context": "two"}).host == "https://127.0.0.1:2"


def test_options_override_the_kubeconfig() -> None:
    result = configure(
        {"kubeconfig": KUBECONFIG, "host": "https://127.0.0.1:3/", "api_key": "mine", "validate_certs": False}
    )
    assert (result.host, authorization(result), result.verify_ssl) == ("https://127.0.0.1:3", "Bearer mine", False)


def test_options_suffice_without_kubeconfig() -> None:
    result = configure({"host": "https://127.0.0.1:3", "username": "u", "password": "p", "ca_cert": "~/ca.crt"})
    assert (result.host, result.username, result.password) == ("https://127.0.0.1:3", "u", "p")
    assert "~" not in result.ssl_ca_cert


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{ this is: [no yaml", "cannot be used: "),
        ("just text", "cannot be used: "),
        ("apiVersion: v1\nkind: Config\n", "cannot be used: "),
        ("", "cannot be used: "),
    ],
)
def test_a_broken_kubeconfig_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(text)
    with pytest.raises(ConnectionFailed) as error:
        configure({"kubeconfig": str(path)})
    assert str(error.value).startswith(f"kubeconfig {path} {message}")
    assert "\n" not in str(error.value)


def test_a_missing_kubeconfig() -> None:
    with pytest.raises(ConnectionFailed, match="kubeconfig /nowhere: no such file; set kubeconfig"):
        configure({"kubeconfig": "/nowhere"})


def test_an_unknown_context() -> None:
    with pytest.raises(ConnectionFailed, match=r"kubeconfig cannot be used: .*three"):
        configure({"kubeconfig": KUBECONFIG, "context": "three"})


def test_missing_cluster_is_an_error() -> None:
    with pytest.raises(ConnectionFailed, match=r"no cluster is configured \(.*\); set kubeconfig, or host and api_key"):
        configure({})


def with_plugin(command: Path, body: str, *args: str) -> dict[str, Any]:
    command.write_text(f"#!/bin/sh\n{body}\n")
    command.chmod(0o700)
    run = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(command), "args": list(args)}
    return {**KUBECONFIG, "users": [{"name": "u", "user": {"exec": run}}]}


def test_an_exec_plugin_gives_the_token(tmp_path: Path) -> None:
    credential = '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "t"}}'
    assert (
        authorization(configure({"kubeconfig": with_plugin(tmp_path / "login", f"echo '{credential}'")})) == "Bearer t"
    )


def test_hanging_exec_plugin_is_stopped_and_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # The plugin keeps the pipe open for as long as it runs.
    os.mkfifo(tmp_path / "alive")
    alive = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    command = tmp_path / "login"
    kubeconfig = with_plugin(command, f"exec sleep 1000 > {tmp_path}/alive", "--password=hunter2")
    monkeypatch.setattr(rules, "_PLUGIN", 0.5)
    with pytest.raises(ConnectionFailed) as error:
        configure({"kubeconfig": kubeconfig})
    assert str(error.value) == (
        f"kubeconfig: the credential plugin returned no credentials: {command} did not end within 0.5 s and was"
        " stopped; run it in a terminal to see what it waits for, or set api_key"
    )
    assert os.read(alive, 1) == b""
    os.close(alive)
    # Neither each object nor each renewal of the token waits for it again.
    monkeypatch.setattr(rules, "_PLUGIN", 10_000)
    with pytest.raises(ConnectionFailed, match=f"{command} did not end"):
        configure({"kubeconfig": kubeconfig})
