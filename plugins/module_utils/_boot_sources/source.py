"""The objects of a boot source: a volume with an image, and the DataSource that VMs name; or a cron that makes both.

A volume is named after the boot source and what is in it, so that another image is another volume. The labels with the
defaults stand on all objects alike, and always all of them: CDI copies none where one of the four exists.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from .._resolver.api import name_rules as names
from .._resolver.api.errors import FieldError, QuantityError
from .._resolver.api.keys import BOOT_SOURCE_DIGEST_ANNOTATION, BOOT_SOURCE_IMAGE_ANNOTATION, BOOT_SOURCE_LABEL
from .._resolver.api.manifest import (
    Manifest,
    Options,
    Progress,
    condition_of,
    namespace_of,
    qualified_name,
)
from .._resolver.api.matcher import LABEL_PREFIX, MATCHER_FIELDS, ObjectKey
from .._resolver.api.name_rules import label_value, subdomain
from .._resolver.api.quantity import parse
from .cdi_parsers import parse_checksum
from .image import ImageError, reference
from .image import labels as labels_of

_CDI: Final = "cdi.kubevirt.io/v1beta1"
CRON: Final = "cdi.kubevirt.io/dataImportCron"
"""The label by which CDI knows what a DataImportCron makes."""
ORIGINS: Final = ("image", "image_stream", "url", "pvc", "snapshot", "upload")
LABELED_KINDS: Final = ("DataSource", "PersistentVolumeClaim", "VolumeSnapshot")
"""The kinds of existing objects that can be labelled."""
# The fields of a DataSource's source, in CDI's order.
_TARGETS: Final = {"dataSource": "DataSource", "pvc": "PersistentVolumeClaim", "snapshot": "VolumeSnapshot"}
_BIND: Final = "cdi.kubevirt.io/storage.bind.immediate.requested"
_DIGITS: Final = 12
# CDI adds a hyphen and 8 characters to the name, and a CronJob's name has at most 52.
_LONGEST_CRON: Final = 52 - 9
_STOPPED: Final = ("ImagePullFailed", "Error")


def represented_object(options: Options) -> Manifest:
    """The object that stands for a boot source: its DataSource, or the existing object that gets labels.

    Raises FieldError for invalid options.
    """
    labeled = options["state"] == "labeled"
    if options["state"] != "absent":
        (_check_labels if labeled else _check_origin)(options)
        if problem := subdomain(options["name"]):
            raise FieldError("name", f"{options['name']!r} {problem}")
        if not labeled:
            _check_options(options)
    kind = options["kind"] if labeled else "DataSource"
    return {"kind": kind, "metadata": {"name": options["name"], "namespace": options["namespace"]}}


def _check_labels(options: Options) -> None:
    if not any(options.get(matcher_field.name) for matcher_field in MATCHER_FIELDS):
        raise FieldError("state", "labeled needs instancetype, preference or both")
    for option in (*ORIGINS, "schedule"):
        if options.get(option) is not None:
            raise FieldError(option, "not valid with state labeled, which makes nothing")


def _check_origin(options: Options) -> None:
    if sum(bool(options.get(origin)) for origin in ORIGINS) != 1:
        raise FieldError(" or ".join(ORIGINS), "exactly one of them is required")


def _check_options(options: Options) -> None:
    polls = options.get("schedule") is not None
    if polls and not (options.get("image") or options.get("image_stream")):
        raise FieldError("schedule", "only an image of a registry can be polled")
    if options.get("image_stream") and options.get("pull_method") == "pod":
        raise FieldError("pull_method", "only nodes pull the image of an ImageStream")
    for text in options.get("consumers") or ():
        parse_consumer(text)
    over = len(options["name"]) - _LONGEST_CRON
    if polls and over > 0:
        most = f"with schedule it has at most {_LONGEST_CRON} characters, for CDI's CronJob"
        raise FieldError("name", f"{most}; drop {over} character{'s' if over > 1 else ''}")
    if options["keep"] < 1:
        raise FieldError("keep", "1 is the least: the volume that is in use")
    upload = options.get("upload") or {}
    _check_upload(upload, options.get("volume_mode"))
    if not (options.get("pvc") or options.get("snapshot") or upload.get("create") is False):
        _check_size(options.get("size"))
    if options.get("image"):
        try:
            reference(options["image"])
        except ImageError as error:
            raise FieldError("image", str(error)) from error
    if options.get("checksum"):
        parse_checksum(options["checksum"])


def _check_upload(upload: Options, volume_mode: str | None) -> None:
    if upload.get("create") is False and not upload.get("volume"):
        raise FieldError("upload.volume", "required with create: false, which uploads to an existing volume")
    if upload.get("archive") and volume_mode == "Block":
        raise FieldError("upload.archive", "an archive needs volume_mode Filesystem")
    if upload.get("volume") and subdomain(upload["volume"]):
        raise FieldError("upload.volume", f"{upload['volume']!r} {subdomain(upload['volume'])}")


def _check_size(size: str | None) -> None:
    if not size:
        raise FieldError("size", "required: CDI does not ask an image for its size")
    try:
        parse(size)
    except QuantityError as error:
        raise FieldError("size", f"{size!r}: {error}") from error


def defaults(options: Options, environment: Iterable[str]) -> dict[str, str]:
    """The labels with the declared instancetype and preference, or with the defaults of the image.

    environment: the variables of the image. Raises FieldError.
    """
    image_labels = labels_of(environment)
    result = {}
    for matcher_field in MATCHER_FIELDS:
        matcher = options.get(matcher_field.name) or {}
        if not matcher.get("name"):
            given = (image_labels.get(label) for label in (matcher_field.volume_label, matcher_field.volume_kind_label))
            matcher = dict(zip(("name", "kind"), given))
        if matcher["name"]:
            result[matcher_field.volume_label] = matcher["name"]
            result[matcher_field.volume_kind_label] = matcher.get("kind") or matcher_field.cluster_kind
    for label, value in result.items():
        if problem := label_value(value):
            raise FieldError(label.removeprefix(LABEL_PREFIX), f"{value!r} {problem}")
    return result


def matchers(labels: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Kind and name by field, from labels. Without the label for the kind, the name means the cluster-wide kind."""
    result = {}
    for matcher_field in MATCHER_FIELDS:
        kind = labels.get(matcher_field.volume_kind_label, "")
        if name := labels.get(matcher_field.volume_label):
            result[matcher_field.name] = (matcher_field.kind_of({"kind": kind}) or kind, name)
    return result


