"""Uploads of files: valid targets, and what CDI says of them, as ``virtctl image-upload`` takes it.

The checks return an error, or "". The checks reject what virtctl rejects, in terms of the options.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from .._resolver.api.manifest import Manifest, Options, annotations_of, labels_of, qualified_name
from .cdi_parsers import UrlError, scheme
from .source import DIGEST

_CDI: Final = "cdi.kubevirt.io"
TARGET: Final = f"{_CDI}/storage.upload.target"
_POD_READY: Final = f"{_CDI}/storage.pod.ready"
POD_PHASE: Final = f"{_CDI}/storage.pod.phase"
_CONTENT_TYPE: Final = f"{_CDI}/storage.contentType"
_USES_POPULATOR: Final = f"{_CDI}/storage.usePopulator"
_PRIME: Final = f"{_CDI}/storage.populator.pvcPrime"
_DELETED_WHEN_DONE: Final = f"{_CDI}/storage.deleteAfterCompletion"
_APPLY_PROFILE: Final = f"{_CDI}/applyStorageProfile"
_UNBOUND: Final = ("WaitForFirstConsumer", "PendingPopulation")
_ASYNC: Final = "/v1beta1/upload-async"
_SYNC: Final = "/v1beta1/upload"
# An event with this text is about a conflict, after which CDI retries.
_OUTDATED: Final = "the object has been modified; please apply your changes to the latest version and try again"
_TRUE: Final = ("1", "t", "T", "true", "TRUE", "True")


def claim(volume: Manifest) -> Manifest:
    """The PersistentVolumeClaim that CDI prepares for an upload, instead of a DataVolume."""
    metadata, spec = volume["metadata"], volume["spec"]
    annotations = {TARGET: "", _CONTENT_TYPE: spec["contentType"], **annotations_of(volume)}
    # CDI's webhook completes claims with this label from the StorageProfile.
    labels = {_APPLY_PROFILE: "true", **metadata["labels"]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {**metadata, "annotations": annotations, "labels": labels},
        "spec": {"accessModes": ["ReadWriteOnce"], **spec["storage"]},
    }


def missing_volume(claim: Manifest) -> str:
    """Why a claim without a DataVolume is not a target if a DataVolume was expected."""
    annotations = annotations_of(claim)
    if annotations.get(_DELETED_WHEN_DONE) == "true" and annotations.get(POD_PHASE) == "Succeeded":
        name = qualified_name(claim)
        return f"PersistentVolumeClaim {name} is filled already, and its DataVolume has been deleted since"
    return f"PersistentVolumeClaim {qualified_name(claim)} belongs to no DataVolume; set upload.claim"


def uses_populator(data_volume: Manifest) -> bool:
    """Whether CDI first fills another claim, the prime."""
    return annotations_of(data_volume).get(_USES_POPULATOR) == "true"


def prime_of(claim: Manifest) -> tuple[str, str]:
    """The name of a claim's prime, and why there is none for the upload."""
    if (claim.get("status") or {}).get("phase") == "Bound":
        return "", f"PersistentVolumeClaim {qualified_name(claim)} is bound, so CDI has filled it already"
    name = annotations_of(claim).get(_PRIME) or ""
    return name, "" if name else f"CDI has made no claim for the upload to {qualified_name(claim)} yet; try again later"


def existing_problem(options: Options, label: str, claim: Manifest) -> str:
    """Why an existing claim, or its prime, is not a target. label: NAMESPACE/NAME of
    the volume.
    """
    annotations, file = annotations_of(claim), options["upload"]
    if annotations.get(POD_PHASE) == "Succeeded":
        return f"PersistentVolumeClaim {label} is filled already; upload to another volume"
    if file["create"] and TARGET not in annotations:
        return f"PersistentVolumeClaim {label} is not prepared for an upload; with upload.create: false it will be"
    if file["archive"] and annotations.get(_CONTENT_TYPE) != "archive":
        return f"PersistentVolumeClaim {label} takes no archive"
    return ""


