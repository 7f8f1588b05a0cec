"""The objects for an upload of an image, as ``virtctl image-upload`` creates them, and valid targets.

The checks return an error, or "". They reject what virtctl rejects, in terms of the options.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from ..api.errors import QuantityError
from ..api.manifest import Manifest, annotations_of
from ..api.quantity import parse
from ..cdi.texts import UrlError, scheme

_CDI: Final = "cdi.kubevirt.io"
TARGET: Final = f"{_CDI}/storage.upload.target"
POD_READY: Final = f"{_CDI}/storage.pod.ready"
POD_PHASE: Final = f"{_CDI}/storage.pod.phase"
DIGEST: Final = "boot-source.virtshape.dev/digest"
"""The annotation of a volume with the SHA-256 of the file that was uploaded."""
_CONTENT_TYPE: Final = f"{_CDI}/storage.contentType"
_BIND: Final = f"{_CDI}/storage.bind.immediate.requested"
_USES_POPULATOR: Final = f"{_CDI}/storage.usePopulator"
_PRIME: Final = f"{_CDI}/storage.populator.pvcPrime"
_DELETED_WHEN_DONE: Final = f"{_CDI}/storage.deleteAfterCompletion"
_APPLY_PROFILE: Final = f"{_CDI}/applyStorageProfile"
_READ_ONLY: Final = "ReadOnlyMany"
_UNBOUND: Final = ("WaitForFirstConsumer", "PendingPopulation")
_ASYNC: Final = "/v1beta1/upload-async"
_SYNC: Final = "/v1beta1/upload"
# An event with this text is about a conflict, after which CDI retries.
_OUTDATED: Final = "the object has been modified; please apply your changes to the latest version and try again"
_TRUE: Final = ("1", "t", "T", "true", "TRUE", "True")


class UploadTarget(NamedTuple):
    """The target of an upload.

    claim: a PersistentVolumeClaim without a DataVolume. size: a quantity; "" if the volume must exist. access_mode,
    volume_mode (Block or Filesystem), storage_class: "" for the cluster's default.
    archive: the file is an archive, not a disk. force_bind: do not wait for a first consumer.
    create: create the volume; an existing one must be prepared for an upload.
    data_source: create a DataSource of the same name. labels: of the volume and the DataSource.
    owner: labels only of a volume that is created. digest: of the file, for an annotation of the volume; "" for none.
    """

    namespace: str
    name: str
    claim: bool = False
    size: str = ""
    storage_class: str = ""
    access_mode: str = ""
    volume_mode: str = ""
    archive: bool = False
    force_bind: bool = False
    create: bool = True
    data_source: bool = False
    labels: Mapping[str, str] = {}
    owner: Mapping[str, str] = {}
    digest: str = ""

    @property
    def label(self) -> str:
        """Namespace and name, for messages."""
        return f"{self.namespace}/{self.name}"

    @property
    def content_type(self) -> str:
        """CDI's name for the type of the file."""
        return "archive" if self.archive else "kubevirt"


def upload_target(options: Mapping[str, Any], name: str, labels: Mapping[str, str]) -> UploadTarget:
    """The target of an upload from the options of the module boot_source. name: of the volume."""
    file = options["upload"]
    return UploadTarget(
        namespace=options["namespace"],
        name=name,
        claim=file["claim"],
        size=options.get("size") or "",
        storage_class=options.get("storage_class") or "",
        access_mode=options.get("access_mode") or "",
        volume_mode=options.get("volume_mode") or "",
        archive=file["archive"],
        force_bind=bool(options.get("force_bind")),
        create=file["create"],
        data_source=file["data_source"],
        labels=labels,
    )


def request_problem(target: UploadTarget) -> str:
    """The error in the combination of options."""
    if target.archive and target.volume_mode == "Block":
        return "an archive needs volume_mode Filesystem"
    return ""


def new_problem(target: UploadTarget) -> str:
    """Why the volume cannot be created, as far as known without the cluster."""
    if not target.create:
        return f"there is no PersistentVolumeClaim {target.label}, and upload.create is false"
    if not target.size:
        return f"there is no PersistentVolumeClaim {target.label}; set size to create it"
    if target.access_mode == _READ_ONLY:
        return f"access_mode {_READ_ONLY}: nothing can be uploaded to a read-only volume; use ReadWriteOnce"
    try:
        parse(target.size)
    except QuantityError as error:
        return f"size {target.size}: {error}"
    return ""


def volume(target: UploadTarget) -> Manifest:
    """The DataVolume or PersistentVolumeClaim that CDI prepares for the upload."""
    annotations = {**({_BIND: ""} if target.force_bind else {}), **_digest_annotation(target)}
    labels = {**target.labels, **target.owner}
    if target.claim:
        annotations = {TARGET: "", _CONTENT_TYPE: target.content_type, **annotations}
        # CDI's webhook completes claims with this label from the StorageProfile.
        labels = {_APPLY_PROFILE: "true", **labels}
    metadata: Manifest = {"name": target.name, "namespace": target.namespace}
    if annotations:
        metadata["annotations"] = annotations
    if labels:
        metadata["labels"] = labels
    if target.claim:
        spec = {"accessModes": [target.access_mode or "ReadWriteOnce"], **_storage(target)}
        return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
    storage = {"accessModes": [target.access_mode], **_storage(target)} if target.access_mode else _storage(target)
    spec = {"contentType": target.content_type, "source": {"upload": {}}, "storage": storage}
    return {"apiVersion": f"{_CDI}/v1beta1", "kind": "DataVolume", "metadata": metadata, "spec": spec}


