"""Secrets of the way to the cluster are never shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from modules_support import execute

Run = Callable[..., dict[str, Any]]


def test_a_kubeconfig_given_as_a_dictionary(cluster: Path, namespace: str) -> None:
    kubeconfig = yaml.safe_load(cluster.read_text())
    secrets = [
        user["user"][key] for user in kubeconfig["users"] for key in ("token", "client-key-data") if key in user["user"]
    ]
    assert secrets
    size = {"name": "web", "cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
    made = execute("instancetype", {"kubeconfig": kubeconfig, "namespace": namespace, **size})
    assert made["changed"], made
    assert not any(secret in str(made) for secret in secrets)
    found = execute("controller_revision_info", {"kubeconfig": kubeconfig, "namespace": namespace})
    assert found["virtual_machines"] == []
    assert not any(secret in str(found) for secret in secrets)
