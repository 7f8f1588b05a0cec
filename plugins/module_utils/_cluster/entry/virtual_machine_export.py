"""The module virtual_machine_export: options, results, the file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.preflight.object_keys import keys_for_expansion
from ..._resolver.refresh.export import VMExport, export_vm, manifests
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.libraries import yaml
from ..client.session import Session
from ..read.kubevirt import kubevirt
from ..read.lookup import ClusterLookup
from .argument_spec import AUTH, REQUESTS
from .outcome import ON_FAILURE, Mode, Module, Outcome, Params, TaskFailed, amount, failed_outcome
from .selection import SELECTION, check_selection, selected

Manifest = dict[str, Any]

_SPEC: dict[str, dict[str, Any]] = {
    "target_namespace": {"type": "str"},
    "run_strategy": {"type": "str", "choices": ["Always", "Halted", "Manual", "Once", "RerunOnFailure"]},
    "dest": {"type": "path"},
}


def _run(params: Params, mode: Mode) -> Outcome:
    check_selection(params)
    warnings: list[str] = []
    try:
        session = Session(params)
        vms = selected(params, session, warnings)
        exports = _exports(params, session, vms)
    except (ApiError, ConnectionFailed) as error:
        raise TaskFailed(explain(error, "LIST", BY_NAME["VirtualMachine"])) from error
    warnings += [assumption] if vms and (assumption := kubevirt(session).assumption) else []
    results = [_result(vm, export) for vm, export in zip(vms, _without_namesakes(exports))]
    documents = manifests(exports)
    result = {"changed": False, "manifests": documents, "results": results}
    failures = [(f"{entry['namespace']}/{entry['name']}", entry["msg"]) for entry in results if entry["failed"]]
    if failures:
        return failed_outcome(params, "virtual machines", failures, {**result, "manifests": []}, warnings)
    if params["dest"]:
        dest = Path(params["dest"])
        try:
            result["changed"] = _write(dest, documents, mode)
        except (OSError, UnicodeDecodeError) as error:
            message = f"dest: cannot write {dest}: {error}; name a file in an existing folder"
            raise TaskFailed(message, warnings) from error
    message = f"{amount(len(results), 'virtual machines')} in {amount(len(documents), 'manifests')}"
    return Outcome({**result, "msg": message}, warnings=warnings)


MODULE = Module({**AUTH, **SELECTION, **_SPEC, **REQUESTS, **ON_FAILURE}, _run)


def _exports(params: Params, session: Session, vms: list[Manifest]) -> list[VMExport]:
    if not vms:
        return []
    release, lookup = kubevirt(session).release, ClusterLookup(session)
    lookup.gather(key for vm in vms for key in keys_for_expansion(vm, release))
    namespace, run_strategy = params["target_namespace"] or "", params["run_strategy"] or ""
    return [export_vm(vm, lookup, release, namespace, run_strategy) for vm in vms]


def _without_namesakes(exports: list[VMExport]) -> list[VMExport]:
    """Rejects VMs of several namespaces that would have the same name in one."""
    keys = [
        (export.vm["metadata"]["namespace"], export.vm["metadata"]["name"]) if export.vm else None for export in exports
    ]
    counts = Counter(keys)
    return [
        VMExport(problem=f"another selected VM would have the same name in {key[0]}; export them separately")
        if key is not None and counts[key] > 1
        else export
        for export, key in zip(exports, keys)
    ]


def _result(vm: Manifest, export: VMExport) -> Manifest:
    result = {
        "name": vm["metadata"]["name"],
        "namespace": vm["metadata"]["namespace"],
        "revisions": {role: revision["metadata"]["name"] for role, revision in export.revisions.items()},
        "failed": bool(export.problem),
    }
    return {**result, "msg": export.problem} if export.problem else result


def _write(dest: Path, documents: list[Manifest], mode: Mode) -> bool:
    """Writes the file; False if it is unchanged. Raises OSError and UnicodeDecodeError.

    A new file is private, because cloud-init data may contain passwords.
    """
    text = yaml.safe_dump_all(documents, sort_keys=False, width=120)
    if dest.exists() and dest.read_text(encoding="utf-8") == text:
        return False
    if not mode.check:
        with TemporaryDirectory() as folder:
            temporary = Path(folder, "manifests.yml")
            temporary.write_text(text, encoding="utf-8")
            # replace_file keeps the mode of an existing file.
            dest.touch(0o600)
            mode.replace_file(str(temporary), str(dest))
    return True
