"""Asks registries which instancetype and preference the VMs of a task need, before the VMs are planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..._resolver.api.errors import FieldError
from ..._resolver.boot.origin import Image
from ..._resolver.declare.vm import from_image
from ..._resolver.declare.vm.from_image import ImageContents, ImageInference
from ..._resolver.preflight.object_keys import ObjectKey
from ..client.session import Session
from ..read.image import contents_of
from ..read.kubevirt import kubevirt
from ..read.lookup import ClusterLookup
from .kind_handler import Entry

Manifest = dict[str, Any]


def complete_entries(
    session: Session, entries: Sequence[tuple[Entry, Manifest | None]]
) -> list[tuple[Entry, list[str]]]:
    """The entries with matchers by name, in order, each with its warnings. An entry that fails gets a problem.

    entries: those with their live VMs. Only entries with the option `infer_from_registry` change.
    """
    due = [pair if pair[0].options.get("infer_from_registry") else None for pair in entries]
    if not any(due):
        return [(entry, []) for entry, _live in entries]
    existing = _existing(session, [pair for pair in due if pair])
    inferences = [
        from_image.image_inferences(pair[0].manifest, pair[1], existing.get(pair[0].key.namespace or "", {}))
        if pair
        else []
        for pair in due
    ]
    images = [
        [_image_key(session, entry, question) for question in questions]
        for (entry, _live), questions in zip(entries, inferences)
    ]
    contents = contents_of(session, (image_key for of_vm in images for image_key in of_vm))
    completed: list[tuple[Entry, list[str]]] = []
    for (entry, _live), questions, of_vm in zip(entries, inferences, images):
        contents_by_image = {
            question.image: ImageContents(contents[image_key].environment, contents[image_key].problem)
            for question, image_key in zip(questions, of_vm)
        }
        completed.append(_complete(entry, questions, contents_by_image) if questions else (entry, []))
    return completed


def _complete(
    entry: Entry, inferences: list[ImageInference], contents_by_image: dict[Image, ImageContents]
) -> tuple[Entry, list[str]]:
    try:
        inferred = from_image.infer_from_images(entry.manifest, inferences, contents_by_image)
    except FieldError as error:
        return replace(entry, problem=str(error)), []
    return replace(entry, manifest=inferred.vm), inferred.warnings


def _image_key(session: Session, entry: Entry, question: ImageInference) -> tuple[Image, bool]:
    """An argument for contents_of. For an image index, the image for the VM's architecture counts."""
    image = question.image
    if not image.architecture:
        template = entry.manifest["spec"]["template"].get("spec") or {}
        own = template.get("architecture") or kubevirt(session).configuration.architecture
        image = image._replace(architecture=own)
    return image, bool(entry.options.get("insecure_registry"))


def _existing(session: Session, due: list[tuple[Entry, Manifest | None]]) -> dict[str, dict[str, Manifest]]:
    """The DataVolumes that the inference needs, by namespace and name."""
    volumes = {
        (entry.key.namespace or "", name)
        for entry, live in due
        for name in from_image.existing_volumes(entry.manifest, live)
    }
    lookup = ClusterLookup(session)
    lookup.gather(ObjectKey("DataVolume", namespace, name, namespace) for namespace, name in sorted(volumes))
    existing: dict[str, dict[str, Manifest]] = {}
    for namespace, name in volumes:
        volume = lookup.get("DataVolume", namespace, name)
        if isinstance(volume, dict):
            existing.setdefault(namespace, {})[name] = volume
    return existing
