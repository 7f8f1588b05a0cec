"""Refusals of CDI's webhooks; tests/boot_sources has the answers of CDI's own code to 144 objects."""

from copy import deepcopy
from typing import Any

import pytest

from plugins.module_utils._boot_sources.cdi_webhooks import (
    WebhookRefusal,
    data_import_cron_refusal,
    data_volume_refusal,
)
from plugins.module_utils._resolver.api.errors import Cause

Manifest = dict[str, Any]

STORAGE = {"resources": {"requests": {"storage": "1Gi"}}}
SECRET = {"secretRef": "s"}
VDDK = {"uuid": "u", "backingFile": "f", "thumbprint": "t", **SECRET}
POPULATOR = {"apiGroup": "a", "kind": "K", "name": "n", "namespace": "other"}
CHECKPOINTS = [{"previous": "", "current": "a"}]


def volume(**fields: Any) -> Manifest:
    fields = {"source": {"registry": {"url": "docker://x/y"}}, "storage": STORAGE, **fields}
    spec = {name: value for name, value in fields.items() if value is not None}
    return {"metadata": {"name": "golden", "namespace": "shop"}, "spec": deepcopy(spec)}


def cron(template: Manifest | None = None, **spec: Any) -> Manifest:
    fields = {"managedDataSource": "fedora", "schedule": "@daily", "template": template or volume(), **spec}
    return {"metadata": {"name": "fedora", "namespace": "shop"}, "spec": deepcopy(fields)}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"source": {"http": {"url": "https://x", "checksum": "md5"}}}, ["Invalid checksum format: invalid checksum"]),
        ({"source": {"vddk": {**VDDK, "url": ""}}}, ["spec.source source URL is empty"]),
        ({"source": {"imageio": {"url": "x", "diskId": "1", **SECRET}}}, ["requires CertConfigMap or Insecure"]),
        (
            {"source": {"imageio": {"url": "x", "diskId": "1", "insecureSkipVerify": True, **SECRET}}},
            ["Invalid source URL: x"],
        ),
        ({"source": {"registry": {"imageStream": "s", "pullMethod": "node"}}}, []),
        ({"source": {"blank": {}}, "contentType": "archive"}, ["cannot be blank and the contentType be archive"]),
        ({"source": None, "sourceRef": {"name": "x"}}, ["Missing sourceRef kind"]),
        ({"source": None, "sourceRef": {"kind": "DataSource"}}, ["Missing sourceRef name"]),
        (
            {"source": None, "storage": {**STORAGE, "dataSource": POPULATOR, "dataSourceRef": POPULATOR}},
            ["DataSourceRef and DataSource must match", "Invalid value: DataSourceRef namespace not supported"],
        ),
    ],
)
def test_causes_of_a_refusal(fields: Manifest, expected: list[str]) -> None:
    refusal = data_volume_refusal(volume(**fields))
    causes = refusal.causes if refusal is not None else ()
    assert len(causes) == len(expected)
    assert all(text in cause.message for text, cause in zip(expected, causes))


@pytest.mark.parametrize(
    ("amount", "expected"), [("x", "quantities must match"), ("1Kim", "unable to parse quantity's suffix")]
)
def test_unreadable_size_is_a_bad_request(amount: str, expected: str) -> None:
    unreadable = volume(storage={"resources": {"requests": {"storage": amount}, "limits": {}}})
    for refusal in (data_volume_refusal(unreadable), data_import_cron_refusal(cron(unreadable))):
        assert refusal is not None and (refusal.code, refusal.causes) == (400, ()) and expected in refusal.message


@pytest.mark.parametrize(
    ("new", "old", "accepted"),
    [
        (
            {"storage": {"resources": {"requests": {"storage": "1024Mi"}}, "accessModes": []}, "contentType": ""},
            {},
            True,
        ),
        ({"preallocation": False}, {}, False),
        ({"source": {"registry": {"url": "docker://x/y", "secretRef": ""}}}, {}, False),
        # An import in several stages takes new checkpoints.
        ({"checkpoints": CHECKPOINTS}, {}, False),
        (
            {"source": {"vddk": {**VDDK, "url": "https://x"}}, "checkpoints": CHECKPOINTS, "finalCheckpoint": True},
            {"source": {"vddk": {**VDDK, "url": "https://x"}}},
            True,
        ),
    ],
)
def test_only_another_spelling_of_a_spec_is_accepted(new: Manifest, old: Manifest, accepted: bool) -> None:
    text = " Cannot update DataVolume Spec"
    changed = WebhookRefusal(422, text, (Cause("FieldValueDuplicate", text.strip(), "DataVolume.Spec"),))
    assert data_volume_refusal(volume(**new), volume(**old)) == (None if accepted else changed)


def test_data_import_crons_are_checked() -> None:
    assert data_import_cron_refusal(cron(schedule="")) is None
    refusal = data_import_cron_refusal(cron(managedDataSource=""))
    assert refusal is not None and refusal.message == " Illegal ManagedDataSource value"


@pytest.mark.parametrize(("length", "refused"), [(31, False), (32, True)])
def test_length_of_a_name_is_in_bytes(length: int, refused: bool) -> None:
    named = {**cron(), "metadata": {"name": "é" * length}}
    assert (data_import_cron_refusal(named) is not None) == refused
