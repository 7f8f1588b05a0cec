"""The spec of a DataVolume (containerized-data-importer, API cdi.kubevirt.io) from the options of an import."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ...api.errors import FieldError
from ..amount import amount

Options = dict[str, Any]


class _Source(NamedTuple):
    """The spelling of a source.

    fields: option → field of the API. required: options that it needs. sized: the option `size` is required, because
    the source has no size.
    """

    fields: dict[str, str]
    required: tuple[str, ...] = ()
    sized: bool = True


_SECRET: Final = {"secret_ref": "secretRef"}
_CERTIFICATE: Final = {"cert_config_map": "certConfigMap"}
_OBJECT: Final = {"name": "name", "namespace": "namespace"}

SOURCES: Final[dict[str, _Source]] = {
    "blank": _Source({}),
    "gcs": _Source({"url": "url", **_SECRET}, ("url",)),
    "http": _Source(
        {
            "url": "url",
            **_SECRET,
            **_CERTIFICATE,
            "extra_headers": "extraHeaders",
            "secret_extra_headers": "secretExtraHeaders",
        },
        ("url",),
    ),
    "imageio": _Source({"url": "url", "disk_id": "diskId", **_SECRET, **_CERTIFICATE}, ("url", "disk_id")),
    "pvc": _Source(_OBJECT, ("name", "namespace"), sized=False),
    "registry": _Source(
        {"url": "url", "image_stream": "imageStream", "pull_method": "pullMethod", **_SECRET, **_CERTIFICATE}
    ),
    "s3": _Source({"url": "url", **_SECRET, **_CERTIFICATE}, ("url",)),
    "snapshot": _Source(_OBJECT, ("name", "namespace"), sized=False),
    "vddk": _Source(
        {
            "url": "url",
            "uuid": "uuid",
            "thumbprint": "thumbprint",
            **_SECRET,
            "backing_file": "backingFile",
            "init_image_url": "initImageURL",
        },
        ("url", "uuid", "thumbprint", "secret_ref", "backing_file"),
    ),
    "data_source": _Source(_OBJECT, ("name",), sized=False),
}


def data_volume_spec(path: str, options: Options) -> dict[str, Any]:
    """The spec of the DataVolume for the options of an import.

    path: of the options, for errors. options: exactly one source, size, storage_class, access_modes, volume_mode.
    Raises FieldError, first for an invalid size, then for options of the source, then for a missing size.
    """
    storage = _storage(path, options)
    given = [name for name in SOURCES if options.get(name) not in (None, False)]
    if len(given) != 1:
        raise FieldError(path, f"requires exactly one of {', '.join(SOURCES)}")
    name, source = given[0], SOURCES[given[0]]
    values = {} if name == "blank" else {option: value for option, value in options[name].items() if value}
    for option in source.required:
        if option not in values:
            raise FieldError(f"{path}.{name}.{option}", "required for this source")
    if name == "registry" and ("url" in values) == ("image_stream" in values):
        raise FieldError(f"{path}.registry", "requires exactly one of url and image_stream")
    if options.get("size") is None and source.sized:
        raise FieldError(f"{path}.size", f"required; the source {name} does not define the size of the disk")
    described = {source.fields[option]: value for option, value in values.items()}
    spec: dict[str, Any]
    if name == "data_source":
        spec = {"sourceRef": {"kind": "DataSource", **described}}
    else:
        spec = {"source": {name: described}}
    return {**spec, "storage": storage}


def _storage(path: str, options: Options) -> dict[str, Any]:
    """The storage of a DataVolume; the cluster's storage profile decides what the options leave out."""
    storage: dict[str, Any] = {}
    if options.get("size") is not None:
        storage["resources"] = {"requests": {"storage": amount(f"{path}.size", options["size"])}}
    for option, field in (
        ("storage_class", "storageClassName"),
        ("access_modes", "accessModes"),
        ("volume_mode", "volumeMode"),
    ):
        if options.get(option):
            storage[field] = options[option]
    return storage
