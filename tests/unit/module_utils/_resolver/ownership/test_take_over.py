"""A takeover takes fields from other managers, and changes the managed fields."""

import copy
from typing import Any

import pytest

from plugins.module_utils._resolver.declare.plan import managers_to_take
from plugins.module_utils._resolver.ownership import take_over

FIELDS: dict[tuple[str, ...], Any] = {
    ("metadata", "labels", "app"): "web",
    ("spec", "instancetype", "name"): "small",
    ("spec", "template", "spec", "domain", "devices"): {},
    ("spec", "gone"): None,
}


def entry(manager: str, fields: dict[str, Any], operation: str = "Update", **more: Any) -> dict[str, Any]:
    return {"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsV1": fields, **more}


KUBECTL_FIELDS = {
    "f:metadata": {"f:labels": {".": {}, "f:app": {}, "f:note": {}}},
    "f:spec": {
        "f:instancetype": {".": {}, "f:name": {}},
        "f:gone": {"f:deep": {}},
        "f:template": {"f:spec": {"f:domain": {"f:devices": {".": {}, "f:disks": {}}}}},
    },
}


def vm(*entries: dict[str, Any], **annotations: str) -> dict[str, Any]:
    metadata = {"name": "web", "resourceVersion": "7", "managedFields": list(entries), "annotations": annotations}
    return {"apiVersion": "kubevirt.io/v1", "metadata": metadata}


@pytest.mark.parametrize(
    ("option", "yes", "no"),
    [
        (None, [], ["kubectl-edit", "virtctl"]),
        (False, [], ["virtctl"]),
        ("false", [], ["virtctl"]),
        ([], [], ["virtctl"]),
        (
            True,
            [
                "kubectl-client-side-apply",
                "kubectl-edit",
                "OpenAPI-Generator",
                "virtctl-v1.9.0-linux-amd64",
                "Terraform",
            ],
            ["kubectl", "argocd-controller", "virt-controller", "flux"],
        ),
        ("yes", ["virtctl"], ["argocd-controller"]),
        (["argocd-controller"], ["argocd-controller"], ["virtctl", "argocd"]),
        ("argocd-controller", ["argocd-controller"], ["virtctl"]),
    ],
)
def test_take_over_selects_managers(option: Any, yes: list[str], no: list[str]) -> None:
    take = take_over.parse_take_over(option)
    assert all(take(name) for name in yes) and not any(take(name) for name in no)


@pytest.mark.parametrize("option", [5, {"a": 1}, [""], [5], 0.5])
def test_take_over_rejects_other_values(option: Any) -> None:
    with pytest.raises(ValueError, match=r"^take_over: expected true or a list of field managers, found "):
        take_over.parse_take_over(option)


def test_only_owners_of_the_fields_are_taken_over() -> None:
    live = vm(
        entry("virtctl", KUBECTL_FIELDS),
        entry("virtctl", KUBECTL_FIELDS, "Apply"),
        entry("kubectl-edit", {"f:metadata": {"f:labels": {"f:note": {}}}}),
        entry("kubectl-create", {"f:spec": {"f:template": {"f:spec": {"f:domain": {"f:devices": {"f:disks": {}}}}}}}),
        entry("OpenAPI-Generator", KUBECTL_FIELDS, subresource="status"),
        entry("argocd", KUBECTL_FIELDS),
        entry("virtshape", KUBECTL_FIELDS),
    )
    everybody = take_over.parse_take_over(True)
    assert managers_to_take(live, FIELDS, "virtshape", everybody) == ("virtctl",)
    assert managers_to_take(live, FIELDS, "virtshape", take_over.keep_managers) == ()
    assert managers_to_take({"metadata": {}}, FIELDS, "virtshape", everybody) == ()


def test_declared_fields_become_ours_and_others_stay() -> None:
    status, other = entry("virtctl", KUBECTL_FIELDS, subresource="status"), entry("argocd", KUBECTL_FIELDS)
    live = vm(entry("virtctl", KUBECTL_FIELDS), status, other)
    retained = copy.deepcopy(live)
    managed, version = take_over.patch(live, FIELDS, "virtshape", ("virtctl",))
    assert live == retained
    assert version == {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"}
    assert managed["path"] == "/metadata/managedFields"
    rest, *same, ours = managed["value"]
    assert rest["fieldsV1"] == {
        "f:metadata": {"f:labels": {".": {}, "f:note": {}}},
        "f:spec": {"f:template": {"f:spec": {"f:domain": {"f:devices": {".": {}, "f:disks": {}}}}}},
    }
    assert same == [status, other]
    assert (ours["manager"], ours["operation"], ours["apiVersion"]) == ("virtshape", "Apply", "kubevirt.io/v1")
    assert ours["fieldsV1"] == {
        "f:metadata": {"f:labels": {"f:app": {}}},
        "f:spec": {"f:instancetype": {"f:name": {}}, "f:gone": {"f:deep": {}}},
    }


def test_moved_fields_are_added_to_our_entry() -> None:
    mine = entry("virtshape", {"f:spec": {"f:runStrategy": {}, "f:instancetype": {"f:kind": {}}}}, "Apply")
    updated = entry("virtshape", {"f:spec": {"f:running": {}}})
    all_theirs = entry("virtctl", {"f:spec": {"f:instancetype": {".": {}, "f:name": {}}}})
    managed, _version = take_over.patch(vm(mine, updated, all_theirs), FIELDS, "virtshape", ("virtctl",))
    first, second = managed["value"]
    assert first["fieldsV1"] == {"f:spec": {"f:runStrategy": {}, "f:instancetype": {"f:kind": {}, "f:name": {}}}}
    assert second == updated


def test_atomic_lists_and_objects_are_moved_completely() -> None:
    complete = {"f:spec": {"f:template": {}}}
    managed, _version = take_over.patch(vm(entry("virtctl", complete)), FIELDS, "virtshape", ("virtctl",))
    assert [item["manager"] for item in managed["value"]] == ["virtshape"]
    assert managed["value"][0]["fieldsV1"] == complete


def test_last_applied_configuration_is_removed_with_its_owner() -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "{}"}
    live = vm(entry("kubectl-client-side-apply", KUBECTL_FIELDS), **annotations)
    *_others, removed = take_over.patch(live, FIELDS, "virtshape", ("kubectl-client-side-apply",))
    path = "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration"
    assert removed == {"op": "remove", "path": path}
    assert len(take_over.patch(live, FIELDS, "virtshape", ("virtctl",))) == 2
