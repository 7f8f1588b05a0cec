"""The export of VMs by the module virtual_machine_info. The code is imported when a task asks for it."""

from __future__ import annotations

from typing import Any, Final

from ..._cluster.modules.results import counted_noun, summarize_failures
from ..._cluster.modules.virtual_machine_info import Addition, Asked

_OPTIONS: Final[dict[str, Any]] = {
    "export": {
        "type": "dict",
        "options": {
            "target_namespace": {"type": "str"},
            "run_strategy": {"type": "str", "choices": ["Always", "Halted", "Manual", "Once", "RerunOnFailure"]},
        },
    },
}


def _add(asked: Asked) -> None:
    from ..export import VMExport, export_vms, manifests

    vms, result, options = asked.vms, asked.result, asked.params["export"]
    exports: list[VMExport] = []
    if vms:
        place, run_strategy = options["target_namespace"] or "", options["run_strategy"] or ""
        exports = export_vms(((vm.vm, vm.cluster.objects) for vm in vms), vms[0].cluster.release, place, run_strategy)
    for shown, export in zip(result["virtual_machines"], exports):
        names = {matcher_field: revision["metadata"]["name"] for matcher_field, revision in export.revisions.items()}
        shown["export"] = {"problem": export.problem} if export.problem else {"revisions": names}
    failures = [(vm.label, export.problem) for vm, export in zip(vms, exports) if export.problem]
    result["manifests"] = [] if failures else manifests(exports)
    if failures:
        count = f"{len(failures)} of {counted_noun(len(vms), 'virtual machines')} cannot be exported"
        result.update(msg=f"{count}: {summarize_failures(failures)[0]}", failed=True)


EXPORT: Final = Addition(_add, options=_OPTIONS, needs_names=True)
