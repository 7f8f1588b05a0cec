"""A VMI as the cluster stores it."""

from __future__ import annotations

from typing import Any

from pod_samples import make_env, spec_of

from plugins.module_utils._capacity.pod.resources import apply_vmi_webhook


def stored(domain: Any = None, version: str = "1.9", env: Any = None, **spec: Any) -> tuple[Any, Any]:
    metadata: dict[str, Any] = {"name": "web"}
    vmi_spec = spec_of(domain, version, **spec)
    apply_vmi_webhook(metadata, vmi_spec, env or make_env(version))
    return metadata.get("annotations", {}), vmi_spec


def test_older_releases_set_node_selector_and_memory_request() -> None:
    domain = {"memory": {"guest": "1Gi"}, "cpu": {"sockets": 1, "realtime": {}}}
    annotations, spec = stored(domain, "1.4")
    assert (annotations, spec["nodeSelector"]) == ({}, {"kubevirt.io/realtime": ""})
    assert spec["domain"]["resources"]["requests"]["memory"] == "1Gi"
    assert "nodeSelector" not in stored(domain)[1]
