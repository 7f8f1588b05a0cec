"""Manifests that the check reads."""

from typing import Any

from plugins.module_utils._resolver.api.release import NEWEST

Manifest = dict[str, Any]

CHECKED = f"checked for KubeVirt {NEWEST.minor_version}"
"""The words of the summary without the option `--kubevirt-version`."""


def vm(name: str = "web", template: Any = None, **spec: Any) -> Manifest:
    memory = {} if "instancetype" in spec else {"memory": {"guest": "1Gi"}}
    inside = {"domain": {"devices": {}, **memory}, **(template or {})}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"runStrategy": "Always", **spec, "template": {"spec": inside}},
    }


def instancetype(name: str = "own", cpus: Any = 2, namespace: str = "", **more: Any) -> Manifest:
    return _described("Instancetype", name, namespace, {"cpu": {"guest": cpus}, "memory": {"guest": "4Gi"}, **more})


def preference(name: str = "own", namespace: str = "", **spec: Any) -> Manifest:
    return _described("Preference", name, namespace, spec)


def _described(kind: str, name: str, namespace: str, spec: Manifest) -> Manifest:
    """Cluster-wide unless it has a namespace."""
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": f"VirtualMachine{'' if namespace else 'Cluster'}{kind}",
        "metadata": {"name": name, **({"namespace": namespace} if namespace else {})},
        "spec": spec,
    }
