"""VMs as hosts: how many requests they cost, what a missing right takes from them, where they are reached."""

from collections import Counter
from typing import Any

import pytest

from plugins.module_utils._capacity.cluster.vm_resources import vm_resources
from plugins.module_utils._cluster.client.errors import ApiError
from plugins.module_utils._resolver.api.keys import SSH_ADDRESS_ANNOTATION
from plugins.plugin_utils._inventory.address import services_by_vmi
from plugins.plugin_utils._inventory.hosts import hosts, is_windows
from scripted_server import KUBEVIRT as INSTALLED
from scripted_server import listed, session_with, status

KUBEVIRT = "/apis/kubevirt.io/v1"
TYPES = "/apis/instancetype.kubevirt.io/v1beta1"
NAMESPACES = ("office", "shop")
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def vm(namespace: str, name: str, number: int) -> dict[str, Any]:
    """One of the instancetype small, of which it has captured the first generation."""
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"{namespace}-{number}",
            "annotations": {"note": "{{ x }}", LAST_APPLIED: "password: hunter2"},
        },
        "spec": {
            "runStrategy": "Always",
            "instancetype": {"name": "small"},
            "template": {"metadata": {"labels": {"app": name}}, "spec": {"domain": {"devices": {}}}},
        },
        "status": {
            "printableStatus": "Running" if number else "Stopped",
            "instancetypeRef": {"name": "small", "controllerRevisionRef": {"name": f"{name}-small-1"}},
        },
    }


def small(guest: int, generation: int) -> dict[str, Any]:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": {"name": "small", "uid": "1", "generation": generation},
        "spec": {"cpu": {"guest": guest}, "memory": {"guest": "2Gi"}},
    }


def revision(namespace: str, name: str) -> dict[str, Any]:
    labels = {
        f"instancetype.kubevirt.io/object-{key}": value for key, value in (("name", "small"), ("version", "v1beta1"))
    }
    metadata = {"name": f"{name}-small-1", "namespace": namespace, "labels": labels}
    return {"metadata": metadata, "data": small(1, 1)}


def instance(namespace: str, name: str) -> dict[str, Any]:
    interfaces = [{"name": "default", "bridge": {}}]
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": f"vmi-{name}", "labels": {"app": name}},
        "spec": {"domain": {"devices": {"interfaces": interfaces}, "memory": {"guest": "2Gi"}}},
        "status": {
            "phase": "Running",
            "nodeName": "node01",
            "interfaces": [{"name": "default", "interfaceName": "eth0", "mac": "02:00", "ipAddress": "10.0.0.7"}],
            "guestOSInfo": {"id": "fedora"},
        },
    }


def service(namespace: str, name: str) -> dict[str, Any]:
    ports = [{"port": 22, "nodePort": 30022}]
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"type": "NodePort", "selector": {"app": name}, "ports": ports},
    }


NODE = {"metadata": {"name": "node01"}, "status": {"addresses": [{"type": "InternalIP", "address": "10.1.0.1"}]}}
# Three VMs in each namespace, the first of them stopped.
NAMED = [(namespace, f"vm-{number}", number) for namespace in NAMESPACES for number in range(3)]
CLUSTER: dict[str, list[dict[str, Any]]] = {
    "virtualmachines": [vm(*one) for one in NAMED],
    "virtualmachineinstances": [instance(namespace, name) for namespace, name, number in NAMED if number],
    "controllerrevisions": [revision(namespace, name) for namespace, name, _number in NAMED],
    "virtualmachineclusterinstancetypes": [small(2, 2)],
    "services": [service(namespace, name) for namespace, name, _number in NAMED],
    "nodes": [NODE],
    "kubevirts": [INSTALLED],
}

# The defaults of the plugin.
DEFAULTS: dict[str, Any] = {
    "namespaces": None,
    "label_selectors": [],
    "only_running": False,
    "address": "interface",
    "interface": None,
    "ip_family": "prefer_ipv4",
    "service_port": 22,
    "windows_connection": None,
    "host_format": "{name}.{namespace}",
    "hostvars_prefix": "vm_",
}


