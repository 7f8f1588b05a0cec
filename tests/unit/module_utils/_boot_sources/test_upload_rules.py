"""The claim and the errors of an upload; tests/boot_sources has 217 recordings of virtctl."""

import pytest

from plugins.module_utils._boot_sources import source, upload_rules
from plugins.module_utils._boot_sources.upload_rules import UploadFailed
from plugins.module_utils._resolver.api.keys import BOOT_SOURCE_DIGEST_ANNOTATION, BOOT_SOURCE_LABEL

CLAIM = {"name": "golden", "namespace": "shop"}


def test_claim_has_the_digest_of_its_file() -> None:
    options = {"name": "fedora", "namespace": "shop", "size": "1Gi", "upload": {"archive": True, "volume": "golden"}}
    metadata = upload_rules.claim(source.volume(options, "sha256:1", {"a": "b"}))["metadata"]
    assert metadata["annotations"][BOOT_SOURCE_DIGEST_ANNOTATION] == "sha256:1"
    assert metadata["labels"].items() >= {"a": "b", BOOT_SOURCE_LABEL: "fedora"}.items()


def test_claim_without_its_data_volume_is_no_target() -> None:
    annotations = {
        "cdi.kubevirt.io/storage.deleteAfterCompletion": "true",
        "cdi.kubevirt.io/storage.pod.phase": "Succeeded",
    }
    with pytest.raises(UploadFailed, match="is filled already, and its DataVolume has been deleted"):
        upload_rules.prime_of({"metadata": {**CLAIM, "annotations": annotations}}, None)
    with pytest.raises(UploadFailed, match="PersistentVolumeClaim shop/golden belongs to no DataVolume"):
        upload_rules.prime_of({"metadata": CLAIM}, None)


def test_only_events_of_the_volume_count() -> None:
    event = {"involvedObject": {"kind": "PersistentVolumeClaim", "uid": "1"}, "reason": "ProvisioningFailed"}
    uids = {"PersistentVolumeClaim": "1"}
    with pytest.raises(UploadFailed, match="provisioning failed: no space"):
        upload_rules.check_event({**event, "message": "no space"}, uids)
    outdated = "the object has been modified; please apply your changes to the latest version and try again"
    for other in ({**event, "message": outdated}, {**event, "reason": "Other"}, {"message": "x"}):
        upload_rules.check_event(other, uids)
    upload_rules.check_event(event, {"PersistentVolumeClaim": "2"})


def test_patch_adds_missing_labels_and_digest_only() -> None:
    labels = {"a": "b", "c": "d"}
    live = {"metadata": {"labels": {"a": "b"}, "annotations": {BOOT_SOURCE_DIGEST_ANNOTATION: "sha256:0"}}}
    assert upload_rules.patch(labels, "", live) == {"metadata": {"labels": {"c": "d"}}}
    assert upload_rules.patch({}, "sha256:1", live) == {
        "metadata": {"annotations": {BOOT_SOURCE_DIGEST_ANNOTATION: "sha256:1"}}
    }
    assert upload_rules.patch({"a": "b"}, "sha256:0", live) is None


def test_volume_holds_a_file_once_processed() -> None:
    marked = {"annotations": {BOOT_SOURCE_DIGEST_ANNOTATION: "sha256:1"}}
    done = {"annotations": {**marked["annotations"], upload_rules.POD_PHASE: "Succeeded"}}
    assert upload_rules.is_filled_with({"metadata": marked, "status": {"phase": "Succeeded"}}, "sha256:1")
    assert upload_rules.is_filled_with({"metadata": done, "status": {"phase": "Bound"}}, "sha256:1")
    assert not upload_rules.is_filled_with({"metadata": done}, "sha256:2")
    assert not upload_rules.is_filled_with({"metadata": marked, "status": {"phase": "Bound"}}, "sha256:1")


def test_proxy_url_of_an_incomplete_configuration() -> None:
    assert (upload_rules.published_url({"status": {"uploadProxyURL": "b"}}), upload_rules.published_url({})) == (
        "b",
        "",
    )
    with pytest.raises(UploadFailed, match="CDI has published no URL of its upload proxy"):
        upload_rules.proxy_address("")
