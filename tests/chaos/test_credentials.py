"""A token that the API server revokes in the middle of a run."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client, config
from waiting import wait_until

from chaos_support import TIMEOUT, Shop, failures, finished, names

PLUGIN = """#!{python}
import json, pathlib
folder = pathlib.Path({folder!r})
with (folder / "calls").open("a") as calls:
    calls.write("x")
status = {{"token": (folder / "token").read_text()}}
print(json.dumps({{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}}))
"""


class Account:
    """A service account that may do everything in its namespace. A token of it lives as long as the Secret that it is
    bound to."""

    def __init__(self, connection: client.ApiClient, namespace: str) -> None:
        self._core, self._namespace = client.CoreV1Api(connection), namespace
        self._core.create_namespaced_service_account(namespace, {"metadata": {"name": "deployer"}})
        subject = {"kind": "ServiceAccount", "name": "deployer", "namespace": namespace}
        role = {"kind": "ClusterRole", "name": "cluster-admin", "apiGroup": "rbac.authorization.k8s.io"}
        binding = {"metadata": {"name": "deployer"}, "roleRef": role, "subjects": [subject]}
        client.RbacAuthorizationV1Api(connection).create_namespaced_role_binding(namespace, binding)

    def token(self, secret: str) -> str:
        made = self._core.create_namespaced_secret(self._namespace, {"metadata": {"name": secret}})
        bound = {"kind": "Secret", "apiVersion": "v1", "name": secret, "uid": made.metadata.uid}
        requested = {"spec": {"audiences": [], "boundObjectRef": bound}}
        answer = self._core.create_namespaced_service_account_token("deployer", self._namespace, requested)
        return str(answer.status.token)

    def revoke(self, secret: str) -> None:
        self._core.delete_namespaced_secret(secret, self._namespace)


@pytest.fixture
def account(shop: Shop) -> Iterator[Account]:
    with config.new_client_from_config(shop.faulty.path("kubeconfig")) as connection:
        yield Account(connection, shop.namespace)


def kubeconfig(shop: Shop, path: Path, user: dict[str, Any]) -> str:
    """A file with another user of the same cluster, by way of the proxy."""
    content = yaml.safe_load(Path(shop.faulty.path()).read_text())
    content["users"][0]["user"] = user
    path.write_text(yaml.safe_dump(content))
    return str(path)


def test_token_is_revoked_during_the_run(shop: Shop, account: Account, tmp_path: Path) -> None:
    expected = names(8)
    late = [name for number, name in enumerate(expected) if number % 4 > 1]
    first, second = account.token("first"), account.token("second")
    token = tmp_path / "token"
    token.write_text(first)
    plugin = tmp_path / "plugin"
    plugin.write_text(PLUGIN.format(python=sys.executable, folder=str(tmp_path)))
    plugin.chmod(0o700)
    run = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin), "interactiveMode": "Never"}
    by_file = kubeconfig(shop, tmp_path / "by-file", {"tokenFile": str(token)})
    by_plugin = kubeconfig(shop, tmp_path / "by-plugin", {"exec": run})
    old = kubeconfig(shop, tmp_path / "old", {"token": first})

    # Both runs stay in their middle for as long as it takes.
    shop.faulty.rules({"fault": "status", "status": 503, "methods": ["PATCH"], "path": f"/({'|'.join(late)})[?]"})
    processes = [
        shop.begin("virtual_machine", kubeconfig=path, **shop.declaration(some, retry_timeout=TIMEOUT))
        for path, some in ((by_file, expected[:4]), (by_plugin, expected[4:]))
    ]
    wait_until(lambda: set(shop.vms()) == set(expected) - set(late))
    token.write_text(second)
    account.revoke("first")
    # The API server believes for ten seconds what it has found out about a token.
    wait_until(lambda: bool(shop.run.outcome("virtual_machine_info", kubeconfig=old).get("failed")), pause=0.5)
    shop.faulty.rules()

    for process in processes:
        result = finished(process)
        assert not result.get("failed"), failures(result)
    assert shop.faulty.counts()["responses"]["401"] >= 2
    assert (tmp_path / "calls").read_text() == "xx"
    shop.judge(expected, "1")
