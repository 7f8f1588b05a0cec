"""virtual_machine_info: what the captured revisions of a VM hold."""

import base64
import json
from collections import Counter
from typing import Any

import pytest
from listed_vms import KIND, sized, store, vm

from scripted_server import REVISIONS, Manifest, Run

ALPHA = "instancetype.kubevirt.io/v1alpha2"
SPEC = {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}}


def revision(data: Manifest) -> Manifest:
    labels = {"instancetype.kubevirt.io/object-name": "small"}
    return {"metadata": {"name": "a-small-1", "namespace": "shop", "labels": labels}, "data": data}


def found(run: Run, data: Manifest | None, **options: Any) -> tuple[Manifest, Counter[str]]:
    """The instancetype in the result, and how often each kind was listed."""
    cluster = store(vm("a", sized("small"), revision="a-small-1"))
    if data is not None:
        cluster.lists[REVISIONS] = [revision(data)]
    (result,) = run("virtual_machine_info", cluster, namespace="shop", **options)["virtual_machines"]
    return result["instancetype"], Counter(path.rpartition("/")[2] for _method, path in cluster.asked)


@pytest.mark.parametrize(
    ("data", "api_version"),
    [
        ({"apiVersion": ALPHA, "kind": KIND, "metadata": {"name": "small"}, "spec": SPEC}, ALPHA),
        # KubeVirt 0.56 stored the spec alone.
        ({"apiVersion": "", "spec": base64.b64encode(json.dumps(SPEC).encode()).decode()}, ""),
    ],
)
def test_content_of_a_captured_revision(run: Run, data: Manifest, api_version: str) -> None:
    before, asked_before = found(run, data, include=["refresh"])
    instancetype, asked = found(run, data, include=["captured", "refresh"])
    assert instancetype["captured"]["api_version"] == api_version
    spec = instancetype["captured"]["spec"]
    # KubeVirt's conversion of older versions writes empty fields.
    assert {"cpu": {"guest": spec["cpu"]["guest"]}, "memory": spec["memory"]} == SPEC
    # It is in the lists that every task makes.
    assert (asked, before) == (asked_before, {key: instancetype[key] for key in instancetype if key != "captured"})


@pytest.mark.parametrize("data", [None, {"apiVersion": "v9", "kind": KIND, "spec": SPEC}])
def test_unreadable_revision_has_no_content(run: Run, data: Manifest | None) -> None:
    assert "captured" not in found(run, data, include=["captured"])[0]
