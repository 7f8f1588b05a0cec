"""The option `boot`: a VM from a single known disk."""

from __future__ import annotations

from typing import Any, Final

from ...api.errors import FieldError
from ...api.names import shown

Options = dict[str, Any]

VOLUME: Final = "boot"
# The size behind a URL is unknown; this suffices for the usual images of operating systems.
_SIZE_OF_DOWNLOAD: Final = "30Gi"
_SOURCE_OF_SCHEME: Final = {
    "http": "http",
    "https": "http",
    "gs": "gcs",
    "docker": "registry",
    "oci-archive": "registry",
}
_STORAGE: Final = ("size", "storage_class", "access_modes", "volume_mode")


def volume(boot: Options) -> Options:
    """The entry of `volumes` for the option. Raises FieldError."""
    if boot.get("container_disk"):
        return {"name": VOLUME, "container_disk": boot["container_disk"]}
    if boot.get("pvc"):
        return {"name": VOLUME, "persistent_volume_claim": boot["pvc"]}
    storage = {name: boot[name] for name in _STORAGE if boot.get(name) is not None}
    if boot.get("data_source"):
        return {"name": VOLUME, "import": {"data_source": _data_source(boot["data_source"]), **storage}}
    if boot.get("url"):
        return {"name": VOLUME, "import": {"size": _SIZE_OF_DOWNLOAD, **storage, **_download(boot["url"])}}
    raise FieldError("boot", "requires one of data_source, pvc, container_disk and url")


def lacks_labels(boot: Options) -> bool:
    """Whether the disk has no labels from which KubeVirt could infer instancetype and preference."""
    return not (boot.get("data_source") or boot.get("pvc"))


def has_image(boot: Options) -> bool:
    """Whether the disk is an image in a registry."""
    return bool(boot.get("container_disk")) or str(boot.get("url") or "").lower().startswith("docker://")


def _data_source(text: str) -> Options:
    namespace, slash, name = text.rpartition("/")
    if not name or "/" in namespace or (slash and not namespace):
        raise FieldError("boot.data_source", f"{shown(text)} is neither a name nor namespace/name")
    return {"name": name, **({"namespace": namespace} if namespace else {})}


def _download(url: str) -> Options:
    scheme = url.partition("://")[0].lower()
    if "://" not in url or scheme not in _SOURCE_OF_SCHEME:
        schemes = ", ".join(f"{name}://" for name in _SOURCE_OF_SCHEME)
        raise FieldError("boot.url", f"must begin with one of {schemes}; use volumes[].import for other sources")
    return {_SOURCE_OF_SCHEME[scheme]: {"url": url}}
