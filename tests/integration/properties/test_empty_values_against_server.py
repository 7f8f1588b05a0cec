"""A declared empty value is refused, or the second run is unchanged: every field of the schema, on the API server.

Each object is applied as a dry run. The server answers with what it would store, and who would own it: what a second
run sees.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from kubernetes import config, dynamic

from empty_values import Case, cases
from plugins.module_utils._resolver.api import managed_fields
from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.declare import instancetypes as manifests
from plugins.module_utils._resolver.declare import plan, virtual_machine
from plugins.module_utils._resolver.declare.vm.manifest import manifest

Manifest = dict[str, Any]
Reconcile = Callable[[Manifest, "Manifest | None"], "tuple[Manifest, set[managed_fields.FieldPath] | None]"]

ROOT = {"name": "root", "container_disk": "registry.example.com/disk:1"}
DEFAULT_NETWORK = {"networks": [{"name": "default", "pod": {}}]}
DEFAULT_INTERFACE = {"domain": {"devices": {"interfaces": [{"name": "default", "masquerade": {}}]}}}
NEW_DISK = {"volumes": [{"name": "x", "dataVolume": {"name": "x"}}]}


def _vm(case: Case) -> Manifest:
    # A second option with what the field refers to; the manifest merges both.
    beside: Manifest = {}
    if case.path.startswith("dataVolumeTemplates.[]."):
        beside = NEW_DISK
    elif ".interfaces.[]." in case.path:
        beside = DEFAULT_NETWORK
    elif ".networks.[]." in case.path:
        beside = DEFAULT_INTERFACE
    options = {"name": "web", "namespace": "", "run_strategy": "Halted", "memory": "1Gi", "volumes": [ROOT]}
    if case.path.startswith("template"):
        beside = {"template": {"spec": beside}} if beside else {}
        return manifest({**options, "spec": case.spec, **beside})
    return manifest({**options, "spec": case.spec, "template": {"spec": beside}})


def _as_vm(desired: Manifest, live: Manifest | None) -> tuple[Manifest, set[managed_fields.FieldPath] | None]:
    return virtual_machine.with_live_values(desired, live, "virtshape")[:2]


def _as_is(desired: Manifest, live: Manifest | None) -> tuple[Manifest, set[managed_fields.FieldPath] | None]:
    return desired, managed_fields.applied_fields(live, "virtshape") if live is not None else None


KINDS: dict[str, tuple[str, str, Callable[[Case], Manifest], Reconcile]] = {
    "VirtualMachine": ("kubevirt.io/v1", "VirtualMachineSpec", _vm, _as_vm),
    "VirtualMachineInstancetype": (
        "instancetype.kubevirt.io/v1beta1",
        "VirtualMachineInstancetypeSpec",
        lambda case: manifests.instancetype({"name": "web", "namespace": "x", "spec": case.spec}),
        _as_is,
    ),
    "VirtualMachinePreference": (
        "instancetype.kubevirt.io/v1beta1",
        "VirtualMachinePreferenceSpec",
        lambda case: manifests.preference({"name": "web", "namespace": "x", "spec": case.spec}),
        _as_is,
    ),
}


@pytest.fixture
def api(cluster: Path) -> Iterator[Any]:
    with config.new_client_from_config(str(cluster)) as connection:
        yield dynamic.DynamicClient(connection)


@pytest.mark.parametrize("kind", KINDS)
def test_declared_empty_values_are_unchanged_or_refused(api: Any, namespace: str, kind: str) -> None:
    version, spec_type, build, reconcile = KINDS[kind]
    resource = api.resources.get(api_version=version, kind=kind)

    def judged(case: Case) -> str:
        try:
            desired = build(case)
        except FieldError:
            return "refused here"
        desired["metadata"]["namespace"] = namespace
        first, _owned = reconcile(desired, None)
        try:
            live = resource.patch(
                json.dumps(first),
                "web",
                namespace,
                content_type="application/apply-patch+yaml",
                field_manager="virtshape",
                dry_run="All",
            ).to_dict()
        except dynamic.exceptions.DynamicApiError as error:
            assert error.status in (400, 403, 422, 500), error
            return "refused by the server"
        second, owned = reconcile(desired, live)
        return plan.present(second, live, owned, "virtshape").action

    with ThreadPoolExecutor(8) as threads:
        found = list(zip(cases(spec_type), threads.map(judged, cases(spec_type))))
    changed = [(case.path, case.value) for case, action in found if action not in ("none", *REFUSED)]
    assert changed == []
    # The server has judged many of them, and refused but some.
    assert Counter(action for _case, action in found)["none"] > len(found) / 10


REFUSED = ("refused here", "refused by the server")
