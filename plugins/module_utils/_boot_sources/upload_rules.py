"""Uploads of files: valid targets, and what CDI says of them. Checks reject what ``virtctl image-upload`` rejects."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from .._resolver.api.keys import BOOT_SOURCE_DIGEST_ANNOTATION
from .._resolver.api.manifest import Manifest, Options, annotations_of, labels_of, qualified_name
from .cdi_parsers import UrlError, scheme

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
# An event with this text is about a conflict, after which CDI retries.
_OUTDATED: Final = "the object has been modified; please apply your changes to the latest version and try again"
_TRUE: Final = ("1", "t", "T", "true", "TRUE", "True")


class UploadFailed(Exception):
    """The upload or its processing failed; the text is one line."""


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


def prime_of(claim: Manifest, data_volume: Manifest | None) -> str:
    """The name of the claim that CDI fills first, instead of the claim of a DataVolume; "" if it fills that itself.

    Raises UploadFailed for a claim that takes no upload.
    """
    label, annotations = f"PersistentVolumeClaim {qualified_name(claim)}", annotations_of(claim)
    if data_volume is None:
        if annotations.get(_DELETED_WHEN_DONE) == "true" and claim_is_done(claim):
            raise UploadFailed(f"{label} is filled already, and its DataVolume has been deleted since")
        raise UploadFailed(f"{label} belongs to no DataVolume; set upload.claim")
    if annotations_of(data_volume).get(_USES_POPULATOR) != "true":
        return ""
    if (claim.get("status") or {}).get("phase") == "Bound":
        raise UploadFailed(f"{label} is bound, so CDI has filled it already")
    if not annotations.get(_PRIME):
        raise UploadFailed(f"CDI has made no claim for the upload to {qualified_name(claim)} yet; try again later")
    return annotations[_PRIME]


def check_existing(options: Options, label: str, claim: Manifest) -> None:
    """Raises UploadFailed if an existing claim, or its prime, takes no upload. label: NAMESPACE/NAME of the volume."""
    annotations, file = annotations_of(claim), options["upload"]
    if claim_is_done(claim):
        problem = "is filled already; upload to another volume"
    elif file["create"] and TARGET not in annotations:
        problem = "is not prepared for an upload; with upload.create: false it will be"
    elif file["archive"] and annotations.get(_CONTENT_TYPE) != "archive":
        problem = "takes no archive"
    else:
        return
    raise UploadFailed(f"PersistentVolumeClaim {label} {problem}")


def prepared(claim: Manifest) -> Manifest | None:
    """The claim prepared for CDI's upload controller; None if it already is."""
    if TARGET in annotations_of(claim):
        return None
    annotations = {**annotations_of(claim), TARGET: ""}
    return {**claim, "metadata": {**claim["metadata"], "annotations": annotations}}


def patch(labels: Mapping[str, str], digest: str, live: Manifest) -> Manifest | None:
    """The merge patch that adds labels and digest to an existing object; None if it has them."""
    annotations = {BOOT_SOURCE_DIGEST_ANNOTATION: digest} if digest else {}
    metadata = {
        part: missing
        for part, desired, existing in (
            ("labels", labels, labels_of(live)),
            ("annotations", annotations, annotations_of(live)),
        )
        if (missing := {name: value for name, value in desired.items() if existing.get(name) != value})
    }
    return {"metadata": metadata} if metadata else None


def is_filled_with(live: Manifest, digest: str) -> bool:
    """Whether CDI has filled a DataVolume or a claim with the file of this digest."""
    done = (live.get("status") or {}).get("phase") == "Succeeded" or claim_is_done(live)
    return done and annotations_of(live).get(BOOT_SOURCE_DIGEST_ANNOTATION) == digest


def claim_is_ready(claim: Manifest) -> bool:
    """Whether CDI's upload server accepts data for a claim."""
    return annotations_of(claim).get(_POD_READY) in _TRUE


def claim_is_done(claim: Manifest) -> bool:
    """Whether CDI has processed the uploaded data."""
    return annotations_of(claim).get(POD_PHASE) == "Succeeded"


def check_binding(options: Options, data_volume: Manifest) -> None:
    """Raises UploadFailed if a DataVolume will not become ready by itself."""
    phase = (data_volume.get("status") or {}).get("phase")
    if phase in _UNBOUND and not options.get("force_bind"):
        label = qualified_name(data_volume)
        raise UploadFailed(f"DataVolume {label} is in phase {phase}, until a pod uses it; set force_bind")


def check_event(event: Manifest, uids: Mapping[str, str]) -> None:
    """Raises UploadFailed for a permanent error. uids: the uids of claim and DataVolume, by kind."""
    involved, message = event.get("involvedObject") or {}, event.get("message") or ""
    if not involved.get("uid") or uids.get(involved.get("kind") or "") != involved["uid"]:
        return
    if involved["kind"] == "DataVolume" and event.get("reason") == "ErrClaimNotValid":
        raise UploadFailed(f"claim not valid: {message}")
    if involved["kind"] != "DataVolume" and event.get("reason") == "ProvisioningFailed" and _OUTDATED not in message:
        raise UploadFailed(f"provisioning failed: {message}")


def published_url(configuration: Manifest) -> str:
    """The URL of CDI's upload proxy from its CDIConfig; "" if there is none."""
    override = (configuration.get("spec") or {}).get("uploadProxyURLOverride")
    return str((configuration.get("status") or {}).get("uploadProxyURL") or "" if override is None else override)


def proxy_address(url: str) -> str:
    """The URL of an upload proxy with its scheme. Raises UploadFailed if it is none."""
    if not url:
        raise UploadFailed("CDI has published no URL of its upload proxy; set upload_proxy.url")
    try:
        return url if scheme(url) else f"https://{url}"
    except UrlError:
        raise UploadFailed(f"upload_proxy.url {url} is no URL; write it as https://HOST:PORT") from None


def proxy_paths(url: str) -> tuple[str, str]:
    """The upload URLs: one responds when all data have arrived, the other when they are processed."""
    return _joined_url(url, "/v1beta1/upload-async"), _joined_url(url, "/v1beta1/upload")


def _joined_url(url: str, path: str) -> str:
    if path in url:
        return url
    parts = urlsplit(url)
    joined_path = posixpath.normpath(posixpath.join("/", parts.path.strip("/"), path.strip("/")))
    return urlunsplit(parts._replace(path=joined_path))
