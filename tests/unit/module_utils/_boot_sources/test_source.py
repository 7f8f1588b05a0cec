"""The objects of a boot source."""

from typing import Any

import pytest

from plugins.module_utils._boot_sources import cdi_webhooks as admission
from plugins.module_utils._boot_sources import source
from plugins.module_utils._boot_sources.source import CloneRight, parse_consumer
from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.api.keys import BOOT_SOURCE_DIGEST_ANNOTATION, BOOT_SOURCE_LABEL
from plugins.module_utils._resolver.api.manifest import Progress

DIGEST = f"sha256:{'ab' * 32}"
ONE_OF = "image or image_stream or url or pvc or snapshot or upload"
LABEL = "instancetype.kubevirt.io/default-"


def options(**params: Any) -> dict[str, Any]:
    return {"name": "fedora", "namespace": "golden", "state": "present", "keep": 3, "size": "1024Mi", **params}


@pytest.mark.parametrize(
    ("params", "path"),
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
        ({"upload": {"path": "x", "archive": True}, "volume_mode": "Block"}, "upload.archive"),
        ({"state": "labeled", "kind": "PersistentVolumeClaim"}, "state"),
        ({"state": "labeled", "kind": "PersistentVolumeClaim", "preference": "fedora", "pvc": {"name": "a"}}, "pvc"),
    ],
)
def test_invalid_options_raise(params: dict[str, Any], path: str) -> None:
    with pytest.raises(FieldError) as error:
        source.represented_object(options(**params))
    assert error.value.path == path


def test_valid_options_have_a_data_source() -> None:
    for params in (
        {"image": "fedora", "schedule": "@daily"},
        {"pvc": {"name": "a"}, "size": None},
        {"url": "http://x", "checksum": "md5:" + "a" * 32},
        {"state": "absent"},
        {"image_stream": "fedora", "schedule": "@daily"},
        {"upload": {"path": "x", "create": False, "volume": "a"}, "size": None},
    ):
        manifest = source.represented_object(options(**params))
        assert (manifest["kind"], manifest["metadata"]["name"]) == ("DataSource", "fedora")


def test_a_labeled_object_stands_for_itself() -> None:
    manifest = source.represented_object(options(state="labeled", kind="PersistentVolumeClaim", preference="fedora"))
    assert (manifest["kind"], manifest["metadata"]["name"]) == ("PersistentVolumeClaim", "fedora")


def test_task_overrides_defaults_of_the_image() -> None:
    environment = [
        "INSTANCETYPE_KUBEVIRT_IO_DEFAULT_INSTANCETYPE=u1.medium",
        "INSTANCETYPE_KUBEVIRT_IO_DEFAULT_PREFERENCE=fedora",
        "INSTANCETYPE_KUBEVIRT_IO_DEFAULT_PREFERENCE_KIND=VirtualMachinePreference",
        "OTHER_KUBEVIRT_IO_LABEL=x",
    ]
    labels = source.defaults(options(), environment)
    assert labels == {
        f"{LABEL}instancetype": "u1.medium",
        f"{LABEL}instancetype-kind": "VirtualMachineClusterInstancetype",
        f"{LABEL}preference": "fedora",
        f"{LABEL}preference-kind": "VirtualMachinePreference",
    }
    assert source.matchers(labels)["preference"] == ("VirtualMachinePreference", "fedora")
    overridden = source.defaults(options(preference={"name": "linux"}), environment)
    assert source.matchers(overridden)["preference"] == ("VirtualMachineClusterPreference", "linux")
    assert source.defaults(options(), []) == source.matchers({}) == {}
    with pytest.raises(FieldError, match="preference: 'Windows 11'"):
        source.defaults(options(), ["INSTANCETYPE_KUBEVIRT_IO_DEFAULT_PREFERENCE=Windows 11"])


def test_cdi_accepts_objects_of_an_image_stream() -> None:
    params = options(image_stream="fedora", schedule="@daily", architecture="arm64")
    registry = {"imageStream": "fedora", "pullMethod": "node", "platform": {"architecture": "arm64"}}
    volume, cron = source.volume(params, "", {}), source.cron(params, {})
    assert volume["spec"]["source"] == cron["spec"]["template"]["spec"]["source"] == {"registry": registry}
    assert volume["metadata"]["name"] != source.volume_name(options(image_stream="debian"), "")
    assert admission.data_volume_refusal(volume) is None
    assert admission.data_import_cron_refusal(cron, None, {"UTC"}) is None


def test_volume_takes_a_file() -> None:
    params = options(upload={"archive": False, "volume": "disk"}, force_bind=True)
    manifest = source.volume(params, DIGEST, {"a": "b"})
    assert manifest["metadata"] == {
        "name": "disk",
        "namespace": "golden",
        "labels": {"a": "b", BOOT_SOURCE_LABEL: "fedora"},
        "annotations": {"cdi.kubevirt.io/storage.bind.immediate.requested": "", BOOT_SOURCE_DIGEST_ANNOTATION: DIGEST},
    }
    assert manifest["spec"] == {
        "contentType": "kubevirt",
        "source": {"upload": {}},
        "storage": {"resources": {"requests": {"storage": "1Gi"}}},
    }
    assert admission.data_volume_refusal(manifest) is None


