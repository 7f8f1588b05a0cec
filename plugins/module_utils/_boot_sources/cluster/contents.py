"""Reads the contents of images and files of boot sources, and finds defaults that the cluster lacks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from ..._cluster.client.session import Session
from ..._cluster.reads.kubevirt import kubevirt
from ..._cluster.reads.lookup import ClusterLookup
from ..._resolver.api.finding import Finding
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest, Options, name_of
from ..._resolver.choose.fitting import rejection_of_pair
from ..._resolver.kubevirt.instancetype.lookup import get_readable, is_missing
from .. import source
from ..cdi_parsers import parse_checksum
from ..image import Content, reference
from ..origin import Image
from .registry import content_of

_CHUNK: Final = 1 << 20


def image_content(session: Session, options: Options) -> Content:
    """The content of a boot source's image, from its registry."""
    secret, ca, architecture = (options.get(name) or "" for name in ("secret_ref", "cert_config_map", "architecture"))
    image = Image(options["image"], options["namespace"], secret, ca, architecture, options["insecure_registry"])
    if not options["query_registry"]:
        digest = reference(image.name).digest
        if digest or options.get("schedule"):
            return Content(digest)
        return Content(problem="query_registry: false needs an image with a digest, NAME@sha256:..., or a schedule")
    content = content_of(session, image)
    if not content.problem and image.architecture and content.architecture != image.architecture:
        return Content(problem=f"{image.name} is for {content.architecture}, not for {image.architecture}")
    return content


def file_content(options: Options) -> Content:
    """The content of a file to upload."""
    path = options["upload"]["path"]
    algorithm, expected = parse_checksum(options["checksum"]) if options.get("checksum") else ("sha256", "")
    sha256, declared = hashlib.sha256(), hashlib.new(algorithm)
    try:
        with Path(path).open("rb") as file:
            while chunk := file.read(_CHUNK):
                sha256.update(chunk)
                declared.update(chunk)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        return Content(problem=f"upload.path {path}: {error.strerror}", missing=missing)
    if expected and declared.hexdigest() != expected:
        return Content(problem=f"upload.path {path}: its {algorithm} is {declared.hexdigest()}, not that of checksum")
    return Content(f"sha256:{sha256.hexdigest()}")


def default_findings(
    session: Session, lookup: ClusterLookup, namespace: str, labels: Mapping[str, str], architecture: str = ""
) -> Iterator[Finding]:
    """Default labels for VMs in a namespace that name missing objects, or a pair that KubeVirt rejects.

    Unreadable objects have no findings. architecture: the architecture of the image, "" if unknown.
    """
    objects: dict[str, Manifest] = {}
    for matcher_field, (kind, name) in source.matchers(labels).items():
        if kind not in KINDS or is_missing(lookup, kind, namespace, name):
            yield Finding(f"{matcher_field}: there is no {kind} {name}", missing=True, rule="missing_default")
        elif live := get_readable(lookup, kind, namespace, name):
            objects[matcher_field] = live
    if len(objects) == 2:
        instancetype, preference = objects["instancetype"], objects["preference"]
        if problem := rejection_of_pair(instancetype, preference, architecture, kubevirt(session).release):
            names = f"the instancetype {name_of(instancetype)} and the preference {name_of(preference)}"
            yield Finding(f"{names} do not go together: {problem}", rule="unfit_defaults")
