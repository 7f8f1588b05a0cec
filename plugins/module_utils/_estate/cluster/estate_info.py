"""The module estate_info."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from ..._cluster.client.errors import TaskFailed
from ..._cluster.modules.module import Module, Params, Result
from ..._cluster.modules.results import counted_noun
from ..._cluster.modules.shared_options import AUTH, REQUESTS
from ..._cluster.task import Task
from ..machine import without_templates
from . import files, live

_KINDS: Final = ["auto", "rvtools", "vsphere", "openstack", "proxmox", "kubevirt"]
# A remark is a line; the first ones show what is wrong with a file.
_MOST_REMARKS: Final = 1000

_SPEC: dict[str, dict[str, Any]] = {
    "source": {"type": "str", "required": True},
    "kind": {"type": "str", "choices": _KINDS, "default": "auto"},
    "attributes": {"type": "list", "elements": "str", "default": []},
    "objects": {"type": "list", "elements": "dict", "default": []},
    "namespace": {"type": "str"},
    "existing": {"type": "bool", "default": False},
    "source_username": {"type": "str"},
    "source_password": {"type": "str", "no_log": True},
    "source_ca_cert": {"type": "path"},
    "source_validate_certs": {"type": "bool", "default": True},
}


def _run(params: Params, task: Task) -> Result:
    source, kind = params["source"], params["kind"]
    path, platform = Path(source).expanduser(), live.kind_of(source)
    if not platform and not path.exists():
        raise TaskFailed(f"source: {path}: no such file or folder")
    others: list[str] = []
    if kind == "auto":
        kind, *others = [platform] if platform else files.kinds_of(path)
    reading = live.read(kind, params) if platform else files.read(kind, path, params["attributes"], params["objects"])
    if others:
        reading.remarks.insert(
            0, f"{path}: has files of {', '.join(others)} too, which do not count; name it with kind"
        )
    if not reading.machines:
        why = f": {reading.remarks[0]}" if reading.remarks else ""
        problem = f"source: {source}: has no machine{why}"
        if platform != "kubevirt":
            raise TaskFailed(problem, left_out=dict(reading.left_out))
        task.report_missing(problem)
    if reading.remarks:
        count = counted_noun(len(reading.remarks), "remarks")
        task.warnings.append(f"{count} on {source}; the first: {reading.remarks[0]}")
    result: Result = {
        "machines": reading.machines,
        "remarks": reading.remarks[:_MOST_REMARKS],
        "left_out": reading.left_out,
    }
    if params["existing"]:
        session = task.connect(params)
        result["existing"] = live.existing(session, task)
        result.update(live.names_on_cluster(session, task))
    return {"changed": False, "kind": kind, **without_templates(result)}


MODULE = Module({**AUTH, **_SPEC, **REQUESTS}, _run)
