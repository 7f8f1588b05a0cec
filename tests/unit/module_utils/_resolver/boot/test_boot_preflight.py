"""Problems of boot sources that CDI does not report."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.boot import origin
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.boot import preflight as beforehand

Manifest = dict[str, Any]

CRON = "cdi.kubevirt.io/dataImportCron"
LABEL = "instancetype.kubevirt.io/default-preference"


def data_source(labels: Manifest | None = None, **source: Manifest) -> Manifest:
    return {"metadata": {"name": "os", "namespace": "golden", "labels": labels or {}}, "spec": {"source": source}}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"pvc": {"name": "a", "namespace": "b"}}, ("PersistentVolumeClaim", "b", "a")),
        ({"snapshot": {"name": "a"}}, ("VolumeSnapshot", "golden", "a")),
        ({"dataSource": {"name": "a"}}, None),
        ({}, None),
    ],
)
def test_where_a_data_source_leads(source: Manifest, expected: tuple[str, str, str] | None) -> None:
    assert beforehand.origin(data_source(**source)) == expected


def test_labels_that_cdi_overwrites() -> None:
    claim = {"metadata": {"name": "disk", "labels": {LABEL: "rhel"}}}
    assert list(beforehand.overwritten({LABEL: "fedora"}, data_source(), claim)) == [
        f"CDI writes other values of {LABEL} over these, from disk; label that, too"
    ]
    assert list(beforehand.overwritten({LABEL: "rhel"}, data_source(), claim)) == []
    assert list(beforehand.overwritten({LABEL: "rhel"}, data_source({CRON: "nightly"}), None)) == [
        "the DataImportCron nightly makes the DataSource's labels; declare its defaults instead"
    ]


@pytest.mark.parametrize(
    ("policy", "lost"), [({"retentionPolicy": "None"}, True), ({"retentionPolicy": "All"}, False), ({}, False)]
)
def test_what_cdi_would_delete_with_a_cron(policy: Manifest, lost: bool) -> None:
    told = beforehand.lost_with({"metadata": {"name": "nightly"}, "spec": policy})
    assert ("the DataImportCron nightly has the retentionPolicy None" in told) == lost == bool(told)


def test_a_volume_with_an_unreadable_image_has_none() -> None:
    volume = {"metadata": {"name": "a"}, "spec": {"source": {"registry": {"url": "docker://No Image"}}}}
    assert origin.origin_of(volume, "golden") == origin.Origin()
