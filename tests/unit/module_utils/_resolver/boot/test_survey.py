"""What is told of a cluster's boot sources."""

from __future__ import annotations

from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.boot import survey
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.boot.origin import Image
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.boot.survey import BootSource

Manifest = dict[str, Any]

DEFAULT = "instancetype.kubevirt.io/default-"
DEFAULTS = {
    f"{DEFAULT}instancetype": "u1.medium",
    f"{DEFAULT}instancetype-kind": "VirtualMachineClusterInstancetype",
    f"{DEFAULT}preference": "fedora",
    f"{DEFAULT}preference-kind": "VirtualMachineClusterPreference",
}
CRON = "cdi.kubevirt.io/dataImportCron"
OWNER = "boot-source.virtshape.dev/name"
READY = {"conditions": [{"type": "Ready", "status": "True"}]}
OLD, NEW = "sha256:" + "a" * 64, "sha256:" + "b" * 64


def thing(
    name: str, labels: Manifest | None = None, spec: Manifest | None = None, status: Manifest | None = None, **more: Any
) -> Manifest:
    metadata = {"name": name, "namespace": "golden", "creationTimestamp": "2026-01-02T00:00:00Z", **more}
    return {"metadata": {**metadata, "labels": labels or {}}, "spec": spec or {}, "status": status or {}}


def leading(name: str, kind: str, target: str, labels: Manifest | None = None, **more: Any) -> Manifest:
    spec = {"source": {kind: {"name": target, "namespace": more.pop("to", "golden")}}}
    return thing(name, labels, spec, more.pop("status", READY), **more)


def found(unread: tuple[str, ...] = (), **objects: list[Manifest]) -> dict[str, BootSource]:
    every = {kind: objects.get(kind, []) for kind in survey.KINDS}
    return {f"{one.kind} {one.name}": one for one in survey.survey(every, unread)}


def words(source: BootSource) -> list[str]:
    return [finding.finding for finding in source.findings]


def test_a_data_source_says_what_its_labels_say_and_else_its_claim() -> None:
    claims = [thing("full", DEFAULTS), thing("other", {**DEFAULTS, f"{DEFAULT}preference": "rhel.9"}), thing("bare")]
    own = {f"{DEFAULT}preference": "debian"}
    told = found(
        DataSource=[
            leading("a", "pvc", "full"),
            leading("b", "pvc", "other", own),
            leading("c", "pvc", "bare"),
            leading("d", "pvc", "bare", DEFAULTS),
        ],
        PersistentVolumeClaim=claims,
    )

    assert list(told) == ["DataSource a", "DataSource b", "DataSource c", "DataSource d"], (
        "their claims are their parts"
    )
    a, b, c, d = told.values()
    assert a.labels == d.labels == DEFAULTS and words(a) == words(d) == []
    # KubeVirt takes name and kind of one object.
    assert f"{DEFAULT}preference-kind" not in b.labels and words(b) == ["incomplete"]
    assert f"lacks {DEFAULT}preference-kind;" in b.findings[0].text
    assert c.labels == {} and words(c) == ["says_nothing"]
    assert a.leads_to == ("PersistentVolumeClaim", "golden", "full") and a.ready


def test_a_pointer_says_only_what_its_own_labels_say() -> None:
    """KubeVirt does not follow it; CDI copies the labels when the pointer is ready."""
    behind = leading("behind", "snapshot", "shot", DEFAULTS)
    pointer = leading("pointer", "dataSource", "behind", status={"conditions": []})
    told = found(DataSource=[pointer, behind], VolumeSnapshot=[thing("shot", creationTimestamp="2025-01-01T00:00:00Z")])

    assert words(told["DataSource pointer"]) == ["says_nothing", "not_ready"]
    assert told["DataSource pointer"].created == "2025-01-01T00:00:00Z"
    assert words(told["DataSource behind"]) == []


def test_data_sources_that_lead_nowhere() -> None:
    waiting = {"conditions": [{"type": "Ready", "status": "False", "reason": "NotFound", "message": "PVC not found"}]}
    gone = leading("gone", "pvc", "x", DEFAULTS, status=waiting)
    empty = thing("empty", DEFAULTS, {"source": {}}, READY)
    told = found(DataSource=[gone, empty])

    assert [finding.text for finding in told["DataSource gone"].findings] == [
        "there is no PersistentVolumeClaim golden/x, which the DataSource leads to",
        "NotFound: PVC not found",
    ]
    assert words(told["DataSource empty"]) == ["leads_nowhere"]
    assert words(found(("PersistentVolumeClaim",), DataSource=[gone])["DataSource gone"]) == ["not_ready"]