def volume_name(options: Options, digest: str) -> str:
    """The name of the volume, which ends with digits of its content. digest: of an image or a file, "" if unknown."""
    if name := (options.get("upload") or {}).get("volume"):
        return str(name)
    parts = ("image_stream",) if options.get("image_stream") else ("url", "checksum")
    text = "\n".join(str(options.get(part) or "") for part in parts)
    digits = digest.rpartition(":")[2] or hashlib.sha256(text.encode()).hexdigest()
    return f"{options['name']}-{digits[:_DIGITS]}"


def volume(options: Options, digest: str, labels: Mapping[str, str]) -> Manifest:
    """The DataVolume that imports an image or a URL, once, or that takes a file."""
    spec: Manifest = {"source": _source(options, digest), "storage": _storage(options)}
    annotations = {_BIND: ""} if options.get("force_bind") else {}
    if options.get("upload"):
        spec["contentType"] = "archive" if options["upload"]["archive"] else "kubevirt"
        annotations.update({BOOT_SOURCE_DIGEST_ANNOTATION: digest} if digest else {})
    name, owned = volume_name(options, digest), {**labels, BOOT_SOURCE_LABEL: options["name"]}
    return _object("DataVolume", options, name, spec, labels=owned, annotations=annotations)


def _source(options: Options, digest: str) -> Manifest:
    if options.get("upload"):
        return {"upload": {}}
    if options.get("image_stream"):
        return {"registry": _registry(options)}
    if options.get("image"):
        return {"registry": _registry(options, reference(options["image"])._replace(digest=digest).name)}
    http = {"url": options["url"], "checksum": options.get("checksum")}
    access = {"secretRef": options.get("secret_ref"), "certConfigMap": options.get("cert_config_map")}
    return {"http": _without_empty({**http, **access})}


