"""Makes service accounts with least rights, and answers with a token of each, as JSON on standard output.

Standard input is JSON: namespace, where they are made; seconds, for which tokens are valid; accounts, by name the files
of their rights; folder, where these files are. The kubeconfig is that of K8S_AUTH_KUBECONFIG or KUBECONFIG.
The answer has changed, host and ca_cert of the cluster, and tokens by account.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from kubernetes import client, config, dynamic

MANAGER = "virtshape-awx"
RBAC = "rbac.authorization.k8s.io"

Manifest = dict[str, Any]


def manifests(namespace: str, folder: Path, accounts: dict[str, list[str]]) -> Iterator[Manifest]:
    """Namespace, and for each account itself, its roles and their bindings; roles that accounts share come once."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    roles: dict[str, Manifest] = {}
    for account, rights in accounts.items():
        name = _name(account)
        yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}}
        for right in rights:
            for role in yaml.safe_load((folder / f"{right}.yml").read_text())["items"]:
                roles[role["metadata"]["name"]] = role
                yield _binding(namespace, name, role["metadata"]["name"])
    yield from roles.values()


def _binding(namespace: str, account: str, role: str) -> Manifest:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"{namespace}-{account}-{role}"},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
    }


def _name(account: str) -> str:
    return account.lower().replace(" ", "-")


def apply(cluster: dynamic.DynamicClient, manifest: Manifest) -> bool:
    """Whether something changed. The owners of fields do not count: the second apply of a namespace notes them."""
    place = {"name": manifest["metadata"]["name"], "namespace": manifest["metadata"].get("namespace")}
    resource = cluster.resources.get(api_version=manifest["apiVersion"], kind=manifest["kind"])
    try:
        before = _content(resource.get(**place).to_dict())
    except dynamic.exceptions.NotFoundError:
        before = None
    after = resource.server_side_apply(manifest, **place, field_manager=MANAGER, force_conflicts=True)
    return before != _content(after.to_dict())


def _content(found: Manifest) -> Manifest:
    kept = {
        name: value for name, value in found["metadata"].items() if name not in ("managedFields", "resourceVersion")
    }
    return {**found, "metadata": kept}


def main() -> None:
    given = json.load(sys.stdin)
    namespace, accounts = given["namespace"], given["accounts"]
    with config.new_client_from_config(os.environ.get("K8S_AUTH_KUBECONFIG")) as connection:
        cluster = dynamic.DynamicClient(connection)
        changed = [apply(cluster, one) for one in manifests(namespace, Path(given["folder"]), accounts)]
        core = client.CoreV1Api(connection)
        # audiences: the API server's own.
        wanted = {"spec": {"audiences": [], "expirationSeconds": int(given["seconds"])}}
        tokens = {
            account: core.create_namespaced_service_account_token(_name(account), namespace, wanted).status.token
            for account in accounts
        }
        authority = connection.configuration.ssl_ca_cert
        answer = {
            "changed": any(changed),
            "host": connection.configuration.host,
            "ca_cert": Path(authority).read_text() if authority else "",
            "tokens": tokens,
        }
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    try:
        main()
    except client.ApiException as error:
        # What comes last is what the playbook shows.
        body = json.loads(error.body) if error.body else {}
        sys.exit(f"{body.get('message') or error.reason}")
