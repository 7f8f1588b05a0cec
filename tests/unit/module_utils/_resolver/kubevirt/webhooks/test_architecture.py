"""The architecture that a VM's DataSources are for."""

from __future__ import annotations

from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import Objects
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.webhooks import mutate

VM: dict[str, Any] = {
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {
        "dataVolumeTemplates": [{"spec": {"sourceRef": {"kind": "DataSource", "name": "os"}}}],
        "template": {"spec": {}},
    },
}


def source(name: str, label: str = "", **spec: Any) -> dict[str, Any]:
    labels = {"template.kubevirt.io/architecture": label} if label else {}
    metadata = {"name": name, "namespace": "shop", "labels": labels}
    return {"kind": "DataSource", "metadata": metadata, "spec": spec}


def test_data_source_may_refer_to_another() -> None:
    alias = source("os", source={"dataSource": {"name": "real", "namespace": "shop"}})
    result = mutate.with_source_architecture(VM, Objects([alias, source("real", "arm64")]), NEWEST)
    assert result["spec"]["template"]["spec"]["architecture"] == "arm64"
    unresolved = mutate.with_source_architecture(VM, Objects([alias]), NEWEST)
    assert "architecture" not in unresolved["spec"]["template"]["spec"]
