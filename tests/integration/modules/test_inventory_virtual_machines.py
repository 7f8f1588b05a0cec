"""The inventory plugin as Ansible runs it: `ansible-inventory` on a file."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client, config

from modules_support import ANSIBLE_CORE, Task, await_right, vm

Inventory = Callable[..., "Answer"]

BIN = Path(sys.executable).parent
CHECKOUT = Path(__file__).parents[3]
PLUGIN = "virtshape.instancetypes.virtual_machines"


class Answer:
    """The output of `ansible-inventory --list`. text: standard error on one line."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        assert done.stdout, done.stderr
        self.groups: dict[str, Any] = json.loads(done.stdout)
        self.hosts: dict[str, dict[str, Any]] = self.groups["_meta"]["hostvars"]
        self.text = " ".join(done.stderr.split())

    def members(self, group: str) -> set[str]:
        return set(self.groups.get(group, {}).get("hosts", []))


def plain(value: Any) -> Any:
    """Text that Ansible itself marks as no template."""
    return value["__ansible_unsafe"] if isinstance(value, dict) else value


@pytest.fixture
def environment(cluster: Path) -> dict[str, str]:
    """The environment that a credential of AWX sets: it alone names the cluster."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "K8S_AUTH_"))}
    return {
        **kept,
        "K8S_AUTH_KUBECONFIG": str(cluster),
        "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"),
        "ANSIBLE_COLLECTIONS_PATH": str(CHECKOUT / ".cache" / "collections"),
        "COLUMNS": "1000",
    }


@pytest.fixture
def inventory(tmp_path: Path, environment: dict[str, str]) -> Inventory:
    """inventory(**options): the answer for a file with these options."""

    def one(*arguments: str, file: str = "test.kubevirt.yml", **options: Any) -> Answer:
        path = tmp_path / file
        path.write_text(yaml.safe_dump({"plugin": PLUGIN, **options}))
        command = [str(BIN / "ansible-inventory"), "--inventory", str(path), "--list", *arguments]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        return Answer(done)

    return one


@pytest.fixture
def fleet(task: Task, shop: str) -> str:
    """Two VMs that run, one of which has drifted, and one that is stopped."""
    entries = [
        vm("web", labels={"tier": "web"}, annotations={"note": "{{ 7 * 6 }}"}),
        vm("db", "medium", labels={"tier": "database"}),
        vm("old", run_strategy="Halted", preference=None),
    ]
    task("virtual_machine", virtual_machines=entries, wait=True)
    memory = {"guest": "4Gi", "max_guest": "4Gi"}
    assert task("instancetype", name="medium", cpu={"guest": 4}, memory=memory)["changed"]
    return shop


def test_vms_as_hosts_in_groups(inventory: Inventory, fleet: str) -> None:
    matches = inventory(
        namespaces=[fleet],
        strict=True,
        keyed_groups=[{"key": "vm_instancetype.name", "prefix": "type"}, {"key": "vm_labels.tier | default('none')"}],
        groups={"drifted": "vm_drifted", "large": "vm_resources.guest.memory_bytes >= 4 * 1024 ** 3"},
        compose={"ansible_user": "'fedora' if vm_preference is defined else 'root'"},
    )
    web, db, old = (f"{name}.{fleet}" for name in ("web", "db", "old"))
    assert set(matches.hosts) == {web, db, old}, matches.text
    assert (matches.members("type_small"), matches.members("type_medium")) == ({web, old}, {db})
    assert (matches.members("_web"), matches.members("_none")) == ({web}, {old})
    assert (matches.members("drifted"), matches.members("large")) == ({db}, {db})
    assert [plain(matches.hosts[name]["ansible_user"]) for name in (web, db, old)] == ["fedora", "fedora", "root"]
    result = matches.hosts[db]
    assert (result["vm_name"], result["vm_namespace"], result["vm_status"], result["vm_ready"]) == (
        "db",
        fleet,
        "Running",
        True,
    )
    assert (result["vm_instancetype"]["state"], result["vm_instancetype"]["generation"]) == ("drifted", 1)
    assert result["vm_instancetype"]["changes"] == [{"field": "cpu.guest", "before": 2, "after": 4}]
    assert result["vm_instancetype"]["revision"].startswith("db-medium-v1beta1-")
    assert (result["vm_preference"]["name"], result["vm_preference"]["state"]) == ("linux", "current")
    assert (result["vm_resources"]["guest"]["vcpus"], result["vm_vmi"]["guest"]["vcpus"]) == (2, 2)
    assert (result["vm_labels"], result["vm_restart_required"]) == ({"tier": "database"}, False)
    assert [item["type"] for item in result["vm_conditions"]]
    assert "vm_vmi" not in matches.hosts[old]
    # A user who may annotate a VM gives Ansible no template.
    assert matches.hosts[web]["vm_annotations"]["note"] == {"__ansible_unsafe": "{{ 7 * 6 }}"}


def test_groups_by_the_state_of_the_instancetype(task: Task, inventory: Inventory, fleet: str) -> None:
    size = {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}, "deprecated": {"replacement": "medium"}}
    assert task("instancetype", name="small", **size)["changed"]
    result = inventory(
        namespaces=[fleet],
        strict=True,
        keyed_groups=[{"key": "vm_instancetype.object_state", "prefix": "instancetype"}],
    )
    assert result.members("instancetype_deprecated") == {f"web.{fleet}", f"old.{fleet}"}
    assert result.members("instancetype_active") == {f"db.{fleet}"}
    assert result.hosts[f"web.{fleet}"]["vm_instancetype"]["replacement"] == "medium"


def test_vm_selection_and_host_names(inventory: Inventory, fleet: str) -> None:
    chosen = inventory(
        namespaces=[fleet], label_selectors=["tier in (web, database)", "tier!=web"], host_format="{namespace}_{name}"
    )
    assert set(chosen.hosts) == {f"{fleet}_db"}
    running = inventory(namespaces=[fleet], only_running=True, hostvars_prefix="kv_")
    assert set(running.hosts) == {f"web.{fleet}", f"db.{fleet}"}
    assert running.hosts[f"web.{fleet}"]["kv_name"] == "web"
    everywhere = inventory(file="virtual_machines.yaml")
    assert {f"web.{fleet}", f"db.{fleet}", f"old.{fleet}"} <= set(everywhere.hosts)


def test_connection_to_guests_with_windows(task: Task, inventory: Inventory, fleet: str) -> None:
    """The agent of simulated guests reports Fedora; of VMs without a guest, the preference or the annotation tells."""
    task("preference", name="windows.11", spec={"cpu": {"preferredCPUTopology": "sockets"}})
    preference = {"name": "windows.11", "kind": "VirtualMachinePreference"}
    template = {"metadata": {"annotations": {"vm.kubevirt.io/os": "windows2k22"}}}
    entries = [vm("desktop", preference=preference), vm("server", template=template)]
    task("virtual_machine", virtual_machines=entries, defaults={"run_strategy": "Halted"})
    windows = {f"desktop.{fleet}", f"server.{fleet}"}
    for connection, shell in (("winrm", None), ("psrp", None), ("ssh", "powershell")):
        hosts = inventory(namespaces=[fleet], windows_connection=connection).hosts
        found = {name: host["ansible_connection"] for name, host in hosts.items() if "ansible_connection" in host}
        assert found == dict.fromkeys(windows, connection)
        assert {hosts[name].get("ansible_shell_type") for name in windows} == {shell}


def test_cached_inventory_sends_no_request(inventory: Inventory, fleet: str, cluster: Path, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_bytes(cluster.read_bytes())
    cached = {
        "namespaces": [fleet],
        "kubeconfig": str(kubeconfig),
        "retry_timeout": 0,
        "cache": True,
        "cache_plugin": "ansible.builtin.jsonfile",
        "cache_connection": str(tmp_path / "cache"),
    }
    first = inventory(**cached)
    assert set(first.hosts) == {f"web.{fleet}", f"db.{fleet}", f"old.{fleet}"}, first.text
    # Nobody answers from here on.
    content = yaml.safe_load(kubeconfig.read_text())
    content["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    kubeconfig.write_text(yaml.safe_dump(content))
    again = inventory(**cached, compose={"more": "vm_name"})
    assert (again.hosts.keys(), again.text) == (first.hosts.keys(), "")
    assert again.hosts[f"web.{fleet}"]["more"] == "web"
    flush = ["--flush-cache"] if ANSIBLE_CORE >= (2, 19) else []
    if not flush:
        # Older ones have no option for it.
        shutil.rmtree(tmp_path / "cache")
    flushed = inventory(*flush, **cached)
    assert flushed.hosts == {}
    assert "cannot reach the API server https://127.0.0.1:1" in flushed.text
    # The cache is not used for other options.
    assert inventory(**{**cached, "only_running": True}).hosts == {}


def rule(group: str, *plurals: str) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": list(plurals), "verbs": ["list"]}


def test_limited_rights_give_hosts_and_a_warning(inventory: Inventory, fleet: str, user_with: Any) -> None:
    user = user_with(rule("kubevirt.io", "virtualmachines"), rule("apps", "controllerrevisions"))
    matches = inventory(namespaces=[fleet], **user)
    assert set(matches.hosts) == {f"web.{fleet}", f"db.{fleet}", f"old.{fleet}"}, matches.text
    result = matches.hosts[f"db.{fleet}"]
    assert (result["vm_instancetype"]["state"], result["vm_drifted"]) == ("unknown", None)
    assert result["vm_resources"]["guest"]["vcpus"] == 2
    assert matches.text.count("[WARNING]") == 3
    for plural in ("virtualmachineinstances", "virtualmachineinstancetypes", "virtualmachinepreferences"):
        assert f'resources: ["{plural}"], verbs: ["list"]}}' in matches.text


def test_a_credential_of_awx(
    inventory: Inventory, environment: dict[str, str], fleet: str, cluster: Path, tmp_path: Path
) -> None:
    """Address, token and authority in the environment, as AWX sets them."""
    settings = config.new_client_from_config(str(cluster)).configuration
    rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}]
    role = {"kind": "Role", "name": "reader", "apiGroup": "rbac.authorization.k8s.io"}
    account = {"kind": "ServiceAccount", "name": "awx", "namespace": fleet}
    with config.new_client_from_config(str(cluster)) as connection:
        core, rbac = client.CoreV1Api(connection), client.RbacAuthorizationV1Api(connection)
        core.create_namespaced_service_account(fleet, {"metadata": {"name": "awx"}})
        rbac.create_namespaced_role(fleet, {"metadata": {"name": "reader"}, "rules": rules})
        rbac.create_namespaced_role_binding(
            fleet, {"metadata": {"name": "awx"}, "roleRef": role, "subjects": [account]}
        )
        token = core.create_namespaced_service_account_token("awx", fleet, {"spec": {}}).status.token
        await_right(
            client.AuthorizationV1Api(connection),
            fleet,
            f"system:serviceaccount:{fleet}:awx",
            {"apiGroups": ["kubevirt.io"], "resources": ["virtualmachines"], "verbs": ["list"]},
        )
    del environment["K8S_AUTH_KUBECONFIG"]
    environment.pop("KUBECONFIG", None)
    environment.update(
        K8S_AUTH_HOST=settings.host,
        K8S_AUTH_API_KEY=token,
        K8S_AUTH_VERIFY_SSL="true",
        K8S_AUTH_SSL_CA_CERT=str(settings.ssl_ca_cert),
        HOME=str(tmp_path),
    )
    result = inventory(namespaces=[fleet])
    assert set(result.hosts) == {f"web.{fleet}", f"db.{fleet}", f"old.{fleet}"}, result.text
    assert token not in result.text


def test_missing_cluster_wide_right_names_the_remedy(inventory: Inventory, fleet: str, user_with: Any) -> None:
    user = user_with(rule("kubevirt.io", "virtualmachines"))
    result = inventory(**user)
    assert result.hosts == {}
    assert 'resources: ["virtualmachines"], verbs: ["list"]}' in result.text
    assert "or set namespaces to those that you may read" in result.text


def test_failing_expression_names_the_host(inventory: Inventory, fleet: str) -> None:
    result = inventory(namespaces=[fleet], strict=True, groups={"odd": "vm_nothing.at_all"})
    assert f"db.{fleet}: " in result.text and "odd" in result.text
