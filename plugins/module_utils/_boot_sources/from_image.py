"""Instancetype and preference of a VM from an image's environment variables, which KubeVirt does not read.

The matcher is written by name. A VM keeps its matchers: a new image under the same tag does not resize it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .._resolver.api.errors import FieldError
from .._resolver.api.manifest import Manifest, labels_of
from .._resolver.api.matcher import INSTANCETYPE, ROLES, Role
from .._resolver.api.tree import copy
from .._resolver.declare import virtual_machine
from .._resolver.kubevirt.find.infer import IGNORE
from .image import Content, labels
from .origin import Image, existing_volume, image_of


class ImageInference(NamedTuple):
    """A matcher of a VM that an image decides. optional: the VM may do without."""

    role: Role
    volume: str
    image: Image
    optional: bool


class InferredVm(NamedTuple):
    """A VM with matchers by name, and warnings."""

    vm: Manifest
    warnings: list[str]


def existing_volumes(vm: Manifest, live: Manifest | None) -> list[str]:
    """The DataVolumes that `image_inferences` needs."""
    names = (existing_volume(vm, _matcher(role, vm)["inferFromVolume"]) for role in _roles_to_infer(vm, live))
    return [name for name in dict.fromkeys(names) if name]


def image_inferences(vm: Manifest, live: Manifest | None, existing: Mapping[str, Manifest]) -> list[ImageInference]:
    """The matchers of a declared VM that images decide. existing: DataVolumes by name."""
    inferences = []
    for role in _roles_to_infer(vm, live):
        matcher = _matcher(role, vm)
        volume = matcher["inferFromVolume"]
        data_volume = existing.get(existing_volume(vm, volume)) or {}
        image = image_of(vm, volume, existing)
        if image is not None and role.volume_label not in labels_of(data_volume):
            optional = matcher.get("inferFromVolumeFailurePolicy") == IGNORE
            inferences.append(ImageInference(role, volume, image, optional))
    return inferences


def _roles_to_infer(vm: Manifest, live: Manifest | None) -> list[Role]:
    """The roles whose matcher is to be inferred and is not yet decided for the live VM."""
    roles = [role for role in ROLES if _matcher(role, vm).get("inferFromVolume")]
    if live is None or not roles:
        return roles
    reconciled = virtual_machine.reconcile(vm, live, "").manifest
    return [role for role in roles if _matcher(role, reconciled).get("inferFromVolume")]


def _matcher(role: Role, vm: Manifest) -> Manifest:
    return role.matcher_of(vm) or {}


def infer_from_images(
    vm: Manifest, inferences: Iterable[ImageInference], images: Mapping[Image, Content]
) -> InferredVm:
    """The VM with the matchers from its images. Raises FieldError if a required one is missing."""
    result, warnings = copy(vm), []
    unresolved: dict[str, list[Role]] = {}
    for inference in inferences:
        role, image = inference.role, images[inference.image]
        image_labels = {} if image.problem else labels(image.environment)
        if image_labels.get(role.volume_label):
            if inference.optional and role is INSTANCETYPE:
                # As KubeVirt does: the memory was for a disk without an instancetype.
                result["spec"]["template"]["spec"]["domain"].pop("memory", None)
            matcher = {"name": image_labels[role.volume_label], "kind": image_labels.get(role.volume_kind_label)}
            result["spec"][role.matcher] = {field: value for field, value in matcher.items() if value}
            continue
        reason = _missing(inference, image)
        if inference.optional:
            del result["spec"][role.matcher]
            warnings += [f"the VM gets no {role.matcher}: {reason}"] if image.problem else []
        else:
            unresolved.setdefault(reason, []).append(role)
    if unresolved:
        parts = [
            f"{' and '.join(role.matcher for role in roles)}: {reason}; set"
            f" {' and '.join(f'{role.matcher}.name' for role in roles)}, or infer: auto for a VM that may do without"
            for reason, roles in unresolved.items()
        ]
        raise FieldError("infer_from_registry", "; ".join(parts))
    return InferredVm(result, warnings)


def _missing(inference: ImageInference, content: Content) -> str:
    image = f"the image {inference.image.name} of the volume {inference.volume}"
    if content.problem:
        return f"cannot ask for {image}: {content.problem}"
    return f"{image} has no variable INSTANCETYPE_KUBEVIRT_IO_DEFAULT_{inference.role.matcher.upper()}"
