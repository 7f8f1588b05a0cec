"""The option `infer_from_registry` of VMs: what registries say of their images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..._cluster.client.session import Session
from ..._cluster.reads.kubevirt import kubevirt
from ..._cluster.reads.lookup import ClusterLookup
from ..._cluster.writes.kind_handler import DeclaredObject, DeclareOutcome
from ..._resolver.api.errors import FieldError
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.kubevirt.find.lookup import get_readable
from ..._resolver.preflight.object_keys import ObjectToRead
from .. import from_image
from ..from_image import ImageInference
from ..origin import Image
from .registry import contents_of


def infer_from_images(session: Session, outcomes: Sequence[DeclareOutcome]) -> None:
    """Asks registries which instancetype and preference VMs need that have the option `infer_from_registry`."""
    due = [outcome for outcome in outcomes if outcome.declared.options.get("infer_from_registry")]
    if not due:
        return
    existing = _existing_volumes(session, due)
    inferences: dict[DeclareOutcome, list[ImageInference]] = {}
    for outcome in due:
        declared = outcome.declared
        volumes = existing.get(declared.key.namespace, {})
        questions = from_image.image_inferences(declared.manifest, outcome.live, volumes)
        if questions:
            inferences[outcome] = [
                question._replace(image=_image_of_vm(session, declared, question.image)) for question in questions
            ]
    contents = contents_of(session, (question.image for questions in inferences.values() for question in questions))
    for outcome, questions in inferences.items():
        try:
            inferred = from_image.infer_from_images(outcome.declared.manifest, questions, contents)
        except FieldError as error:
            outcome.failed = str(error)
        else:
            outcome.declared = replace(outcome.declared, manifest=inferred.vm)
            outcome.warnings += inferred.warnings


def _image_of_vm(session: Session, declared: DeclaredObject, image: Image) -> Image:
    """The image as a VM's options want it read. For an image index, that for the VM's architecture counts."""
    if not image.architecture:
        template = declared.manifest["spec"]["template"].get("spec") or {}
        own = template.get("architecture") or kubevirt(session).architecture
        image = image._replace(architecture=own)
    return image._replace(insecure=bool(declared.options.get("insecure_registry")))


def _existing_volumes(session: Session, due: list[DeclareOutcome]) -> dict[str, dict[str, Manifest]]:
    """The DataVolumes that the inference needs, by namespace and name."""
    volumes = {
        (outcome.declared.key.namespace, name)
        for outcome in due
        for name in from_image.existing_volumes(outcome.declared.manifest, outcome.live)
    }
    lookup = ClusterLookup(session)
    lookup.gather(
        ObjectToRead(ObjectKey("DataVolume", namespace, name), namespace) for namespace, name in sorted(volumes)
    )
    existing: dict[str, dict[str, Manifest]] = {}
    for namespace, name in volumes:
        volume = get_readable(lookup, "DataVolume", namespace, name)
        if volume is not None:
            existing.setdefault(namespace, {})[name] = volume
    return existing
