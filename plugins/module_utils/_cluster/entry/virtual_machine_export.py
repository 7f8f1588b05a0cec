"""The module virtual_machine_export."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.refresh.export import VMExport, manifests
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.libraries import yaml
from ..client.session import Session
from ..read.export import export
from ..read.kubevirt import kubevirt
from .ansible_edge import last_net, make_module
from .argument_spec import AUTH, REQUESTS
from .ending import ON_FAILURE, amount, fail
from .selection import SELECTION, named, selection

_SPEC: dict[str, dict[str, Any]] = {
    "target_namespace": {"type": "str"},
    "run_strategy": {"type": "str", "choices": ["Always", "Halted", "Manual", "Once", "RerunOnFailure"]},
    "dest": {"type": "path"},
}


@last_net
def run_export() -> None:
    """The module virtual_machine_export."""
    module = make_module(argument_spec={**AUTH, **SELECTION, **_SPEC, **REQUESTS, **ON_FAILURE})
    options = selection(module)
    try:
        session = Session(options)
        vms = named(module, session)
        found = export(session, vms, options["target_namespace"] or "", options["run_strategy"] or "")
    except (ApiError, ConnectionFailed) as error:
        module.fail_json(msg=explain(error, "LIST", BY_NAME["VirtualMachine"]))
    if found and (doubt := kubevirt(session).doubt):
        module.warn(doubt)
    results = [_tell(vm, one) for vm, one in zip(vms, _without_namesakes(found))]
    made = manifests(found)
    outcome = {"changed": False, "manifests": made, "results": results}
    failures = [(f"{one['namespace']}/{one['name']}", one["msg"]) for one in results if one["failed"]]
    if failures:
        fail(module, "virtual machines", failures, len(results), {**outcome, "manifests": []})
    if options["dest"]:
        outcome["changed"] = _write(module, Path(options["dest"]), made)
    module.exit_json(msg=f"{amount(len(results), 'virtual machines')} in {amount(len(made), 'manifests')}", **outcome)


def _without_namesakes(found: list[VMExport]) -> list[VMExport]:
    """Rejects VMs of several namespaces that would have the same name in one."""
    places = [(one.vm["metadata"]["namespace"], one.vm["metadata"]["name"]) if one.vm else None for one in found]
    counts = Counter(places)
    return [
        VMExport(problem=f"another selected VM would have the same name in {place[0]}; export them separately")
        if place is not None and counts[place] > 1
        else one
        for one, place in zip(found, places)
    ]


def _tell(vm: dict[str, Any], one: VMExport) -> dict[str, Any]:
    told = {
        "name": vm["metadata"]["name"],
        "namespace": vm["metadata"]["namespace"],
        "revisions": {role: kept["metadata"]["name"] for role, kept in one.revisions.items()},
        "failed": bool(one.problem),
    }
    return {**told, "msg": one.problem} if one.problem else told


def _write(module: Any, dest: Path, made: list[dict[str, Any]]) -> bool:
    """Writes the file; False if it is unchanged.

    A new file is private, because cloud-init data may contain passwords.
    """
    text = yaml.safe_dump_all(made, sort_keys=False, width=120)
    try:
        if dest.exists() and dest.read_text(encoding="utf-8") == text:
            return False
        if not module.check_mode:
            with TemporaryDirectory() as folder:
                temporary = Path(folder, "manifests.yml")
                temporary.write_text(text, encoding="utf-8")
                # atomic_move keeps the mode of an existing file.
                dest.touch(0o600)
                module.atomic_move(str(temporary), str(dest))
    except (OSError, UnicodeDecodeError) as error:
        module.fail_json(msg=f"dest: cannot write {dest}: {error}; name a file in an existing folder")
    return True
