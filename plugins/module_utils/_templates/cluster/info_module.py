"""The module virtual_machine_template_info: options and results."""

from __future__ import annotations

from typing import Any

from ..._cluster.modules.module import Module, Params, Result
from ..._cluster.modules.results import counted_noun
from ..._cluster.modules.shared_options import AUTH, REQUESTS
from ..._cluster.reads.snapshot import unmatched
from ..._cluster.task import Task
from ..._resolver.api.kinds import KINDS
from ..._resolver.secrets.redaction import redact
from ..declared import findings

_SPEC: dict[str, dict[str, Any]] = {
    "namespace": {"type": "str"},
    "names": {"type": "list", "elements": "str", "aliases": ["name"]},
}


def _run(params: Params, task: Task) -> Result:
    names, session = params["names"], task.connect(params)
    live = session.list(KINDS["VirtualMachineTemplate"], params["namespace"])
    templates = sorted(map(_template_result, live), key=lambda template: (template["namespace"], template["name"]))
    templates = [template for template in templates if names is None or template["name"] in names]
    missing = sorted(set(names or ()) - {template["name"] for template in templates})
    if missing or not templates:
        task.warnings += filter(None, [unmatched(session, params["namespace"], "virtual machine template", missing)])
    message = counted_noun(len(templates), "virtual machine templates")
    return {"changed": False, "msg": message, "virtual_machine_templates": templates}


def _template_result(live: dict[str, Any]) -> dict[str, Any]:
    metadata, (spec, _spec) = live["metadata"], redact(live["spec"], live["spec"])
    return {
        "name": metadata["name"],
        "namespace": metadata["namespace"],
        "labels": metadata.get("labels") or {},
        "parameters": spec.get("parameters") or [],
        "message": spec.get("message") or "",
        "virtual_machine": spec.get("virtualMachine"),
        "findings": findings(live),
    }


MODULE = Module({**AUTH, **REQUESTS, **_SPEC}, _run)
