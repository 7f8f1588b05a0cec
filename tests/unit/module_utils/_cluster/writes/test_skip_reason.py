"""Instancetypes and preferences of others stay as they are."""

from typing import Any

import pytest

from plugins.module_utils._cluster.writes.catalog_objects import skip_reason

FIELDS = {"f:spec": {"f:cpu": {"f:guest": {}}}}


def live(manager: str = "kubectl", operation: str = "Update", **labels: str) -> dict[str, Any]:
    entry = {"manager": manager, "operation": operation, "fieldsType": "FieldsV1", "fieldsV1": FIELDS}
    return {"metadata": {"name": "u1.small", "labels": labels, "managedFields": [entry]}}


@pytest.mark.parametrize("existing", ["apply", "keep"])
@pytest.mark.parametrize("manifest", [live("virt-operator"), live(**{"app.kubernetes.io/managed-by": "virt-operator"})])
def test_objects_of_virt_operator_are_skipped(manifest: dict[str, Any], existing: str) -> None:
    assert "virt-operator" in str(skip_reason(manifest, existing))


def test_foreign_objects_are_skipped_with_existing_keep() -> None:
    assert skip_reason(live(), "apply") is None
    assert skip_reason(live(), "keep") == "the object exists and was not declared by this collection"
    assert skip_reason(live("virtshape", "Apply"), "keep") is None