def _storage(target: UploadTarget) -> Manifest:
    storage: Manifest = {"resources": {"requests": {"storage": parse(target.size).text}}}
    if target.storage_class:
        storage["storageClassName"] = target.storage_class
    if target.volume_mode:
        storage["volumeMode"] = target.volume_mode
    return storage


def missing_volume(target: UploadTarget, claim: Manifest) -> str:
    """Why a claim without a DataVolume is not a target if a DataVolume was expected."""
    annotations = annotations_of(claim)
    if annotations.get(_DELETED_WHEN_DONE) == "true" and annotations.get(POD_PHASE) == "Succeeded":
        return f"PersistentVolumeClaim {target.label} is filled already, and its DataVolume has been deleted since"
    return f"PersistentVolumeClaim {target.label} belongs to no DataVolume; set upload.claim"


def uses_populator(data_volume: Manifest) -> bool:
    """Whether CDI first fills another claim, the prime."""
    return annotations_of(data_volume).get(_USES_POPULATOR) == "true"


def prime_of(target: UploadTarget, claim: Manifest) -> tuple[str, str]:
    """The name of a claim's prime, and why there is none for the upload."""
    if (claim.get("status") or {}).get("phase") == "Bound":
        return "", f"PersistentVolumeClaim {target.label} is bound, so CDI has filled it already"
    name = annotations_of(claim).get(_PRIME) or ""
    return name, "" if name else f"CDI has made no claim for the upload to {target.label} yet; try again later"


def existing_problem(target: UploadTarget, claim: Manifest) -> str:
    """Why an existing claim, or its prime, is not a target."""
    annotations = annotations_of(claim)
    if annotations.get(POD_PHASE) == "Succeeded":
        return f"PersistentVolumeClaim {target.label} is filled already; upload to another volume"
    if target.create and TARGET not in annotations:
        return (
            f"PersistentVolumeClaim {target.label} is not prepared for an upload; with upload.create: false it will be"
        )
    if target.archive and annotations.get(_CONTENT_TYPE) != "archive":
        return f"PersistentVolumeClaim {target.label} takes no archive"
    return ""


def prepared(claim: Manifest) -> Manifest | None:
    """The claim prepared for CDI's upload controller; None if it already is."""
    if TARGET in annotations_of(claim):
        return None
    annotations = {**annotations_of(claim), TARGET: ""}
    return {**claim, "metadata": {**claim["metadata"], "annotations": annotations}}


def patch(target: UploadTarget, live: Manifest) -> Manifest | None:
    """The merge patch that adds labels and digest to an existing object; None if it has them."""
    missing = {
        "labels": _missing(target.labels, live["metadata"].get("labels") or {}),
        "annotations": _missing(_digest_annotation(target), annotations_of(live)),
    }
    metadata = {part: values for part, values in missing.items() if values}
    return {"metadata": metadata} if metadata else None


def _missing(desired: Mapping[str, str], live: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in desired.items() if live.get(name) != value}


def _digest_annotation(target: UploadTarget) -> dict[str, str]:
    return {DIGEST: target.digest} if target.digest else {}


def holds(live: Manifest, digest: str) -> bool:
    """Whether CDI has filled a DataVolume or a claim with the file of this digest."""
    done = (live.get("status") or {}).get("phase") == "Succeeded" or claim_is_done(live)
    return done and annotations_of(live).get(DIGEST) == digest


def claim_is_ready(claim: Manifest) -> bool:
    """Whether CDI's upload server accepts data for a claim."""
    return annotations_of(claim).get(POD_READY) in _TRUE


def claim_is_done(claim: Manifest) -> bool:
    """Whether CDI has processed the uploaded data."""
    return annotations_of(claim).get(POD_PHASE) == "Succeeded"


def unbound_problem(target: UploadTarget, data_volume: Manifest) -> str:
    """Why a DataVolume will not become ready by itself."""
    phase = (data_volume.get("status") or {}).get("phase")
    if phase not in _UNBOUND or target.force_bind:
        return ""
    return f"DataVolume {target.label} is in phase {phase}, until a pod uses it; set force_bind"


def event_problem(event: Manifest, uids: Mapping[str, str]) -> str:
    """The permanent error that an event reports, or "". uids: of claim and DataVolume, by kind."""
    involved = event.get("involvedObject") or {}
    message = event.get("message") or ""
    if not involved.get("uid") or uids.get(involved.get("kind") or "") != involved["uid"]:
        return ""
    if involved["kind"] == "DataVolume":
        return f"claim not valid: {message}" if event.get("reason") == "ErrClaimNotValid" else ""
    failed = event.get("reason") == "ProvisioningFailed" and _OUTDATED not in message
    return f"provisioning failed: {message}" if failed else ""


def data_source(target: UploadTarget) -> Manifest:
    """The DataSource of the volume."""
    metadata: Manifest = {"name": target.name, "namespace": target.namespace}
    if target.labels:
        metadata["labels"] = dict(target.labels)
    spec = {"source": {"pvc": {"name": target.name, "namespace": target.namespace}}}
    return {"apiVersion": f"{_CDI}/v1beta1", "kind": "DataSource", "metadata": metadata, "spec": spec}


def data_source_patch(target: UploadTarget, live: Manifest) -> list[Manifest]:
    """The JSON patch that points an existing DataSource to the volume."""
    labels = {**(live["metadata"].get("labels") or {}), **target.labels}
    return [
        {"op": "replace", "path": "/metadata/labels", "value": labels},
        {"op": "replace", "path": "/spec/source", "value": data_source(target)["spec"]["source"]},
    ]


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
