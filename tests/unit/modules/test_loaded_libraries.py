"""What a task loads: the official client takes longer to load than all else, and few kubeconfigs need it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PLUGINS = Path(__file__).parents[3] / "plugins"
PACKAGE = "ansible_collections.virtshape.instancetypes.plugins"
MODULES = [
    f"{PACKAGE}.{folder}.{path.stem}"
    for folder in ("modules", "action", "inventory", "filter", "lookup")
    for path in sorted((PLUGINS / folder).glob("[!_]*.py"))
]
PROGRAM = f"""
import importlib, json, sys
for name in {MODULES}:
    importlib.import_module(name)
from {PACKAGE}.module_utils._cluster.client.sender import Sender
Sender(json.loads(sys.argv[1]))._credentials()
print("kubernetes" in sys.modules)
"""
TOKEN = {"token": "t"}
EXEC = {
    "exec": {"apiVersion": "v1", "command": "printf", "args": ['{"apiVersion":"v1","kind":"","status":{"token":"t"}}']}
}
PROVIDER = {"auth-provider": {"name": "oidc", "config": {"id-token": "e30.e30.e30"}}}


@pytest.mark.parametrize(("user", "loaded"), [(TOKEN, "False"), (EXEC, "False"), (PROVIDER, "True")])
def test_client_is_loaded_only_for_auth_providers(user: dict[str, Any], loaded: str) -> None:
    kubeconfig = {
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": user}],
        "current-context": "c",
    }
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    options = json.dumps({"kubeconfig": kubeconfig})
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, options], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.strip() == loaded