class Server:
    """A cluster that counts the requests; denied: what may not be listed, as `plural` or `namespace/plural`."""

    def __init__(self, *denied: str) -> None:
        self.denied = denied
        self.requests: Counter[str] = Counter()
        self.queries: list[dict[str, str]] = []

    def answer(self, _method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        namespace = path.split("/namespaces/")[1].partition("/")[0] if "/namespaces/" in path else ""
        plural = path.rpartition("/")[2]
        self.requests[f"{namespace}/{plural}" if namespace else plural] += 1
        self.queries.append(query)
        if plural in self.denied or f"{namespace or '*'}/{plural}" in self.denied:
            return status(403, f"{plural} is forbidden", "Forbidden")
        if plural == "version":
            return 200, {"gitVersion": "v1.9.0"}
        result = [item for item in CLUSTER[plural] if item["metadata"].get("namespace") == namespace or not namespace]
        return 200, listed(*result)

    def hosts(self, **options: Any) -> tuple[dict[str, dict[str, Any]], list[str]]:
        with session_with(self.answer) as session:
            return hosts(session, {**DEFAULTS, **options}, vm_resources)


def test_forwarded_port_counts_only_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    real = instance("shop", "vm-1")
    real["metadata"]["annotations"] = {SSH_ADDRESS_ANNOTATION: "127.0.0.1:40022"}
    monkeypatch.setitem(CLUSTER, "virtualmachineinstances", [real])
    found, _warnings = Server().hosts()
    assert (found["vm-1.shop"]["ansible_host"], found["vm-1.shop"]["ansible_port"]) == ("127.0.0.1", 40022)
    assert found["vm-1.shop"]["vm_vmi"]["ssh"] == {"host": "127.0.0.1", "port": 40022}
    assert Server().hosts(interface="default")[0]["vm-1.shop"]["ansible_host"] == "10.0.0.7"
    with session_with(Server().answer) as session:
        session._sender.host = "https://cluster.example.com"
        found, _warnings = hosts(session, DEFAULTS, vm_resources)
    assert found["vm-1.shop"]["ansible_host"] == "10.0.0.7" and "ansible_port" not in found["vm-1.shop"]


def test_each_kind_is_listed_once_for_all_namespaces() -> None:
    server = Server()
    found, told = server.hosts(address="service")
    assert list(found) == [f"{name}.{namespace}" for namespace, name, _number in NAMED]
    assert server.requests == Counter(CLUSTER.keys())
    assert told == []


def test_unneeded_kinds_are_not_read() -> None:
    server = Server()
    assert "ansible_host" not in server.hosts(address="none")[0]["vm-1.shop"]
    assert not {"services", "nodes"} & server.requests.keys()


def test_variables_of_a_host() -> None:
    result = Server().hosts()[0]["vm-1.shop"]
    assert (result["ansible_host"], "ansible_port" in result) == ("10.0.0.7", False)
    assert (result["vm_name"], result["vm_namespace"], result["vm_status"]) == ("vm-1", "shop", "Running")
    assert (result["vm_drifted"], result["vm_instancetype"]["state"]) == (True, "drifted")
    assert result["vm_resources"]["guest"]["vcpus"] == 1
    assert result["vm_vmi"]["guest_os"] == {"id": "fedora"}
    (interface,) = result["vm_vmi"]["interfaces"]
    assert (interface["name"], interface["model"], interface["binding"]) == ("default", "virtio", "bridge")
    assert (interface["guest_name"], interface["mac"]) == ("eth0", "02:00")
    assert interface["addresses"] == ["10.0.0.7"]
    # The annotation of kubectl has secrets in it.
    assert result["vm_annotations"] == {"note": "{{ x }}"}
    stopped = Server().hosts()[0]["vm-0.shop"]
    assert "ansible_host" not in stopped and "vm_vmi" not in stopped


def test_a_service_gives_address_and_port() -> None:
    result = Server().hosts(address="service", hostvars_prefix="kv_")[0]
    assert (result["vm-1.shop"]["ansible_host"], result["vm-1.shop"]["ansible_port"]) == ("10.1.0.1", 30022)
    assert result["vm-1.shop"]["kv_name"] == "vm-1" and "vm_name" not in result["vm-1.shop"]
    assert "ansible_host" not in result["vm-0.shop"]


def guest(annotation: str = "", preference: str = "") -> dict[str, Any]:
    annotations = {"vm.kubevirt.io/os": annotation} if annotation else {}
    return {"spec": {"preference": {"name": preference}, "template": {"metadata": {"annotations": annotations}}}}


@pytest.mark.parametrize(
    ("manifest", "agent", "windows"),
    [
        (guest(), {"id": "mswindows"}, True),
        (guest("windows11", "windows.11"), {"id": "fedora"}, False),
        (guest("win2k22", "fedora"), {}, True),
        (guest("rhel9", "windows.11"), {}, False),
        (guest(preference="windows.11"), None, True),
        ({"spec": {}}, None, False),
    ],
)
def test_agent_annotation_and_preference_tell_windows(
    manifest: dict[str, Any], agent: dict[str, str] | None, windows: bool
) -> None:
    assert is_windows(manifest, {} if agent is None else {"vmi": {"guest_os": agent}}) == windows


@pytest.mark.parametrize(
    ("connection", "variables"),
    [
        (None, {}),
        ("winrm", {"ansible_connection": "winrm"}),
        ("ssh", {"ansible_connection": "ssh", "ansible_shell_type": "powershell"}),
    ],
)
def test_windows_hosts_have_a_connection(
    monkeypatch: pytest.MonkeyPatch, connection: str | None, variables: dict[str, str]
) -> None:
    machine = vm("shop", "vm-1", 1)
    machine["spec"]["template"]["metadata"] = {"annotations": {"vm.kubevirt.io/os": "windows11"}}
    others = [entry for entry in CLUSTER["virtualmachineinstances"] if entry["metadata"]["name"] != "vm-1"]
    monkeypatch.setitem(CLUSTER, "virtualmachines", [machine, vm("shop", "vm-2", 2)])
    monkeypatch.setitem(CLUSTER, "virtualmachineinstances", others)
    found = Server().hosts(windows_connection=connection)[0]
    names = ("ansible_connection", "ansible_shell_type")
    assert {name: found["vm-1.shop"][name] for name in names if name in found["vm-1.shop"]} == variables
    assert not set(names) & set(found["vm-2.shop"])


def test_only_selected_namespaces_are_read_once_each() -> None:
    server = Server()
    found, _warnings = server.hosts(namespaces=["shop", "shop"], label_selectors=["a=b"])
    assert {name.partition(".")[2] for name in found} == {"shop"}
    assert set(server.requests.values()) == {1}
    assert server.requests.keys() - {"virtualmachineclusterinstancetypes", "kubevirts"} == {
        f"shop/{plural}" for plural in ("virtualmachines", "virtualmachineinstances", "controllerrevisions")
    }
    assert [query.get("labelSelector") for query in server.queries].count("a=b") == 1


def test_only_running_lists_running_vms() -> None:
    assert list(Server().hosts(only_running=True, namespaces=["shop"])[0]) == ["vm-1.shop", "vm-2.shop"]


def test_kind_forbidden_cluster_wide_is_listed_per_namespace() -> None:
    server = Server("*/controllerrevisions", "office/controllerrevisions")
    found, _warnings = server.hosts()
    assert [server.requests[f"{item}controllerrevisions"] for item in ("", "office/", "shop/")] == [1, 1, 1]
    assert found["vm-1.shop"]["vm_instancetype"]["state"] == "drifted"
    assert found["vm-1.office"]["vm_instancetype"]["state"] == "unknown"


@pytest.mark.parametrize("plural", ["controllerrevisions", "virtualmachineclusterinstancetypes"])
def test_a_missing_right_makes_a_state_unknown(plural: str) -> None:
    found, told = Server(plural).hosts()
    assert len(told) == 1
    assert f'resources: ["{plural}"], verbs: ["list"]' in told[0]
    for host in found.values():
        assert (host["vm_instancetype"]["state"], host["vm_drifted"]) == ("unknown", None)
        # A captured spec is known without the instancetype, but not the other way round.
        assert ("vm_resources" in host, "vm_problem" in host) == (
            (False, True) if plural == "controllerrevisions" else (True, False)
        )


@pytest.mark.parametrize(
    ("plural", "address", "host", "warnings"),
    [
        ("virtualmachineinstances", "interface", None, 1),
        ("services", "service", None, 1),
        ("nodes", "service", "node01", 1),
        ("kubevirts", "interface", "10.0.0.7", 1),
    ],
)
def test_unreadable_kinds_leave_the_hosts(plural: str, address: str, host: str | None, warnings: int) -> None:
    found, told = Server(plural).hosts(address=address)
    assert len(found) == len(NAMED)
    assert (found["vm-1.shop"].get("ansible_host"), len(told)) == (host, warnings)


def test_without_the_vms_there_is_no_inventory() -> None:
    """A part of the hosts would look like all of them."""
    with pytest.raises(ApiError):
        Server("virtualmachines").hosts()
    with pytest.raises(ApiError):
        Server("office/virtualmachines").hosts(namespaces=["shop", "office"])


def test_the_services_of_a_namespace_are_matched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    requested: list[int] = []

    def counted(services: list[Any], instances: list[Any]) -> dict[str, list[Any]]:
        requested.append(len(services))
        return services_by_vmi(services, instances)

    monkeypatch.setattr("plugins.plugin_utils._inventory.hosts.services_by_vmi", counted)
    assert len(Server().hosts(address="service")[0]) == 6
    assert requested == [3, 3]