def cron(options: Options, labels: Mapping[str, str]) -> Manifest:
    """The DataImportCron that polls a registry. Its policy keeps its volumes, so that a task can replace it."""
    name = reference(options["image"]).name if options.get("image") else ""
    spec = {
        "managedDataSource": options["name"],
        "schedule": options["schedule"],
        "importsToKeep": options["keep"],
        "garbageCollect": "Outdated",
        "retentionPolicy": "All",
        "template": {"spec": {"source": {"registry": _registry(options, name)}, "storage": _storage(options)}},
    }
    return _object("DataImportCron", options, options["name"], spec, labels=labels)


def content_key(options: Options, claim: str) -> ObjectKey:
    """The claim or snapshot with the content: the one that the options name, or a claim of the namespace."""
    kind = "VolumeSnapshot" if options.get("snapshot") else "PersistentVolumeClaim"
    target = options.get("snapshot") or options.get("pvc") or {"name": claim}
    return ObjectKey(kind, target.get("namespace") or options["namespace"], target["name"])


def data_source(options: Options, claim: str, labels: Mapping[str, str]) -> Manifest:
    """The DataSource with its content as target. claim: see `content_key`."""
    _kind, namespace, name = content_key(options, claim)
    source = {"snapshot" if options.get("snapshot") else "pvc": {"name": name, "namespace": namespace}}
    annotations = (
        {BOOT_SOURCE_IMAGE_ANNOTATION: options["image"].removeprefix("docker://")} if options.get("image") else {}
    )
    spec = {"source": source}
    return _object("DataSource", options, options["name"], spec, labels=labels, annotations=annotations)


def _registry(options: Options, name: str = "") -> Manifest:
    """The registry source. name: of the image; "" for the image of the ImageStream, which only nodes can pull."""
    architecture = options.get("architecture")
    return _without_empty(
        {
            "url": f"docker://{name}" if name else None,
            "imageStream": options.get("image_stream"),
            "pullMethod": options.get("pull_method") or (None if name else "node"),
            "secretRef": options.get("secret_ref"),
            "certConfigMap": options.get("cert_config_map"),
            "platform": {"architecture": architecture} if architecture else None,
        }
    )


def _storage(options: Options) -> Manifest:
    return _without_empty(
        {
            "resources": {"requests": {"storage": parse(options["size"]).text}},
            "storageClassName": options.get("storage_class"),
            "accessModes": options.get("access_modes"),
            "volumeMode": options.get("volume_mode"),
        }
    )


def _object(kind: str, options: Options, name: str, spec: Manifest, **more: Mapping[str, str]) -> Manifest:
    """The manifest of an object of CDI. more: labels and annotations."""
    metadata = {"name": name, "namespace": options["namespace"], **_without_empty(more)}
    return {"apiVersion": _CDI, "kind": kind, "metadata": metadata, "spec": spec}


def _without_empty(fields: Manifest) -> Manifest:
    return {name: value for name, value in fields.items() if value}


def import_status(live: Manifest) -> Progress:
    """The progress of a DataVolume's import. CDI retries for ever and reports failures as progress."""
    status = live.get("status") or {}
    phase = status.get("phase") or ""
    if phase == "Succeeded":
        return Progress(done=True)
    if reason := import_failure(live):
        return Progress(failed=f"CDI cannot fill the volume: {reason}")
    if phase in ("WaitForFirstConsumer", "PendingPopulation"):
        return Progress(failed="the storage class binds a volume when a pod uses it; set force_bind")
    progress = f" {status['progress']}" if status.get("progress") not in (None, "", "N/A") else ""
    return Progress(pending=f"CDI to fill the volume ({phase or 'no phase yet'}{progress})")


def import_failure(live: Manifest) -> str:
    """Why CDI has stopped to fill a DataVolume; "" if it has not."""
    phase, running = (live.get("status") or {}).get("phase"), condition_of(live, "Running")
    stopped = running.get("status") == "False" and running.get("reason") in _STOPPED
    return str(running.get("message") or running.get("reason") or phase) if stopped or phase == "Failed" else ""