def prepared(claim: Manifest) -> Manifest | None:
    """The claim prepared for CDI's upload controller; None if it already is."""
    if TARGET in annotations_of(claim):
        return None
    annotations = {**annotations_of(claim), TARGET: ""}
    return {**claim, "metadata": {**claim["metadata"], "annotations": annotations}}


def patch(labels: Mapping[str, str], digest: str, live: Manifest) -> Manifest | None:
    """The merge patch that adds labels and digest to an existing object; None if it has them."""
    missing = {
        "labels": _missing(labels, labels_of(live)),
        "annotations": _missing({DIGEST: digest} if digest else {}, annotations_of(live)),
    }
    metadata = {part: values for part, values in missing.items() if values}
    return {"metadata": metadata} if metadata else None


def _missing(desired: Mapping[str, str], live: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in desired.items() if live.get(name) != value}


def is_filled_with(live: Manifest, digest: str) -> bool:
    """Whether CDI has filled a DataVolume or a claim with the file of this digest."""
    done = (live.get("status") or {}).get("phase") == "Succeeded" or claim_is_done(live)
    return done and annotations_of(live).get(DIGEST) == digest


def claim_is_ready(claim: Manifest) -> bool:
    """Whether CDI's upload server accepts data for a claim."""
    return annotations_of(claim).get(_POD_READY) in _TRUE


def claim_is_done(claim: Manifest) -> bool:
    """Whether CDI has processed the uploaded data."""
    return annotations_of(claim).get(POD_PHASE) == "Succeeded"


def unbound_volume_problem(options: Options, data_volume: Manifest) -> str:
    """Why a DataVolume will not become ready by itself."""
    phase = (data_volume.get("status") or {}).get("phase")
    if phase not in _UNBOUND or options.get("force_bind"):
        return ""
    return f"DataVolume {qualified_name(data_volume)} is in phase {phase}, until a pod uses it; set force_bind"


def event_problem(event: Manifest, uids: Mapping[str, str]) -> str:
    """The permanent error that an event reports, or "". uids: the uids of claim and DataVolume, by kind."""
    involved = event.get("involvedObject") or {}
    message = event.get("message") or ""
    if not involved.get("uid") or uids.get(involved.get("kind") or "") != involved["uid"]:
        return ""
    if involved["kind"] == "DataVolume":
        return f"claim not valid: {message}" if event.get("reason") == "ErrClaimNotValid" else ""
    failed = event.get("reason") == "ProvisioningFailed" and _OUTDATED not in message
    return f"provisioning failed: {message}" if failed else ""


def proxy_url(configuration: Manifest) -> str:
    """The URL of CDI's upload proxy from its CDIConfig; "" if there is none."""
    override = (configuration.get("spec") or {}).get("uploadProxyURLOverride")
    return str((configuration.get("status") or {}).get("uploadProxyURL") or "" if override is None else override)


def proxy_address(url: str) -> tuple[str, str]:
    """The URL of an upload proxy with its scheme, and what is wrong with it."""
    if not url:
        return "", "CDI has published no URL of its upload proxy; set upload_proxy.url"
    try:
        return url if scheme(url) else f"https://{url}", ""
    except UrlError:
        return "", f"upload_proxy.url {url} is no URL; write it as https://HOST:PORT"


def proxy_paths(url: str) -> tuple[str, str]:
    """The upload URLs: one responds when all data have arrived, the other when they are processed."""
    return _joined_url(url, _ASYNC), _joined_url(url, _SYNC)


def _joined_url(url: str, path: str) -> str:
    if path in url:
        return url
    parts = urlsplit(url)
    joined_path = posixpath.normpath(posixpath.join("/", parts.path.strip("/"), path.strip("/")))
    return urlunsplit(parts._replace(path=joined_path))
