"""The manifests of a boot source from its options alone."""

from __future__ import annotations

from .._resolver.api.errors import FieldError
from .._resolver.api.manifest import Manifest, Options
from .image import reference
from .source import cron, data_source, defaults, volume, volume_name


def rendered(options: Options) -> list[Manifest]:
    """The objects that a declaration would create without an answer of a registry: those of `query_registry: false`.

    options: valid ones. Raises FieldError for what options alone do not decide.
    """
    if not options.get("namespace"):
        raise FieldError("namespace", "required; a DataSource names the namespace of its volume")
    if options.get("upload"):
        raise FieldError("upload", "sends a file to the cluster, so no manifest has it; use image or url")
    labels = defaults(options, ())
    if options.get("schedule") is not None:
        return [cron(options, labels)]
    if options.get("pvc") or options.get("snapshot"):
        return [data_source(options, "", labels)]
    digest = reference(options["image"]).digest if options.get("image") else ""
    if options.get("image") and not digest:
        raise FieldError("image", "only the registry knows its digest; write NAME@sha256:..., or set schedule")
    return [volume(options, digest, labels), data_source(options, volume_name(options, digest), labels)]
