"""The module estate_info on files and addresses."""

from pathlib import Path
from typing import Any

from plugins.module_utils._cluster.task import Task
from plugins.module_utils._estate.cluster.estate_info import MODULE

DEFAULTS: dict[str, Any] = {
    "kind": "auto",
    "attributes": [],
    "objects": [],
    "namespace": None,
    "existing": False,
    "source_username": None,
    "source_password": None,
    "source_ca_cert": None,
    "source_validate_certs": True,
}


def run(source: Path | str, **options: Any) -> tuple[dict[str, Any], Task]:
    task = Task()
    result = MODULE.run({**DEFAULTS, "source": str(source), **options}, task)
    return {"failed": False, **result}, task


def refusal(source: Path | str, **options: Any) -> str:
    result, _task = run(source, **options)
    assert result["failed"]
    return str(result["msg"])
