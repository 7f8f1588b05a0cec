"""Service accounts that awx_setup makes: each can do its work and no other."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from kubernetes import client, config

CHECKOUT = Path(__file__).parents[3]
sys.path.append(str(CHECKOUT / "tests" / "unit" / "playbooks"))

from awx_stand_in import Awx  # noqa: E402

# (verb, group, resource): who may.
RIGHTS = {
    ("list", "kubevirt.io", "virtualmachines"): {
        "inventory",
        "deploy catalog",
        "fleet report",
        "refresh",
        "declare VMs",
    },
    ("create", "kubevirt.io", "virtualmachines"): {"declare VMs"},
    ("patch", "instancetype.kubevirt.io", "virtualmachineclusterinstancetypes"): {"deploy catalog"},
    ("update", "coordination.k8s.io", "leases"): {"refresh"},
    ("list", "apps", "controllerrevisions"): {"inventory", "deploy catalog", "fleet report", "refresh", "declare VMs"},
    ("get", "", "secrets"): set(),
}


def may(host: str, authority: Path, token: str, verb: str, group: str, resource: str) -> bool:
    settings = client.Configuration(host=host, api_key={"authorization": f"Bearer {token}"})
    settings.ssl_ca_cert = str(authority)
    requested = {"spec": {"resourceAttributes": {"verb": verb, "group": group, "resource": resource}}}
    with client.ApiClient(settings) as connection:
        return bool(client.AuthorizationV1Api(connection).create_self_subject_access_review(requested).status.allowed)


@pytest.fixture(autouse=True)
def no_bindings_are_left(cluster: Path, namespace: str) -> Iterator[None]:
    """They are cluster-wide, so that they would outlive the namespace."""
    yield
    with config.new_client_from_config(str(cluster)) as connection:
        rbac = client.RbacAuthorizationV1Api(connection)
        for binding in rbac.list_cluster_role_binding().items:
            if binding.metadata.name.startswith(f"{namespace}-"):
                rbac.delete_cluster_role_binding(binding.metadata.name)


def test_service_accounts(cluster: Path, namespace: str, tmp_path: Path) -> None:
    awx = Awx(tmp_path)
    settings = {"K8S_AUTH_KUBECONFIG": str(cluster)}
    variables = {"service_accounts": namespace, "declare_inventory": "Fleet", "token_duration": 3600}
    code, output = awx.run(settings=settings, **variables)
    assert code == 0, output
    made = {item["name"].removeprefix("KubeVirt: "): item["inputs"] for item in awx.given("credential")}
    assert set(made) == {"inventory", "deploy catalog", "fleet report", "refresh", "declare VMs"}
    used = {item["name"]: item["credentials"] for item in awx.given("job_template")}
    assert used == {name: [name] for name in used}
    assert awx.given("inventory_source")[0]["credential"] == "KubeVirt: inventory"
    for inputs in made.values():
        assert inputs["bearer_token"] not in output
        assert inputs["verify_ssl"] is True

    authority = tmp_path / "authority.crt"
    authority.write_text(made["refresh"]["ssl_ca_cert"])
    for (verb, group, resource), able in RIGHTS.items():
        result = {
            account
            for account, inputs in made.items()
            if may(inputs["host"], authority, inputs["bearer_token"], verb, group, resource)
        }
        assert result == able, (verb, resource)

    code, output = awx.run(settings=settings, **variables)
    assert code == 0 and "changed: [localhost] => censored" not in output.partition("Create the project")[0]


def test_refusal_is_one_line(cluster: Path, namespace: str, tmp_path: Path) -> None:
    awx = Awx(tmp_path)
    variables = {"service_accounts": f"{namespace}_x"}
    code, output = awx.run(settings={"K8S_AUTH_KUBECONFIG": str(cluster)}, **variables)
    assert code == 2
    assert f'awx_setup_service_accounts: Namespace "{namespace}_x" is invalid' in output.replace('\\"', '"')
    assert not awx.log.exists()


def test_created_namespace_is_unchanged_in_second_run(cluster: Path, namespace: str) -> None:
    """The API server notes who owned its fields when it is applied again."""
    new = f"{namespace}-new"
    requested = {
        "namespace": new,
        "seconds": 3600,
        "folder": str(CHECKOUT / "docs" / "rbac"),
        "accounts": {"nobody": []},
    }

    def changed() -> bool:
        done = subprocess.run(
            [sys.executable, str(CHECKOUT / "playbooks" / "files" / "service_accounts.py")],
            input=json.dumps(requested),
            env={**os.environ, "K8S_AUTH_KUBECONFIG": str(cluster)},
            capture_output=True,
            text=True,
            check=True,
        )
        return bool(json.loads(done.stdout)["changed"])

    try:
        assert [changed(), changed()] == [True, False]
    finally:
        with config.new_client_from_config(str(cluster)) as connection:
            client.CoreV1Api(connection).delete_namespace(new)
