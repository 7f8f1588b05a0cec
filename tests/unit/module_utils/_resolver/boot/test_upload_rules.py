"""The objects and the errors of an upload; tests/boot_sources has 219 recordings of virtctl."""

from __future__ import annotations

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.boot import upload
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.boot.upload import UploadTarget

TARGET = UploadTarget("shop", "golden", size="1Gi")


def test_manifest_of_a_data_volume() -> None:
    target = TARGET._replace(labels={"a": "b"}, access_mode="ReadWriteMany", volume_mode="Block", force_bind=True)
    assert upload.volume(target) == {
        "apiVersion": "cdi.kubevirt.io/v1beta1",
        "kind": "DataVolume",
        "metadata": {
            "name": "golden",
            "namespace": "shop",
            "annotations": {"cdi.kubevirt.io/storage.bind.immediate.requested": ""},
            "labels": {"a": "b"},
        },
        "spec": {
            "contentType": "kubevirt",
            "source": {"upload": {}},
            "storage": {
                "accessModes": ["ReadWriteMany"],
                "resources": {"requests": {"storage": "1Gi"}},
                "volumeMode": "Block",
            },
        },
    }


def test_claim_without_its_data_volume_is_no_target() -> None:
    annotations = {
        "cdi.kubevirt.io/storage.deleteAfterCompletion": "true",
        "cdi.kubevirt.io/storage.pod.phase": "Succeeded",
    }
    assert "is filled already" in upload.missing_volume(TARGET, {"metadata": {"annotations": annotations}})
    assert "belongs to no DataVolume" in upload.missing_volume(TARGET, {"metadata": {}})


def test_only_events_of_the_volume_count() -> None:
    event = {"involvedObject": {"kind": "PersistentVolumeClaim", "uid": "1"}, "reason": "ProvisioningFailed"}
    uids = {"PersistentVolumeClaim": "1"}
    assert upload.event_problem({**event, "message": "no space"}, uids) == "provisioning failed: no space"
    outdated = "the object has been modified; please apply your changes to the latest version and try again"
    assert upload.event_problem({**event, "message": outdated}, uids) == ""
    assert upload.event_problem({**event, "reason": "Other"}, uids) == ""
    assert upload.event_problem(event, {"PersistentVolumeClaim": "2"}) == ""
    assert upload.event_problem({"message": "x"}, uids) == ""


def test_patch_adds_missing_labels_only() -> None:
    target = TARGET._replace(labels={"a": "b", "c": "d"})
    assert upload.patch(target, {"metadata": {"labels": {"a": "b"}}}) == {"metadata": {"labels": {"c": "d"}}}
    assert upload.patch(target, {"metadata": {"labels": {"a": "b", "c": "d"}}}) is None


def test_digest_is_an_annotation_of_the_volume() -> None:
    target = TARGET._replace(digest="sha256:1", owner={"owner": "x"})
    metadata = upload.volume(target)["metadata"]
    assert metadata["annotations"][upload.DIGEST] == "sha256:1" and metadata["labels"]["owner"] == "x"
    # Others own what exists.
    other = {"metadata": {"annotations": {upload.DIGEST: "sha256:0"}}}
    assert upload.patch(target, other) == {"metadata": {"annotations": {upload.DIGEST: "sha256:1"}}}
    assert upload.patch(target, {"metadata": metadata}) is None


def test_volume_holds_a_file_once_processed() -> None:
    marked = {"annotations": {upload.DIGEST: "sha256:1"}}
    done = {"annotations": {**marked["annotations"], upload.POD_PHASE: "Succeeded"}}
    assert upload.holds({"metadata": marked, "status": {"phase": "Succeeded"}}, "sha256:1")
    assert upload.holds({"metadata": done, "status": {"phase": "Bound"}}, "sha256:1")
    assert not upload.holds({"metadata": done}, "sha256:2")
    assert not upload.holds({"metadata": marked, "status": {"phase": "Bound"}}, "sha256:1")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://proxy", ("https://proxy/v1beta1/upload-async", "https://proxy/v1beta1/upload")),
        ("https://proxy/a/", ("https://proxy/a/v1beta1/upload-async", "https://proxy/a/v1beta1/upload")),
        (
            "https://proxy/v1beta1/upload-async",
            ("https://proxy/v1beta1/upload-async", "https://proxy/v1beta1/upload-async"),
        ),
    ],
)
def test_paths_of_the_upload_proxy(url: str, expected: tuple[str, str]) -> None:
    assert upload.proxy_paths(url) == expected


def test_proxy_url_of_a_configuration() -> None:
    assert upload.proxy_url({"spec": {"uploadProxyURLOverride": "a"}, "status": {"uploadProxyURL": "b"}}) == "a"
    assert upload.proxy_url({"status": {"uploadProxyURL": "b"}}) == "b"
    assert upload.proxy_url({}) == ""
    assert upload.proxy_address("proxy.example") == ("https://proxy.example", "")
    assert "is no URL" in upload.proxy_address("127.0.0.1:443")[1]
