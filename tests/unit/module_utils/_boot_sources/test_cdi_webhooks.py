"""Refusals of CDI's webhooks; tests/boot_sources has the answers of CDI's own code to 144 objects."""

from copy import deepcopy
from typing import Any

import pytest

from plugins.module_utils._boot_sources import data_volume
from plugins.module_utils._boot_sources.cdi_webhooks import Refusal, data_import_cron_refusal, data_volume_refusal
from plugins.module_utils._cluster.reads.snapshot import default_class
from plugins.module_utils._resolver.api.errors import Cause

STORAGE = {"resources": {"requests": {"storage": "1Gi"}}}
SECRET = {"secretRef": "s"}
VDDK = {"uuid": "u", "backingFile": "f", "thumbprint": "t", **SECRET}


def volume(**fields: Any) -> dict[str, Any]:
    fields = {"source": {"registry": {"url": "docker://x/y"}}, "storage": STORAGE, **fields}
    spec = {name: value for name, value in fields.items() if value is not None}
    return {"metadata": {"name": "golden", "namespace": "shop"}, "spec": deepcopy(spec)}


def cron(template: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    fields = {"managedDataSource": "fedora", "schedule": "@daily", "template": template or volume(), **spec}
    return {"metadata": {"name": "fedora", "namespace": "shop"}, "spec": deepcopy(fields)}


def message(result: Refusal | None) -> str:
    return result.message if result else ""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            {"http": {"url": "https://x", "checksum": "md5"}},
            "Invalid checksum format: invalid checksum format: expected",
        ),
        ({"http": {"url": "ftp://x"}}, "spec.source Invalid source URL scheme: ftp://x"),
        ({"blank": {}}, ""),
        ({"vddk": {**VDDK, "url": ""}}, "spec.source source URL is empty"),
        ({"vddk": SECRET}, "spec.source.VDDK source VDDK is not valid"),
        ({"imageio": {"url": "x", "diskId": "1", **SECRET}}, "requires CertConfigMap or InsecureSkipVerify"),
        ({"imageio": {"url": "x", "diskId": "1", "insecureSkipVerify": True, **SECRET}}, "Invalid source URL: x"),
        ({"registry": {"imageStream": "s", "pullMethod": "node"}}, ""),
    ],
)
def test_sources_are_checked(source: dict[str, Any], expected: str) -> None:
    reason = message(data_volume_refusal(volume(source=source)))
    assert expected in reason
    assert bool(expected) == bool(reason)


def test_an_archive_needs_content() -> None:
    result = data_volume_refusal(volume(source={"blank": {}}, contentType="archive"))
    assert message(result) == " SourceType cannot be blank and the contentType be archive"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [({"name": "x"}, " Missing sourceRef kind"), ({"kind": "DataSource"}, " Missing sourceRef name")],
)
def test_source_references_are_checked(reference: dict[str, Any], expected: str) -> None:
    assert message(data_volume_refusal(volume(source=None, sourceRef=reference))) == expected


def test_populated_volumes_are_checked() -> None:
    populator = {"apiGroup": "a", "kind": "K", "name": "n", "namespace": "other"}
    storage = {**STORAGE, "dataSource": populator, "dataSourceRef": populator}
    result = data_volume_refusal(volume(source=None, storage=storage))
    assert result is not None
    assert [cause.message for cause in result.causes] == [
        "DataSourceRef and DataSource must match",
        "Invalid value: DataSourceRef namespace not supported",
    ]


@pytest.mark.parametrize(
    ("amount", "expected"), [("x", "quantities must match"), ("1Kim", "unable to parse quantity's suffix")]
)
def test_unreadable_size_is_a_bad_request(amount: str, expected: str) -> None:
    storage = {"resources": {"requests": {"storage": amount}, "limits": {}}}
    for result in (
        data_volume_refusal(volume(storage=storage)),
        data_import_cron_refusal(cron(volume(storage=storage))),
    ):
        assert result is not None
        assert result.code == 400
        assert expected in result.message
        assert not result.causes


def test_only_another_spelling_of_a_spec_is_accepted() -> None:
    old = volume(preallocation=None)
    equal = volume(storage={"resources": {"requests": {"storage": "1024Mi"}}, "accessModes": []}, contentType="")
    assert data_volume_refusal(equal, old) is None
    for changed in (volume(preallocation=False), volume(source={"registry": {"url": "docker://x/y", "secretRef": ""}})):
        assert message(data_volume_refusal(changed, old)) == " Cannot update DataVolume Spec"


def test_multi_stage_import_takes_new_checkpoints() -> None:
    source = {"vddk": {**VDDK, "url": "https://x"}}
    old = volume(source=source)
    new = volume(source=source, checkpoints=[{"previous": "", "current": "a"}], finalCheckpoint=True)
    assert data_volume_refusal(new, old) is None
    assert data_volume_refusal(volume(checkpoints=[{"previous": "", "current": "a"}]), volume()) is not None


def test_data_import_crons_are_checked() -> None:
    assert data_import_cron_refusal(cron(schedule="")) is None
    assert message(data_import_cron_refusal(cron(managedDataSource=""))) == " Illegal ManagedDataSource value"
    assert message(data_import_cron_refusal(cron(schedule="TZ=No/Where @daily"), zones=())) == " Illegal cron schedule"
    result = data_import_cron_refusal(cron(importsToKeep=0), cron())
    assert result == Refusal(
        422,
        " Cannot update DataImportCron Spec",
        (Cause("FieldValueDuplicate", "Cannot update DataImportCron Spec", "DataImportCron.Spec"),),
    )


def test_length_of_a_name_is_in_bytes() -> None:
    assert data_volume.too_long("é" * 31, 63) == []
    assert data_volume.too_long("é" * 32, 63) == [
        Cause("FieldValueInvalid", "Name cannot be longer than 63 characters")
    ]


# The default StorageClass.


VIRT, PLAIN = "storageclass.kubevirt.io/is-default-virt-class", "storageclass.kubernetes.io/is-default-class"


def storage_class(name: str, **annotations: str) -> dict[str, Any]:
    return {"metadata": {"name": name, **({"annotations": annotations} if annotations else {})}}


def test_default_for_vms_comes_first() -> None:
    classes = [
        storage_class("slow"),
        storage_class("plain", **{PLAIN: "true"}),
        *(storage_class(name, **{VIRT: "true"}) for name in "ab"),
    ]
    assert default_class(classes) == classes[2]
    assert default_class(classes[:2]) == classes[1]


def test_no_default_class() -> None:
    assert default_class([storage_class("slow"), storage_class("off", **{PLAIN: "false", VIRT: ""})]) is None
    assert default_class([]) is None
