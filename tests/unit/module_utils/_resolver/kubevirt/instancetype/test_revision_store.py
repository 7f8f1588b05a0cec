"""ControllerRevisions: content, and which one counts."""

import copy

from plugins.module_utils._resolver.kubevirt.instancetype import revision_store as revision

VM = {"metadata": {"name": "a", "namespace": "web", "uid": "1"}, "spec": {}}


def test_empty_node_selector_is_dropped_from_revision() -> None:
    obj = {"kind": "VirtualMachineInstancetype", "metadata": {"name": "x", "labels": {"a": "b"}}}
    obj["spec"] = {"cpu": {"guest": 1}, "memory": {"guest": "1024Mi"}, "nodeSelector": {}}
    before = copy.deepcopy(obj)
    result = revision.controller_revision(VM, obj)
    assert result["data"]["spec"] == {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
    assert result["data"]["metadata"] == {"name": "x"}
    assert obj == before