def test_what_is_in_other_namespaces_has_to_be_read() -> None:
    sources = [leading("a", "pvc", "x", to="images"), leading("b", "pvc", "x")]
    objects = {**{kind: [] for kind in survey.KINDS}, "DataSource": sources}

    assert survey.beyond(objects, "golden") == [("PersistentVolumeClaim", "images", "x")]
    assert survey.beyond(objects, None) == []


def test_a_cron_and_its_data_source() -> None:
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
    cron = thing("cron", {}, spec, status)
    volumes = [thing("fedora-1", {**DEFAULTS, CRON: "cron"}), thing("fedora-0", {**DEFAULTS, CRON: "cron"})]
    told = found(
        DataImportCron=[cron, thing("idle", {}, {**spec, "managedDataSource": "own"})],
        DataSource=[leading("fedora", "pvc", "fedora-1", {**DEFAULTS, CRON: "cron"}), leading("own", "pvc", "p")],
        DataVolume=volumes,
        PersistentVolumeClaim=[thing("fedora-1", DEFAULTS), thing("fedora-0", DEFAULTS), thing("p", DEFAULTS)],
    )

    assert list(told) == ["DataImportCron cron", "DataSource fedora", "DataImportCron idle", "DataSource own"]
    image = Image("quay.io/containerdisks/fedora:latest", "golden", "pull")
    for name in ("DataImportCron cron", "DataSource fedora"):
        assert told[name].ask == image and told[name].origin.digest == OLD and told[name].schedule == "@daily"
        assert words(told[name]) == []
    assert told["DataImportCron cron"].created == "2026-03-04T00:00:00Z"
    assert told["DataSource fedora"].volumes == ["fedora-0", "fedora-1"]
    assert words(told["DataImportCron idle"]) == ["not_managed", "not_ready"]
    assert told["DataImportCron idle"].ask is None


def test_an_image_that_was_imported_once() -> None:
    """Its volume knows the digest, its DataSource the name."""
    declared = {"boot-source.virtshape.dev/image": "quay.io/containerdisks/fedora:latest"}
    registry = {"url": f"docker://quay.io/containerdisks/fedora@{NEW}", "platform": {"architecture": "arm64"}}
    volume = thing("fedora-b", {**DEFAULTS, OWNER: "fedora"}, {"source": {"registry": registry}})
    source = leading("fedora", "pvc", "fedora-b", DEFAULTS, annotations=declared)
    claim = thing("fedora-b", DEFAULTS)
    told = found(DataSource=[source], DataVolume=[volume], PersistentVolumeClaim=[claim])["DataSource fedora"]

    assert told.ask == Image("quay.io/containerdisks/fedora:latest", "golden", architecture="arm64")
    assert told.origin.digest == NEW and told.volumes == ["fedora-b"]

    tagged = thing("t", DEFAULTS, {"source": {"registry": {"url": "docker://quay.io/a/b:1"}}}, {"phase": "Succeeded"})
    one = found(DataVolume=[tagged])["DataVolume t"]
    assert one.origin.image is not None and one.ask is None, "of a tag it is not known what it was then"
    imported = {"cdi.kubevirt.io/storage.import.endpoint": f"docker://quay.io/a/b@{OLD}"}
    left = found(PersistentVolumeClaim=[thing("c", DEFAULTS, annotations=imported)])["PersistentVolumeClaim c"]
    assert left.origin.digest == OLD


def test_disks_that_are_boot_sources_of_their_own() -> None:
    def owned(name: str, kind: str) -> Manifest:
        return thing(name, DEFAULTS, ownerReferences=[{"kind": kind, "name": "x"}])

    told = found(
        PersistentVolumeClaim=[
            thing("labelled", {f"{DEFAULT}preference": "fedora"}, status={"phase": "Bound"}),
            thing("plain"),
            owned("of-a-volume", "DataVolume"),
            owned("prime", "PersistentVolumeClaim"),
            thing("volume", DEFAULTS),
        ],
        DataVolume=[
            owned("of-a-vm", "VirtualMachine"),
            thing("volume", DEFAULTS, status={"phase": "ImportInProgress", "progress": "3%"}),
        ],
        VolumeSnapshot=[thing("shot", DEFAULTS, status={"readyToUse": True})],
    )

    assert list(told) == ["PersistentVolumeClaim labelled", "VolumeSnapshot shot", "DataVolume volume"]
    assert words(told["PersistentVolumeClaim labelled"]) == ["incomplete"]
    assert words(told["VolumeSnapshot shot"]) == []
    assert told["DataVolume volume"].findings[0].text == "CDI to fill the volume (ImportInProgress 3%)"
