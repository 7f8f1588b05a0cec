"""The sources of disks are read with lists, however many VMs there are."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from scripted_server import Store

Run = Callable[..., dict[str, Any]]

_COLLECTIONS = {
    "claim": "/api/v1/namespaces/golden/persistentvolumeclaims",
    "snapshot": "/apis/snapshot.storage.k8s.io/v1/namespaces/golden/volumesnapshots",
    "data_source": "/apis/cdi.kubevirt.io/v1beta1/namespaces/golden/datasources",
}
_CLAIM = {"spec": {"resources": {"requests": {"storage": "1Gi"}}}, "status": {"phase": "Bound"}}


def _volume(kind: str, name: str) -> dict[str, Any]:
    source = {"name": name, "namespace": "golden"}
    option = "pvc" if kind == "claim" else kind
    return {"name": "root", "import": {option: source, "size": "2Gi"}}


def _requests(run: Run, kind: str, count: int) -> tuple[dict[str, Any], Counter[tuple[str, str]]]:
    """The result and the requests of a task with VMs that each copy a source of their own."""
    names = [f"disk-{number}" for number in range(count)]
    items = [{"metadata": {"name": name, "namespace": "golden"}, **_CLAIM} for name in names]
    lists = {_COLLECTIONS["claim"]: items}
    if kind == "snapshot":
        lists[_COLLECTIONS[kind]] = [{"metadata": item["metadata"], "status": {"readyToUse": True}} for item in items]
    if kind == "data_source":
        lists[_COLLECTIONS[kind]] = [
            {
                "metadata": item["metadata"],
                "spec": {"source": {"pvc": item["metadata"]}},
                "status": {"conditions": [{"type": "Ready", "status": "True"}]},
            }
            for item in items
        ]
    # A user who may clone everything of a namespace needs no right to each source.
    reviews = ("POST", "/subjectaccessreviews"), (201, {"status": {"allowed": True}})
    store = Store({"/apis/kubevirt.io/v1/namespaces/shop/virtualmachines": [], **lists}, dict([reviews]))
    vms = [{"name": f"web-{name}", "memory": "1Gi", "volumes": [_volume(kind, name)]} for name in names]
    result = run("virtual_machine", store, check=True, namespace="shop", virtual_machines=vms)
    return result, Counter(store.asked)


@pytest.mark.parametrize("kind", sorted(_COLLECTIONS))
def test_sources_need_no_request_per_vm(run: Run, kind: str) -> None:
    few, few_requests = _requests(run, kind, 10)
    many, many_requests = _requests(run, kind, 100)
    assert not few.get("failed") and not many.get("failed"), many.get("msg")
    assert not many.get("warnings")
    assert len(many["results"]) == 100
    assert many_requests[("GET", _COLLECTIONS[kind])] == 1
    assert not [path for _method, path in many_requests if "/disk-" in path]
    assert sum(few_requests.values()) == sum(many_requests.values())
