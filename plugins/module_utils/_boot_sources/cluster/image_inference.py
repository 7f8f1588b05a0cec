"""The option `infer_from_registry` of VMs: what registries say of their images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..._cluster.client.session import Session
from ..._cluster.reads.kubevirt import kubevirt
from ..._cluster.reads.lookup import ClusterLookup
from ..._cluster.writes.kind_handler import DeclaredObject, DeclareOutcome
from ..._resolver.api.errors import FieldError
from .. import from_image
from ..origin import Image
from .registry import contents_of


def infer_from_images(session: Session, lookup: ClusterLookup, outcomes: Sequence[DeclareOutcome]) -> None:
    """Asks registries which instancetype and preference VMs need that have the option `infer_from_registry`."""
    due = [outcome for outcome in outcomes if outcome.declared.options.get("infer_from_registry")]
    lookup.gather(key for outcome in due for key in from_image.volumes_to_read(outcome.declared.manifest, outcome.live))
    inferences = {
        outcome: [
            inference._replace(image=_image_of_vm(session, outcome.declared, inference.image))
            for inference in from_image.image_inferences(outcome.declared.manifest, outcome.live, lookup)
        ]
        for outcome in due
    }
    contents = contents_of(session, (item.image for questions in inferences.values() for item in questions))
    for outcome, questions in inferences.items():
        declared = outcome.declared
        try:
            vm, warnings = from_image.infer_from_images(declared.manifest, questions, contents)
        except FieldError as error:
            outcome.failed = str(error)
        else:
            outcome.declared = replace(declared, manifest=vm)
            outcome.warnings += warnings


def _image_of_vm(session: Session, declared: DeclaredObject, image: Image) -> Image:
    """The image as a VM's options want it read. For an image index, that for the VM's architecture counts."""
    if not image.architecture:
        template = declared.manifest["spec"]["template"].get("spec") or {}
        image = image._replace(architecture=template.get("architecture") or kubevirt(session).architecture)
    return image._replace(insecure=bool(declared.options.get("insecure_registry")))
