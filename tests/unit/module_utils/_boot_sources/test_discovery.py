"""The boot sources of a cluster and their findings."""

from typing import Any

from plugins.module_utils._boot_sources import discovery
from plugins.module_utils._boot_sources.discovery import BootSource
from plugins.module_utils._boot_sources.origin import Image
from plugins.module_utils._resolver.api.keys import BOOT_SOURCE_IMAGE_ANNOTATION, BOOT_SOURCE_LABEL

Manifest = dict[str, Any]

DEFAULT = "instancetype.kubevirt.io/default-"
DEFAULTS = {
    f"{DEFAULT}instancetype": "u1.medium",
    f"{DEFAULT}instancetype-kind": "VirtualMachineClusterInstancetype",
    f"{DEFAULT}preference": "fedora",
    f"{DEFAULT}preference-kind": "VirtualMachineClusterPreference",
}
CRON = "cdi.kubevirt.io/dataImportCron"

READY = {"conditions": [{"type": "Ready", "status": "True"}]}
OLD, NEW = "sha256:" + "a" * 64, "sha256:" + "b" * 64


def manifest(
    name: str, labels: Manifest | None = None, spec: Manifest | None = None, status: Manifest | None = None, **more: Any
) -> Manifest:
    metadata = {"name": name, "namespace": "golden", "creationTimestamp": "2026-01-02T00:00:00Z", **more}
    return {"metadata": {**metadata, "labels": labels or {}}, "spec": spec or {}, "status": status or {}}


def data_source(name: str, kind: str, target: str, labels: Manifest | None = None, **more: Any) -> Manifest:
    spec = {"source": {kind: {"name": target, "namespace": more.pop("to", "golden")}}}
    return manifest(name, labels, spec, more.pop("status", READY), **more)


def surveyed(unread: tuple[str, ...] = (), **objects: list[Manifest]) -> dict[str, BootSource]:
    all_objects = {kind: objects.get(kind, []) for kind in discovery.SOURCE_KINDS}
    return {f"{source.key.kind} {source.key.name}": source for source in discovery.discover(all_objects, unread)}


def codes(source: BootSource) -> list[str]:
    return [finding.rule for finding in source.findings]


def test_labels_come_from_data_source_or_claim() -> None:
    claims = [
        manifest("full", DEFAULTS),
        manifest("other", {**DEFAULTS, f"{DEFAULT}preference": "rhel.9"}),
        manifest("bare"),
    ]
    own = {f"{DEFAULT}preference": "debian"}
    sources = surveyed(
        DataSource=[
            data_source("a", "pvc", "full"),
            data_source("b", "pvc", "other", own),
            data_source("c", "pvc", "bare"),
            data_source("d", "pvc", "bare", DEFAULTS),
        ],
        PersistentVolumeClaim=claims,
    )

    assert list(sources) == ["DataSource a", "DataSource b", "DataSource c", "DataSource d"], (
        "their claims are their parts"
    )
    a, b, c, d = sources.values()
    assert a.labels == d.labels == DEFAULTS and codes(a) == codes(d) == []
    # KubeVirt takes name and kind of one object.
    assert f"{DEFAULT}preference-kind" not in b.labels and codes(b) == ["incomplete_defaults"]
    assert f"lacks {DEFAULT}preference-kind;" in b.findings[0].text
    assert c.labels == {} and codes(c) == ["no_defaults"]
    assert a.target == ("PersistentVolumeClaim", "golden", "full") and a.ready


def test_data_source_reference_has_only_own_labels() -> None:
    """KubeVirt does not follow it; CDI copies the labels when the pointer is ready."""
    behind = data_source("behind", "snapshot", "shot", DEFAULTS)
    pointer = data_source("pointer", "dataSource", "behind", status={"conditions": []})
    sources = surveyed(
        DataSource=[pointer, behind], VolumeSnapshot=[manifest("shot", creationTimestamp="2025-01-01T00:00:00Z")]
    )

    assert codes(sources["DataSource pointer"]) == ["no_defaults", "not_ready"]
    assert sources["DataSource pointer"].created == "2025-01-01T00:00:00Z"
    assert codes(sources["DataSource behind"]) == []


def test_data_sources_without_a_target_have_a_finding() -> None:
    waiting = {"conditions": [{"type": "Ready", "status": "False", "reason": "NotFound", "message": "PVC not found"}]}
    gone = data_source("gone", "pvc", "x", DEFAULTS, status=waiting)
    empty = manifest("empty", DEFAULTS, {"source": {}}, READY)
    sources = surveyed(DataSource=[gone, empty])

    assert [finding.text for finding in sources["DataSource gone"].findings] == [
        "there is no PersistentVolumeClaim golden/x, to which the DataSource refers",
        "NotFound: PVC not found",
    ]
    assert codes(sources["DataSource empty"]) == ["missing_target"]
    assert codes(surveyed(("PersistentVolumeClaim",), DataSource=[gone])["DataSource gone"]) == ["not_ready"]


def test_targets_in_other_namespaces() -> None:
    sources = [data_source("a", "pvc", "x", to="images"), data_source("b", "pvc", "x")]
    objects = {**{kind: [] for kind in discovery.SOURCE_KINDS}, "DataSource": sources}

    assert discovery.external_targets(objects, "golden") == [("PersistentVolumeClaim", "images", "x")]
    assert discovery.external_targets(objects, None) == []


