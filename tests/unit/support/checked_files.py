"""Manifests that the check reads."""

from typing import Any


def vm(name: str = "web", template: Any = None, **spec: Any) -> dict[str, Any]:
    memory = {} if "instancetype" in spec else {"memory": {"guest": "1Gi"}}
    inside = {"domain": {"devices": {}, **memory}, **(template or {})}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"runStrategy": "Always", **spec, "template": {"spec": inside}},
    }
