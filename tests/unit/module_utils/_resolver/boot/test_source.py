"""What a boot source is made of."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import FieldError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.boot import source
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.cdi import admission

DIGEST = f"sha256:{'ab' * 32}"
ONE_OF = "image or image_stream or url or pvc or snapshot or upload"
LABEL = "instancetype.kubevirt.io/default-"


def options(**given: Any) -> dict[str, Any]:
    return {"name": "fedora", "namespace": "golden", "state": "present", "keep": 3, "size": "1024Mi", **given}


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({}, ONE_OF),
        ({"image": "fedora", "url": "http://x"}, ONE_OF),
        ({"image": "fedora", "name": "A"}, "name"),
        ({"image": "fedora", "name": "a" * 64, "schedule": "@daily"}, "name"),
        ({"url": "http://x", "schedule": "@daily"}, "schedule"),
        ({"image": "fedora", "keep": 0}, "keep"),
        ({"image": "fedora", "size": None}, "size"),
        ({"image": "fedora", "size": "x"}, "size"),
        ({"image": "A"}, "image"),
        ({"url": "http://x", "checksum": "x"}, "checksum"),
        ({"image_stream": "fedora", "pull_method": "pod"}, "pull_method"),
        ({"image": "fedora", "consumers": ["shop", "A"]}, "consumers"),
        ({"upload": {"path": "x", "create": False}}, "upload.volume"),
        ({"upload": {"path": "x", "volume": "A"}}, "upload.volume"),
    ],
)
def test_options_that_cannot_be(given: dict[str, Any], path: str) -> None:
    with pytest.raises(FieldError) as raised:
        source.wish(options(**given))
    assert raised.value.path == path


def test_options_that_can_be() -> None:
    for given in (
        {"image": "fedora", "schedule": "@daily"},
        {"pvc": {"name": "a"}, "size": None},
        {"url": "http://x", "checksum": "md5:" + "a" * 32},
        {"state": "absent"},
        {"image_stream": "fedora", "schedule": "@daily"},
        {"upload": {"path": "x", "create": False, "volume": "a"}, "size": None},
    ):
        made = source.wish(options(**given))
        assert (made["kind"], made["metadata"]["name"]) == ("DataSource", "fedora")


def test_defaults_of_the_image_and_of_the_task() -> None:
    carried = [
        "INSTANCETYPE_KUBEVIRT_IO_DEFAULT_INSTANCETYPE=u1.medium",
        "INSTANCETYPE_KUBEVIRT_IO_DEFAULT_PREFERENCE=fedora",
        "INSTANCETYPE_KUBEVIRT_IO_DEFAULT_PREFERENCE_KIND=VirtualMachinePreference",
        "OTHER_KUBEVIRT_IO_LABEL=x",
    ]
    found = source.defaults(options(), carried)
    assert found == {
        f"{LABEL}instancetype": "u1.medium",
        f"{LABEL}instancetype-kind": "VirtualMachineClusterInstancetype",
        f"{LABEL}preference": "fedora",
        f"{LABEL}preference-kind": "VirtualMachinePreference",
    }
    assert source.matchers(found)["preference"] == ("VirtualMachinePreference", "fedora")
    declared = source.defaults(options(preference={"name": "linux"}), carried)
    assert source.matchers(declared)["preference"] == ("VirtualMachineClusterPreference", "linux")
    assert source.defaults(options(), []) == source.matchers({}) == {}
    with pytest.raises(FieldError, match="preference: 'Windows 11'"):
        source.defaults(options(), ["INSTANCETYPE_KUBEVIRT_IO_DEFAULT_PREFERENCE=Windows 11"])


def test_the_volume_and_the_cron_of_an_image_stream_are_what_cdi_accepts() -> None:
    given = options(image_stream="fedora", schedule="@daily", architecture="arm64")
    registry = {"imageStream": "fedora", "pullMethod": "node", "platform": {"architecture": "arm64"}}
    volume, cron = source.volume(given, "", {}), source.cron(given, {})
    assert volume["spec"]["source"] == cron["spec"]["template"]["spec"]["source"] == {"registry": registry}
    assert volume["metadata"]["name"] != source.volume_name(options(image_stream="debian"), "")
    assert admission.data_volume_refusal(volume, None, None) is None
    assert admission.data_import_cron_refusal(cron, None, {"UTC"}) is None


def test_the_volume_of_an_image() -> None:
    given = options(
        image="quay.io/a/b:1",
        secret="pull",
        architecture="arm64",
        pull_method="pod",
        storage_class="fast",
        access_mode="ReadWriteMany",
        volume_mode="Block",
        force_bind=True,
    )
    made = source.volume(given, DIGEST, {"a": "b"})
    assert made["metadata"] == {
        "name": "fedora-abababababab",
        "namespace": "golden",
        "labels": {"a": "b", "boot-source.virtshape.dev/name": "fedora"},
        "annotations": {"cdi.kubevirt.io/storage.bind.immediate.requested": ""},
    }
    assert made["spec"] == {
        "source": {
            "registry": {
                "url": f"docker://quay.io/a/b@{DIGEST}",
                "pullMethod": "pod",
                "secretRef": "pull",
                "platform": {"architecture": "arm64"},
            }
        },
        "storage": {
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "fast",
            "accessModes": ["ReadWriteMany"],
            "volumeMode": "Block",
        },
    }


def test_the_volume_of_a_url() -> None:
    first = source.volume(options(url="https://x/y"), "", {})
    assert first["spec"]["source"] == {"http": {"url": "https://x/y"}}
    other = source.volume(options(url="https://x/y", checksum="md5:1"), "", {})
    assert other["metadata"]["name"] != first["metadata"]["name"]


def test_a_cron() -> None:
    made = source.cron(options(image="quay.io/a/b:1", schedule="@daily"), {})
    assert made["spec"]["template"]["spec"]["source"]["registry"] == {"url": "docker://quay.io/a/b:1"}
    assert made["spec"]["importsToKeep"] == 3
    pinned = source.cron(options(image=f"quay.io/a/b@{DIGEST}", schedule=""), {})
    assert pinned["spec"]["template"]["spec"]["source"]["registry"]["url"].endswith(DIGEST)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"pvc": {"name": "v", "namespace": "golden"}}),
        ({"pvc": {"name": "a", "namespace": None}}, {"pvc": {"name": "a", "namespace": "golden"}}),
        ({"snapshot": {"name": "a", "namespace": "b"}}, {"snapshot": {"name": "a", "namespace": "b"}}),
    ],
)
def test_a_data_source(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert source.data_source(options(**given), "v", {})["spec"] == {"source": expected}


def running(reason: str, phase: str = "ImportScheduled") -> dict[str, Any]:
    return {"status": {"phase": phase, "conditions": [{"type": "Running", "status": "False", "reason": reason}]}}


@pytest.mark.parametrize(
    ("live", "expected"),
    [
        ({"status": {"phase": "Succeeded"}}, source.Fate(done=True)),
        ({"status": {"phase": "Failed"}}, source.Fate(failed="CDI cannot fill the volume: Failed")),
        (running("ImagePullFailed"), source.Fate(failed="CDI cannot fill the volume: ImagePullFailed")),
        (running("Pending"), source.Fate(pending="CDI to fill the volume (ImportScheduled)")),
        ({}, source.Fate(pending="CDI to fill the volume (no phase yet)")),
        (
            {"status": {"phase": "ImportInProgress", "progress": "5.0%"}},
            source.Fate(pending="CDI to fill the volume (ImportInProgress 5.0%)"),
        ),
        (
            {"status": {"phase": "WaitForFirstConsumer"}},
            source.Fate(failed="the storage class binds a volume when a pod uses it; set force_bind"),
        ),
    ],
)
def test_the_fate_of_a_volume(live: dict[str, Any], expected: source.Fate) -> None:
    assert source.fate(live) == expected


def test_whether_a_data_source_is_ready() -> None:
    assert source.is_ready({"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    assert not source.is_ready({})


def made(name: str, created: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "golden", "creationTimestamp": created}}


def test_volumes_that_are_too_many() -> None:
    volumes = [made("c", "3"), made("a", "1"), made("b", "2")]
    assert [one["metadata"]["name"] for one in source.outdated(volumes, "c", 2)] == ["a"]
    assert source.outdated(volumes, "c", 3) == []
    assert [one["metadata"]["name"] for one in source.outdated(volumes, "a", 1)] == ["b", "c"]


def test_what_clones_read() -> None:
    spec = {"source": {"pvc": {"name": "v", "namespace": "golden"}}}
    clone = {**made("clone", "1"), "spec": spec}
    done = {**made("done", "1"), "spec": {"source": {"pvc": {"name": "w", "namespace": "golden"}}}}
    done["status"] = {"phase": "Succeeded"}
    assert source.read_by([clone, done, made("blank", "1")], "golden") == {"v": "golden/clone"}
    assert source.read_by([clone], "other") == {}
