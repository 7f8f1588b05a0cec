"""Ownership as managedFields tell it."""

from typing import Any

from plugins.module_utils._resolver.api import managed_fields


def live(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "web", "managedFields": list(entries)}}


APPLIED = {
    "manager": "virtshape",
    "operation": "Apply",
    "fieldsV1": {
        "f:metadata": {"f:labels": {"f:tier": {}}},
        "f:spec": {"f:instancetype": {"f:name": {}}, "f:template": {"f:spec": {"f:volumes": {}}}},
    },
}


def test_only_our_apply_counts() -> None:
    update = {**APPLIED, "operation": "Update"}
    status = {**APPLIED, "subresource": "status"}
    other = {**APPLIED, "manager": "kubectl"}
    assert managed_fields.applied_fields(live(update, status, other), "virtshape") is None
    assert managed_fields.applied_fields(live(other, APPLIED), "virtshape") == {
        ("metadata", "labels", "tier"),
        ("spec", "instancetype", "name"),
        ("spec", "template", "spec", "volumes"),
    }


def test_a_dot_is_no_field() -> None:
    entry = {"manager": "m", "operation": "Update", "fieldsV1": {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}}}
    assert managed_fields.updated_fields(live(entry), "m") == {("metadata", "labels", "a")}


def test_identity_is_not_declared() -> None:
    manifest = {"kind": "K", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "b", "labels": {"x": "y"}}}
    assert managed_fields.leaf_fields(manifest) == {("metadata", "labels", "x"): "y"}


def test_empty_declared_object_declares_no_child_fields() -> None:
    owner = {("spec", "devices", "disks")}
    assert managed_fields.undeclared(owner, {("spec", "devices"): {}}) == owner
    assert managed_fields.undeclared(owner, {("spec", "devices"): {}, ("spec", "devices", "disks"): [1]}) == set()
    # A list declares all of its contents.
    assert managed_fields.undeclared({("spec", "disks", "a")}, {("spec", "disks"): [1]}) == set()


def test_owners_of_a_part_or_a_parent_count() -> None:
    managers = [("part", {("spec", "a", "b", "c")}), ("parent", {("spec", "a")}), ("other", {("spec", "d")})]
    assert managed_fields.owners(managers, ("spec", "a", "b")) == ("parent", "part")
    assert managed_fields.sharers(managers, ("spec", "a", "b")) == ("part",)


def test_other_managers_that_apply() -> None:
    others = [{**APPLIED, "manager": name} for name in ("argocd", "zeta")]
    update = {**APPLIED, "manager": "kubectl-edit", "operation": "Update"}
    assert managed_fields.applying_managers(live(APPLIED, *others, update), "virtshape") == ["argocd", "zeta"]


def test_changed_at_is_the_last_non_status_change() -> None:
    entries = [
        {"manager": "virtshape", "operation": "Apply", "time": "2026-02-01T00:00:00Z"},
        {"manager": "kubectl-edit", "operation": "Update", "time": "2026-03-01T00:00:00Z"},
        {"manager": "virt-controller", "operation": "Update", "time": "2026-04-01T00:00:00Z", "subresource": "status"},
        {"manager": "old", "operation": "Update"},
    ]
    assert managed_fields.changed_at(live(*entries)) == "2026-03-01T00:00:00Z"
    assert (
        managed_fields.changed_at({"metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"}}) == "2026-01-01T00:00:00Z"
    )
    assert managed_fields.changed_at({}) == ""