def test_volume_imports_an_image_by_digest() -> None:
    params = options(
        image="quay.io/a/b:1",
        secret_ref="pull",
        architecture="arm64",
        pull_method="pod",
        storage_class="fast",
        access_modes=["ReadWriteMany"],
        volume_mode="Block",
        force_bind=True,
    )
    manifest = source.volume(params, DIGEST, {"a": "b"})
    assert manifest["metadata"] == {
        "name": "fedora-abababababab",
        "namespace": "golden",
        "labels": {"a": "b", BOOT_SOURCE_LABEL: "fedora"},
        "annotations": {"cdi.kubevirt.io/storage.bind.immediate.requested": ""},
    }
    assert manifest["spec"] == {
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


def test_volume_name_depends_on_the_checksum() -> None:
    first = source.volume(options(url="https://x/y"), "", {})
    assert first["spec"]["source"] == {"http": {"url": "https://x/y"}}
    checked = source.volume(options(url="https://x/y", checksum="md5:1"), "", {})
    assert checked["metadata"]["name"] != first["metadata"]["name"]


def test_cron_polls_the_image() -> None:
    manifest = source.cron(options(image="quay.io/a/b:1", schedule="@daily"), {})
    assert manifest["spec"]["template"]["spec"]["source"]["registry"] == {"url": "docker://quay.io/a/b:1"}
    assert manifest["spec"]["importsToKeep"] == 3
    pinned = source.cron(options(image=f"quay.io/a/b@{DIGEST}", schedule=""), {})
    assert pinned["spec"]["template"]["spec"]["source"]["registry"]["url"].endswith(DIGEST)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, {"pvc": {"name": "v", "namespace": "golden"}}),
        ({"pvc": {"name": "a", "namespace": None}}, {"pvc": {"name": "a", "namespace": "golden"}}),
        ({"snapshot": {"name": "a", "namespace": "b"}}, {"snapshot": {"name": "a", "namespace": "b"}}),
    ],
)
def test_data_source_has_a_target(params: dict[str, Any], expected: dict[str, Any]) -> None:
    assert source.data_source(options(**params), "v", {})["spec"] == {"source": expected}


def running(reason: str, phase: str = "ImportScheduled") -> dict[str, Any]:
    return {"status": {"phase": phase, "conditions": [{"type": "Running", "status": "False", "reason": reason}]}}


@pytest.mark.parametrize(
    ("live", "expected"),
    [
        ({"status": {"phase": "Succeeded"}}, Progress(done=True)),
        ({"status": {"phase": "Failed"}}, Progress(failed="CDI cannot fill the volume: Failed")),
        (running("ImagePullFailed"), Progress(failed="CDI cannot fill the volume: ImagePullFailed")),
        (running("Pending"), Progress(pending="CDI to fill the volume (ImportScheduled)")),
        ({}, Progress(pending="CDI to fill the volume (no phase yet)")),
        (
            {"status": {"phase": "ImportInProgress", "progress": "5.0%"}},
            Progress(pending="CDI to fill the volume (ImportInProgress 5.0%)"),
        ),
        (
            {"status": {"phase": "WaitForFirstConsumer"}},
            Progress(failed="the storage class binds a volume when a pod uses it; set force_bind"),
        ),
    ],
)
def test_import_status_of_a_volume(live: dict[str, Any], expected: Progress) -> None:
    assert source.import_status(live) == expected


def volume(name: str, created: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "golden", "creationTimestamp": created}}


def test_oldest_volumes_beyond_keep_are_outdated() -> None:
    volumes = [volume("c", "3"), volume("a", "1"), volume("b", "2")]
    assert [volume["metadata"]["name"] for volume in source.outdated(volumes, "c", 2)] == ["a"]
    assert source.outdated(volumes, "c", 3) == []
    assert [volume["metadata"]["name"] for volume in source.outdated(volumes, "a", 1)] == ["b", "c"]


def test_unfinished_clones_by_their_claim() -> None:
    spec = {"source": {"pvc": {"name": "v", "namespace": "golden"}}}
    clone = {**volume("clone", "1"), "spec": spec}
    done = {**volume("done", "1"), "spec": {"source": {"pvc": {"name": "w", "namespace": "golden"}}}}
    done["status"] = {"phase": "Succeeded"}
    assert source.clones_by_claim([clone, done, volume("blank", "1")]) == {("golden", "v"): "golden/clone"}


# The rights to clone a boot source of another namespace.


def test_a_namespace_means_its_default_service_account() -> None:
    assert parse_consumer("shop") == ("shop", "default")
    assert parse_consumer("shop/runner.x") == ("shop", "runner.x")
    for text in ("", "Shop", "shop/", "shop/a/b", "/a"):
        with pytest.raises(FieldError, match="consumers"):
            parse_consumer(text)


def test_claim_clone_needs_either_of_two_rights() -> None:
    first, second = CloneRight(("shop", "default"), "golden", "fedora-1", snapshot=False).access_reviews()
    assert first == [
        {
            "user": "system:serviceaccount:shop:default",
            "groups": ["system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"],
            "resourceAttributes": {
                "verb": "create",
                "namespace": "golden",
                "name": "fedora-1",
                "group": "cdi.kubevirt.io",
                "resource": "datavolumes",
                "subresource": "source",
            },
        }
    ]
    assert [review["resourceAttributes"]["resource"] for review in second] == ["pods"]


def test_snapshot_clone_needs_one_right_or_two_others() -> None:
    alternatives = CloneRight(("shop", "default"), "golden", "", snapshot=True).access_reviews()
    assert [[review["resourceAttributes"]["resource"] for review in rights] for rights in alternatives] == [
        ["datavolumes"],
        ["pods", "pvcs"],
    ]


def test_refusal_names_the_service_account() -> None:
    assert CloneRight(("shop", "runner"), "golden", "x", snapshot=False).missing_right_text("it") == (
        "VMs in shop cannot boot from it: system:serviceaccount:shop:runner may not create datavolumes/source of"
        " cdi.kubevirt.io in golden; bind a role with this right there"
    )
