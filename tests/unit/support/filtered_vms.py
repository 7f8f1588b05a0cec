"""VMs that the filters read."""

from typing import Any

LARGE = {"cpu": {"guest": 4}, "memory": {"guest": "8Gi"}}
INSTANCETYPE = {
    "kind": "VirtualMachineClusterInstancetype",
    "metadata": {"name": "small"},
    "spec": {"cpu": {"guest": 1, "maxSockets": 4}, "memory": {"guest": "1Gi"}},
}
VM = {
    "kind": "VirtualMachine",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"instancetype": {"name": "small"}, "template": {"spec": {"domain": {"devices": {}}}}},
}


def vm(name: str = "web", **domain: Any) -> dict[str, Any]:
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"template": {"spec": {"domain": {"devices": {}, **domain}}}},
    }


def kubevirt(version: str = "", **configuration: Any) -> dict[str, Any]:
    return {"spec": {"configuration": configuration}, "status": {"observedKubeVirtVersion": version}}
