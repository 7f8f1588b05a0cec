"""The change that adopts a VM: its patch, and the owners of the fields that it removes."""

from __future__ import annotations

from typing import Any

from .._resolver.api import managed_fields
from .._resolver.api.managed_fields import FieldPath, applying_managers
from .._resolver.api.manifest import Manifest
from .._resolver.api.matcher import MATCHER_FIELDS
from .._resolver.ownership.writers import FORCE, REJECTED, REVERTED, ownership_text, writer_claim
from .adopt import Candidate
from .removal import annotation_in


def patch(vm: Manifest, adopted: Manifest) -> list[dict[str, Any]]:
    """The JSON patch from the VM to the adopted VM. It fails if the VM's generation has changed."""
    changes = [{"op": "test", "path": "/metadata/generation", "value": vm["metadata"].get("generation")}]
    for matcher_field in MATCHER_FIELDS:
        matcher = matcher_field.matcher_of(adopted)
        if matcher != matcher_field.matcher_of(vm):
            changes.append({"op": "add", "path": f"/spec/{matcher_field.name}", "value": matcher})
    return [*changes, {"op": "replace", "path": "/spec/template", "value": adopted["spec"]["template"]}]


def fields_of(candidate: Candidate) -> list[FieldPath]:
    """The fields of the live VM that an adoption removes. A list counts as one field."""
    fields: list[FieldPath] = []
    for path in candidate.removed:
        annotation = annotation_in(path)
        inside = ("metadata", "annotations", annotation) if annotation else ("spec", *path.partition("[")[0].split("."))
        fields.append(("spec", "template", *inside))
    return list(dict.fromkeys(fields))


def conflict(vm: Manifest, candidate: Candidate, own: str, force: bool) -> tuple[str | None, str | None]:
    """Why an adoption is refused, and what to warn of, because others declare fields that it removes.

    own: our field manager. force: take the fields. A tool that declared the VM once is no obstacle.
    """
    fields = fields_of(candidate)
    writer = writer_claim(vm, fields, own)
    if writer is not None:
        # An owner replaces the whole spec, without the instancetype.
        effect = REVERTED if writer.writer.owns else REJECTED
        text = f"{writer.text(effect)}; results[].manifest is the manifest for {writer.writer.source}"
        return (None, text) if force else (f"{text}; put it there first, or set {FORCE}", None)
    owners = {
        name: [".".join(field) for field in fields if managed_fields.owners([(name, owned_fields)], field)]
        for name in applying_managers(vm, own)
        if (owned_fields := managed_fields.applied_fields(vm, name))
    }
    declared = {name: names for name, names in owners.items() if names}
    if not declared or force:
        return None, None
    return (
        f"another field manager declares fields that the instancetype replaces: {ownership_text(declared)}; its next"
        f" apply is rejected until it declares results[].manifest; change it first, or set {FORCE}"
    ), None