def test_cron_and_its_data_source() -> None:
    registry = {"url": "docker://quay.io/containerdisks/fedora:latest", "secretRef": "pull"}
    spec = {
        "managedDataSource": "fedora",
        "schedule": "@daily",
        "template": {"spec": {"source": {"registry": registry}}},
    }
    status = {
        "conditions": [{"type": "UpToDate", "status": "True"}],
        "currentImports": [{"DataVolumeName": "fedora-1", "digest": OLD}],
        "lastImportTimestamp": "2026-03-04T00:00:00Z",
    }
    cron = manifest("cron", {}, spec, status)
    volumes = [manifest("fedora-1", {**DEFAULTS, CRON: "cron"}), manifest("fedora-0", {**DEFAULTS, CRON: "cron"})]
    sources = surveyed(
        DataImportCron=[cron, manifest("idle", {}, {**spec, "managedDataSource": "own"})],
        DataSource=[
            data_source("fedora", "pvc", "fedora-1", {**DEFAULTS, CRON: "cron"}),
            data_source("own", "pvc", "p"),
        ],
        DataVolume=volumes,
        PersistentVolumeClaim=[manifest("fedora-1", DEFAULTS), manifest("fedora-0", DEFAULTS), manifest("p", DEFAULTS)],
    )

    assert list(sources) == ["DataImportCron cron", "DataSource fedora", "DataImportCron idle", "DataSource own"]
    image = Image("quay.io/containerdisks/fedora:latest", "golden", "pull")
    for name in ("DataImportCron cron", "DataSource fedora"):
        assert sources[name].origin == (image, OLD) and sources[name].schedule == "@daily"
        assert codes(sources[name]) == []
    assert sources["DataImportCron cron"].created == "2026-03-04T00:00:00Z"
    assert sources["DataSource fedora"].volumes == ["fedora-0", "fedora-1"]
    assert codes(sources["DataImportCron idle"]) == ["not_managed", "not_ready"]
    assert sources["DataImportCron idle"].origin == (image, "")


def test_imported_image_has_digest_and_name() -> None:
    """Its volume knows the digest, its DataSource the name."""
    declared = {BOOT_SOURCE_IMAGE_ANNOTATION: "quay.io/containerdisks/fedora:latest"}
    registry = {"url": f"docker://quay.io/containerdisks/fedora@{NEW}", "platform": {"architecture": "arm64"}}
    volume = manifest("fedora-b", {**DEFAULTS, BOOT_SOURCE_LABEL: "fedora"}, {"source": {"registry": registry}})
    fedora = data_source("fedora", "pvc", "fedora-b", DEFAULTS, annotations=declared)
    claim = manifest("fedora-b", DEFAULTS)
    imported = surveyed(DataSource=[fedora], DataVolume=[volume], PersistentVolumeClaim=[claim])["DataSource fedora"]

    image = Image("quay.io/containerdisks/fedora:latest", "golden", architecture="arm64")
    assert imported.origin == (image, NEW) and imported.volumes == ["fedora-b"]

    tagged = manifest(
        "t", DEFAULTS, {"source": {"registry": {"url": "docker://quay.io/a/b:1"}}}, {"phase": "Succeeded"}
    )
    # Nobody knows which digest a tag had then.
    assert surveyed(DataVolume=[tagged])["DataVolume t"].origin == (Image("quay.io/a/b:1", "golden"), "")
    imported = {"cdi.kubevirt.io/storage.import.endpoint": f"docker://quay.io/a/b@{OLD}"}
    claim_source = surveyed(PersistentVolumeClaim=[manifest("c", DEFAULTS, annotations=imported)])[
        "PersistentVolumeClaim c"
    ]
    assert claim_source.origin.digest == OLD


def test_labelled_disks_are_boot_sources_themselves() -> None:
    def owned(name: str, kind: str) -> Manifest:
        return manifest(name, DEFAULTS, ownerReferences=[{"kind": kind, "name": "x"}])

    sources = surveyed(
        PersistentVolumeClaim=[
            manifest("labelled", {f"{DEFAULT}preference": "fedora"}, status={"phase": "Bound"}),
            manifest("plain"),
            owned("of-a-volume", "DataVolume"),
            owned("prime", "PersistentVolumeClaim"),
            manifest("volume", DEFAULTS),
        ],
        DataVolume=[
            owned("of-a-vm", "VirtualMachine"),
            manifest("volume", DEFAULTS, status={"phase": "ImportInProgress", "progress": "3%"}),
        ],
        VolumeSnapshot=[manifest("shot", DEFAULTS, status={"readyToUse": True})],
    )

    assert list(sources) == ["PersistentVolumeClaim labelled", "VolumeSnapshot shot", "DataVolume volume"]
    assert codes(sources["PersistentVolumeClaim labelled"]) == ["incomplete_defaults"]
    assert codes(sources["VolumeSnapshot shot"]) == []
    assert sources["DataVolume volume"].findings[0].text == "CDI to fill the volume (ImportInProgress 3%)"
