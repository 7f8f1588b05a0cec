"""What an upload makes and refuses; 219 recordings of virtctl are in tests/boot_sources."""

from __future__ import annotations

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.boot import upload
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.boot.upload import Upload

WISH = Upload("shop", "golden", size="1Gi")


def test_a_data_volume() -> None:
    wish = WISH._replace(labels={"a": "b"}, access_mode="ReadWriteMany", volume_mode="Block", force_bind=True)
    assert upload.volume(wish) == {
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


def test_a_data_volume_that_was_deleted_when_it_was_filled() -> None:
    annotations = {
        "cdi.kubevirt.io/storage.deleteAfterCompletion": "true",
        "cdi.kubevirt.io/storage.pod.phase": "Succeeded",
    }
    assert "is filled already" in upload.missing_volume(WISH, {"metadata": {"annotations": annotations}})
    assert "belongs to no DataVolume" in upload.missing_volume(WISH, {"metadata": {}})


def test_only_events_of_the_volume_count() -> None:
    event = {"involvedObject": {"kind": "PersistentVolumeClaim", "uid": "1"}, "reason": "ProvisioningFailed"}
    uids = {"PersistentVolumeClaim": "1"}
    assert upload.event_problem({**event, "message": "no space"}, uids) == "provisioning failed: no space"
    outdated = "the object has been modified; please apply your changes to the latest version and try again"
    assert upload.event_problem({**event, "message": outdated}, uids) == ""
    assert upload.event_problem({**event, "reason": "Other"}, uids) == ""
    assert upload.event_problem(event, {"PersistentVolumeClaim": "2"}) == ""
    assert upload.event_problem({"message": "x"}, uids) == ""


def test_labels_that_are_there_are_not_written() -> None:
    wish = WISH._replace(labels={"a": "b", "c": "d"})
    assert upload.patch(wish, {"metadata": {"labels": {"a": "b"}}}) == {"metadata": {"labels": {"c": "d"}}}
    assert upload.patch(wish, {"metadata": {"labels": {"a": "b", "c": "d"}}}) is None


def test_the_digest_is_an_annotation_of_the_volume() -> None:
    wish = WISH._replace(digest="sha256:1", owner={"owner": "x"})
    metadata = upload.volume(wish)["metadata"]
    assert metadata["annotations"][upload.DIGEST] == "sha256:1" and metadata["labels"]["owner"] == "x"
    # Others own what exists.
    other = {"metadata": {"annotations": {upload.DIGEST: "sha256:0"}}}
    assert upload.patch(wish, other) == {"metadata": {"annotations": {upload.DIGEST: "sha256:1"}}}
    assert upload.patch(wish, {"metadata": metadata}) is None


def test_a_volume_holds_a_file_once_cdi_has_processed_it() -> None:
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
def test_paths_of_the_proxy(url: str, expected: tuple[str, str]) -> None:
    assert upload.proxy_paths(url) == expected


def test_the_proxy_of_a_configuration() -> None:
    assert upload.proxy_of({"spec": {"uploadProxyURLOverride": "a"}, "status": {"uploadProxyURL": "b"}}) == "a"
    assert upload.proxy_of({"status": {"uploadProxyURL": "b"}}) == "b"
    assert upload.proxy_of({}) == ""
    assert upload.proxy_address("proxy.example") == ("https://proxy.example", "")
    assert "is no URL" in upload.proxy_address("127.0.0.1:443")[1]
