"""Problems of boot sources that CDI does not report."""

from typing import Any

from plugins.module_utils._boot_sources import origin, preflight
from plugins.module_utils._resolver.api.keys import BOOT_SOURCE_LABEL

Manifest = dict[str, Any]

CRON = "cdi.kubevirt.io/dataImportCron"
LABEL = "instancetype.kubevirt.io/default-preference"


def data_source(labels: Manifest | None = None, **source: Manifest) -> Manifest:
    return {"metadata": {"name": "os", "namespace": "golden", "labels": labels or {}}, "spec": {"source": source}}


def test_overwritten_labels_have_a_warning() -> None:
    claim = {"metadata": {"name": "disk", "labels": {LABEL: "rhel"}}}
    assert list(preflight.overwritten({LABEL: "fedora"}, data_source(), claim)) == [
        f"CDI writes other values of {LABEL} over these, from disk; label that, too"
    ]
    assert list(preflight.overwritten({LABEL: "rhel"}, data_source(), claim)) == []
    assert list(preflight.overwritten({LABEL: "rhel"}, data_source({CRON: "nightly"}), None)) == [
        "the DataImportCron nightly makes the DataSource's labels; declare its defaults instead"
    ]


def test_unreadable_image_has_no_origin() -> None:
    volume = {"metadata": {"name": "a"}, "spec": {"source": {"registry": {"url": "docker://No Image"}}}}
    assert origin.origin_of(volume, "golden") == origin.Origin()


def managed(*managers: str, field: str = "spec", labels: Manifest | None = None) -> Manifest:
    fields = {f"f:{field}": {"f:source": {}}}
    entries = [{"manager": manager, "operation": "Apply", "fieldsV1": fields} for manager in managers]
    return {"metadata": {"name": "os-1", "labels": labels or {}, "managedFields": entries}}


def refused(live: Manifest, *taken: str) -> str:
    return preflight.foreign_problem("os", "DataVolume", live, "virtshape", lambda manager: manager in taken)


def test_objects_of_others_are_not_changed() -> None:
    assert refused(managed("kubectl", "argocd-controller", "cdi")) == (
        "the DataVolume os-1 exists and was not made for the boot source os (field managers: kubectl, argocd-controller"
        " and 1 more); choose another name, or set force_conflicts: true (takes what differs) or take_over:"
        " [argocd-controller, cdi, kubectl] (takes all that the task declares). Argo CD declares the object too: its"
        " next sync reverts the change, unless Git has it"
    )
    # The labels of an existing object may be the task's without the object.
    assert refused(managed("virtshape", field="metadata")) != ""
    assert refused(managed("kubectl", labels={CRON: "other"})) != ""


def test_own_objects_are_changed() -> None:
    assert refused(managed("kubectl", "virtshape")) == ""
    assert refused(managed()) == refused(managed("kubectl"), "kubectl") == ""
    for label in (CRON, BOOT_SOURCE_LABEL):
        assert refused(managed("kubectl", labels={label: "os"})) == ""
