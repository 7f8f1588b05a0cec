"""Instancetype and preference of a VM from an image's environment variables, which KubeVirt does not read.

The matcher is written by name. A VM keeps its matchers: a new image under the same tag does not resize it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .._resolver.api.errors import FieldError
from .._resolver.api.manifest import Manifest, labels_of, namespace_of
from .._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELDS, MatcherField, ObjectKey
from .._resolver.api.tree import copy
from .._resolver.declare import virtual_machine
from .._resolver.kubevirt.instancetype.infer import IGNORE
from .._resolver.kubevirt.instancetype.lookup import Lookup, get_readable
from .._resolver.preflight.object_keys import ObjectToRead
from .image import Content, labels
from .origin import Image, existing_volume, image_of


class ImageInference(NamedTuple):
    """A matcher of a VM that an image decides. may_fail: the VM may do without."""

    matcher_field: MatcherField
    volume: str
    image: Image
    may_fail: bool


def volumes_to_read(vm: Manifest, live: Manifest | None) -> list[ObjectToRead]:
    """The DataVolumes that `image_inferences` looks up."""
    namespace = namespace_of(vm)
    names = (existing_volume(vm, matcher["inferFromVolume"]) for _field, matcher in _to_infer(vm, live))
    return [ObjectToRead(ObjectKey("DataVolume", namespace, name), namespace) for name in filter(None, names)]


def image_inferences(vm: Manifest, live: Manifest | None, lookup: Lookup) -> list[ImageInference]:
    """The matchers of a declared VM that images decide."""
    inferences = []
    for matcher_field, matcher in _to_infer(vm, live):
        volume = matcher["inferFromVolume"]
        name = existing_volume(vm, volume)
        data_volume = (get_readable(lookup, "DataVolume", namespace_of(vm), name) if name else None) or {}
        image = image_of(vm, volume, {name: data_volume})
        # The labels of a DataVolume count instead of its image.
        if image is not None and matcher_field.volume_label not in labels_of(data_volume):
            may_fail = matcher.get("inferFromVolumeFailurePolicy") == IGNORE
            inferences.append(ImageInference(matcher_field, volume, image, may_fail))
    return inferences


def _to_infer(vm: Manifest, live: Manifest | None) -> list[tuple[MatcherField, Manifest]]:
    """The fields to be inferred that are not yet decided for the live VM, with the matchers of the declared one."""
    matchers = [(matcher_field, matcher_field.matcher_or_empty(vm)) for matcher_field in MATCHER_FIELDS]
    due = [(matcher_field, matcher) for matcher_field, matcher in matchers if matcher.get("inferFromVolume")]
    if live is None or not due:
        return due
    reconciled = virtual_machine.with_live_values(vm, live, "")[0]
    return [pair for pair in due if pair[0].matcher_or_empty(reconciled).get("inferFromVolume")]


def infer_from_images(
    vm: Manifest, inferences: Iterable[ImageInference], images: Mapping[Image, Content]
) -> tuple[Manifest, list[str]]:
    """The VM with the matchers from its images by name, and warnings. Raises FieldError without a required one."""
    result, warnings = copy(vm), []
    unresolved: dict[str, list[str]] = {}
    for inference in inferences:
        matcher_field, image = inference.matcher_field, images[inference.image]
        image_labels = {} if image.problem else labels(image.environment)
        if name := image_labels.get(matcher_field.volume_label):
            if inference.may_fail and matcher_field is INSTANCETYPE:
                # KubeVirt does the same: the memory was for a disk without an instancetype.
                result["spec"]["template"]["spec"]["domain"].pop("memory", None)
            kind = image_labels.get(matcher_field.volume_kind_label)
            result["spec"][matcher_field.name] = {"name": name, **({"kind": kind} if kind else {})}
            continue
        reason = f"the image {inference.image.name} of the volume {inference.volume}"
        if image.problem:
            reason = f"cannot ask for {reason}: {image.problem}"
        else:
            reason += f" has no variable INSTANCETYPE_KUBEVIRT_IO_DEFAULT_{matcher_field.name.upper()}"
        if inference.may_fail:
            del result["spec"][matcher_field.name]
            warnings += [f"the VM gets no {matcher_field.name}: {reason}"] if image.problem else []
        else:
            unresolved.setdefault(reason, []).append(matcher_field.name)
    if unresolved:
        parts = [
            f"{' and '.join(matchers)}: {reason}; set {' and '.join(f'{matcher}.name' for matcher in matchers)},"
            " or infer: auto for a VM that may do without"
            for reason, matchers in unresolved.items()
        ]
        raise FieldError("infer_from_registry", "; ".join(parts))
    return result, warnings
