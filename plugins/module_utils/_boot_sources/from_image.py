"""Instancetype and preference of a VM from an image's environment variables, which KubeVirt does not read.

The matcher is written by name. A VM keeps its matchers: a new image under the same tag does not resize it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .._resolver.api.errors import FieldError
from .._resolver.api.manifest import Manifest, labels_of
from .._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELDS, MatcherField
from .._resolver.api.tree import copy
from .._resolver.declare import virtual_machine
from .._resolver.kubevirt.find.infer import IGNORE
from .image import Content, labels
from .origin import Image, existing_volume, image_of


class ImageInference(NamedTuple):
    """A matcher of a VM that an image decides. may_fail: the VM may do without."""

    matcher_field: MatcherField
    volume: str
    image: Image
    may_fail: bool


class InferredVm(NamedTuple):
    """A VM with matchers by name, and warnings."""

    vm: Manifest
    warnings: list[str]


def existing_volumes(vm: Manifest, live: Manifest | None) -> list[str]:
    """The DataVolumes that `image_inferences` needs."""
    names = (
        existing_volume(vm, _matcher(matcher_field, vm)["inferFromVolume"])
        for matcher_field in _fields_to_infer(vm, live)
    )
    return [name for name in dict.fromkeys(names) if name]


def image_inferences(vm: Manifest, live: Manifest | None, existing: Mapping[str, Manifest]) -> list[ImageInference]:
    """The matchers of a declared VM that images decide. existing: DataVolumes by name."""
    inferences = []
    for matcher_field in _fields_to_infer(vm, live):
        matcher = _matcher(matcher_field, vm)
        volume = matcher["inferFromVolume"]
        data_volume = existing.get(existing_volume(vm, volume)) or {}
        image = image_of(vm, volume, existing)
        if image is not None and matcher_field.volume_label not in labels_of(data_volume):
            may_fail = matcher.get("inferFromVolumeFailurePolicy") == IGNORE
            inferences.append(ImageInference(matcher_field, volume, image, may_fail))
    return inferences


def _fields_to_infer(vm: Manifest, live: Manifest | None) -> list[MatcherField]:
    """The matcher fields to be inferred that are not yet decided for the live VM."""
    matcher_fields = [
        matcher_field for matcher_field in MATCHER_FIELDS if _matcher(matcher_field, vm).get("inferFromVolume")
    ]
    if live is None or not matcher_fields:
        return matcher_fields
    reconciled = virtual_machine.reconcile(vm, live, "")[0]
    return [
        matcher_field for matcher_field in matcher_fields if _matcher(matcher_field, reconciled).get("inferFromVolume")
    ]


def _matcher(matcher_field: MatcherField, vm: Manifest) -> Manifest:
    return matcher_field.matcher_of(vm) or {}


def infer_from_images(
    vm: Manifest, inferences: Iterable[ImageInference], images: Mapping[Image, Content]
) -> InferredVm:
    """The VM with the matchers from its images. Raises FieldError if a required one is missing."""
    result, warnings = copy(vm), []
    unresolved: dict[str, list[MatcherField]] = {}
    for inference in inferences:
        matcher_field, image = inference.matcher_field, images[inference.image]
        image_labels = {} if image.problem else labels(image.environment)
        if image_labels.get(matcher_field.volume_label):
            if inference.may_fail and matcher_field is INSTANCETYPE:
                # KubeVirt does the same: the memory was for a disk without an instancetype.
                result["spec"]["template"]["spec"]["domain"].pop("memory", None)
            matcher = {
                "name": image_labels[matcher_field.volume_label],
                "kind": image_labels.get(matcher_field.volume_kind_label),
            }
            result["spec"][matcher_field.matcher] = {field: value for field, value in matcher.items() if value}
            continue
        reason = _missing(inference, image)
        if inference.may_fail:
            del result["spec"][matcher_field.matcher]
            warnings += [f"the VM gets no {matcher_field.matcher}: {reason}"] if image.problem else []
        else:
            unresolved.setdefault(reason, []).append(matcher_field)
    if unresolved:
        parts = [
            f"{' and '.join(matchers)}: {reason}; set {' and '.join(f'{matcher}.name' for matcher in matchers)},"
            " or infer: auto for a VM that may do without"
            for reason, matchers in (
                (reason, [matcher_field.matcher for matcher_field in fields]) for reason, fields in unresolved.items()
            )
        ]
        raise FieldError("infer_from_registry", "; ".join(parts))
    return InferredVm(result, warnings)


def _missing(inference: ImageInference, content: Content) -> str:
    image = f"the image {inference.image.name} of the volume {inference.volume}"
    if content.problem:
        return f"cannot ask for {image}: {content.problem}"
    return f"{image} has no variable INSTANCETYPE_KUBEVIRT_IO_DEFAULT_{inference.matcher_field.matcher.upper()}"
