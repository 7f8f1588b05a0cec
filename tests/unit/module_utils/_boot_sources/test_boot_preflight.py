"""Problems of boot sources that CDI does not report."""

from typing import Any

from plugins.module_utils._boot_sources import origin, preflight

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