def target_of(live: Manifest) -> ObjectKey | None:
    """The object that a DataSource names; of several, CDI uses the first."""
    source = (live.get("spec") or {}).get("source") or {}
    for field, kind in _TARGETS.items():
        if target := source.get(field):
            return ObjectKey(kind, str(target.get("namespace") or namespace_of(live)), str(target.get("name") or ""))
    return None


def outdated(volumes: Iterable[Manifest], current: str, keep: int) -> list[Manifest]:
    """The volumes of a boot source to delete, oldest first. keep: how many stay, including the current one."""
    old = [volume for volume in volumes if volume["metadata"]["name"] != current]
    old.sort(key=lambda volume: (volume["metadata"].get("creationTimestamp") or "", volume["metadata"]["name"]))
    return old[: max(0, len(old) - (keep - 1))]


def clones_by_claim(volumes: Iterable[Manifest]) -> dict[tuple[str, str], str]:
    """Namespace and name of a claim → the unfinished clone that still reads it."""
    sources = ((volume, ((volume.get("spec") or {}).get("source") or {}).get("pvc") or {}) for volume in volumes)
    return {
        (str(claim.get("namespace")), str(claim.get("name"))): qualified_name(volume)
        for volume, claim in sources
        if claim and not import_status(volume).done
    }


# CDI checks pvcs, which do not exist, so only users who may create everything have the right.
_CLONE: Final = {"group": "cdi.kubevirt.io", "resource": "datavolumes", "subresource": "source"}
_VOLUME_CLONE: Final = ([_CLONE], [{"resource": "pods"}])
_SNAPSHOT_CLONE: Final = ([_CLONE], [{"resource": "pods"}, {"resource": "pvcs"}])


class CloneRight(NamedTuple):
    """The right of VMs to boot from another namespace: virt-controller checks that their service account may clone the
    source (``AuthorizeSA``), but only when it creates the DataVolume of a VM.

    consumer: namespace and name of the service account. namespace, name: the source; "" for the name means all sources.
    snapshot: whether the source is a VolumeSnapshot.
    """

    consumer: tuple[str, str]
    namespace: str
    name: str
    snapshot: bool

    @property
    def for_all_sources(self) -> CloneRight:
        """The right to all sources of the namespace."""
        return self._replace(name="")

    @property
    def service_account_user(self) -> str:
        return f"system:serviceaccount:{':'.join(self.consumer)}"

    def access_reviews(self) -> list[list[dict[str, Any]]]:
        """The specs of SubjectAccessReviews: a clone is permitted if all reviews of one of the lists are."""
        namespace = self.consumer[0]
        groups = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"]
        attributes = {"verb": "create", "namespace": self.namespace, "name": self.name}
        return [
            [
                {"user": self.service_account_user, "groups": groups, "resourceAttributes": {**attributes, **resource}}
                for resource in resources
            ]
            for resources in (_SNAPSHOT_CLONE if self.snapshot else _VOLUME_CLONE)
        ]

    def missing_right_text(self, source: str) -> str:
        """The line about the missing right, and what gives it. source: what VMs cannot boot from."""
        return (
            f"VMs in {self.consumer[0]} cannot boot from {source}: {self.service_account_user} may not create"
            f" datavolumes/source of cdi.kubevirt.io in {self.namespace}; bind a role with this right there"
        )


def parse_consumer(text: str) -> tuple[str, str]:
    """Namespace and service account of NAMESPACE or NAMESPACE/ACCOUNT. Raises FieldError."""
    namespace, slash, account = text.partition("/")
    wrong = names.label(namespace) or (subdomain(account) if slash else "")
    if wrong:
        raise FieldError("consumers", f"{text!r} is neither NAMESPACE nor NAMESPACE/SERVICE_ACCOUNT: {wrong}")
    return namespace, account or "default"


def rendered(options: Options) -> list[Manifest]:
    """The objects that a declaration with `query_registry: false` would create.

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
