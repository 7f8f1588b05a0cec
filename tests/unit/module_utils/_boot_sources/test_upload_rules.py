"""The claim and the errors of an upload; tests/boot_sources has 217 recordings of virtctl."""

from __future__ import annotations

from plugins.module_utils._boot_sources import upload

CLAIM = {"name": "golden", "namespace": "shop"}


def test_claim_without_its_data_volume_is_no_target() -> None:
    annotations = {
        "cdi.kubevirt.io/storage.deleteAfterCompletion": "true",
        "cdi.kubevirt.io/storage.pod.phase": "Succeeded",
    }
    assert "is filled already" in upload.missing_volume({"metadata": {**CLAIM, "annotations": annotations}})
    assert upload.missing_volume({"metadata": CLAIM}).startswith(
        "PersistentVolumeClaim shop/golden belongs to no DataVolume"
    )


def test_only_events_of_the_volume_count() -> None:
    event = {"involvedObject": {"kind": "PersistentVolumeClaim", "uid": "1"}, "reason": "ProvisioningFailed"}
    uids = {"PersistentVolumeClaim": "1"}
    assert upload.event_problem({**event, "message": "no space"}, uids) == "provisioning failed: no space"
    outdated = "the object has been modified; please apply your changes to the latest version and try again"
    assert upload.event_problem({**event, "message": outdated}, uids) == ""
    assert upload.event_problem({**event, "reason": "Other"}, uids) == ""
    assert upload.event_problem(event, {"PersistentVolumeClaim": "2"}) == ""
    assert upload.event_problem({"message": "x"}, uids) == ""


def test_volume_holds_a_file_once_processed() -> None:
    marked = {"annotations": {upload.DIGEST: "sha256:1"}}
    done = {"annotations": {**marked["annotations"], upload.POD_PHASE: "Succeeded"}}
    assert upload.holds({"metadata": marked, "status": {"phase": "Succeeded"}}, "sha256:1")
    assert upload.holds({"metadata": done, "status": {"phase": "Bound"}}, "sha256:1")
    assert not upload.holds({"metadata": done}, "sha256:2")
    assert not upload.holds({"metadata": marked, "status": {"phase": "Bound"}}, "sha256:1")
