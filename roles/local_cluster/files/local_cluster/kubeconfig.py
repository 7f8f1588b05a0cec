"""Kubeconfig files that contain the token and the CA, so that copies work anywhere."""

from __future__ import annotations

import base64
from pathlib import Path

import yaml

from local_cluster.paths import write_secret


def write(path: Path, *, context: str, server: str, ca: Path, user: str, token: str) -> None:
    """Write a kubeconfig with the single context `context`, mode 0600."""
    text = yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": context,
                    "cluster": {
                        "server": server,
                        "certificate-authority-data": base64.b64encode(ca.read_bytes()).decode(),
                    },
                }
            ],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [{"name": context, "context": {"cluster": context, "user": user}}],
            "current-context": context,
        },
        sort_keys=False,
    )
    write_secret(path, text)
