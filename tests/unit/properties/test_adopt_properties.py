"""Any VM that was expanded, and so has CPU, memory and devices of its own, is adopted with the same VMI.

The VMI is compared as KubeVirt creates it, with the defaults of the VMI's webhook, and not as `adopt` does it.
"""

import copy
from typing import Any

from hypothesis import assume, event, given
from hypothesis import strategies as st
from objects import INSTANCETYPES, PREFERENCES, TEMPLATES

from plugins.module_utils._adoption import adopt
from plugins.module_utils._resolver.api import schema
from plugins.module_utils._resolver.api.errors import value_or_none
from plugins.module_utils._resolver.api.matcher import MATCHER_FIELDS
from plugins.module_utils._resolver.api.quantity import parse
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.admission import validate
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype import lookup
from plugins.module_utils._resolver.kubevirt.vm import expand, vmi
from plugins.module_utils._resolver.kubevirt.vm.vmi_defaults import set_vmi_defaults

Spec = dict[str, Any]

NAMES = {
    name for matcher_field in MATCHER_FIELDS for name in (matcher_field.annotation, matcher_field.cluster_annotation)
}
# The sizes of guests; a VM of others is refused.
SIZES = st.builds(
    lambda cpu, memory: {"cpu": {"guest": cpu}, "memory": {"guest": memory}},
    st.sampled_from([1, 2, 4, 12]),
    st.sampled_from(["512Mi", "2Gi", "3G"]),
)


def sized(spec: Spec, size: Spec) -> Spec:
    return {**spec, **{part: {**(spec.get(part) or {}), **size[part]} for part in size}}


def is_allowed(vm: Spec, objects: lookup.Objects) -> bool:
    return validate.virtual_machine(schema.canonical("VirtualMachine", vm), Cluster(objects)).allowed


def created(vm: Spec, objects: lookup.Objects) -> Spec | None:
    """The VMI of a VM, or None where KubeVirt creates none."""
    built = value_or_none(vmi.build, vm, Cluster(objects))
    if built is None:
        return None
    annotations = {key: value for key, value in (built.metadata.get("annotations") or {}).items() if key not in NAMES}
    set_vmi_defaults(built.spec, KubeVirt(NEWEST))
    domain = built.spec["domain"]
    # An absent number is 1, and a request for just the guest's memory asks for no more than none does.
    for count in ("cores", "threads"):
        domain["cpu"].setdefault(count, 1)
    requests = domain["resources"].get("requests", {})
    if requests.get("memory") == domain["memory"].get("guest") and "memory" not in domain["resources"].get(
        "limits", {}
    ):
        requests.pop("memory", None)
    if not requests:
        domain["resources"].pop("requests", None)
    return {"annotations": annotations, "spec": built.spec}


def vm_of(template: Spec, **matchers: Spec) -> Spec:
    metadata = {"name": "web", "namespace": "shop", "uid": "1", "generation": 1}
    return {"metadata": metadata, "spec": {"runStrategy": "Always", "template": template, **matchers}}


@given(TEMPLATES, INSTANCETYPES, SIZES, PREFERENCES, st.booleans())
def test_an_expanded_vm_is_adopted(
    template: Spec, instancetype: Spec, size: Spec, preference: Spec, both: bool
) -> None:
    instancetypes = [
        {"kind": "VirtualMachineClusterInstancetype", "metadata": {"name": "it"}, "spec": sized(instancetype, size)}
    ]
    preferences = [{"kind": "VirtualMachineClusterPreference", "metadata": {"name": "pref"}, "spec": preference}]
    objects = lookup.Objects([*instancetypes, *preferences])
    matchers = {"instancetype": {"name": "it"}, **({"preference": {"name": "pref"}} if both else {})}
    original = vm_of(template, **matchers)
    assume(is_allowed(original, objects))
    expanded = value_or_none(expand.expand, original, Cluster(objects))
    assume(expanded is not None)
    assert expanded is not None
    explicit = vm_of(expanded["spec"]["template"])
    before = created(explicit, objects)
    # Some preferences have their say twice, before and after KubeVirt adds devices; expanding knows of once.
    same = before is not None and before == created(original, objects)
    event("the same when expanded" if same else "another when expanded")
    given_vm = copy.deepcopy(explicit)
    result = adopt.adopt(explicit, instancetypes, preferences, Cluster(objects, KubeVirt(NEWEST)))
    assert explicit == given_vm
    if same:
        assert result.chosen is not None
    if result.chosen is None:
        return
    chosen = result.chosen
    event("with a preference" if chosen.preference else "without a preference")
    assert chosen.differences == ()
    assert created(chosen.vm, objects) == before
    assert is_allowed(chosen.vm, objects)
    # The rest of the manifest was there before, and a second look finds nothing to adopt.
    assert part_of(chosen.vm["spec"]["template"], explicit["spec"]["template"])
    assert "memory" not in chosen.removed and "domain.memory.guest" in chosen.removed
    schema.canonical("VirtualMachine", chosen.vm)


def part_of(one: Any, other: Any) -> bool:
    """Whether everything in one is in the other at the same place."""
    if isinstance(one, dict):
        return isinstance(other, dict) and all(
            key in other and part_of(value, other[key]) for key, value in one.items()
        )
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(part_of, one, other))
    return bool(one == other)


@given(st.lists(SIZES, min_size=1, max_size=4), SIZES, st.sampled_from(["sockets", "cores"]), st.booleans())
def test_no_proposal_is_smaller_than_the_guest(types: list[Spec], size: Spec, count: str, windows: bool) -> None:
    manifests = [
        {"kind": "VirtualMachineClusterInstancetype", "metadata": {"name": f"t{place}"}, "spec": item}
        for place, item in enumerate(types)
    ]
    vcpus, memory = size["cpu"]["guest"], size["memory"]["guest"]
    domain = {"devices": {}, "cpu": {count: vcpus}, "memory": {"guest": memory}}
    annotations = {"vm.kubevirt.io/os": "windows10"} if windows else {}
    vm = vm_of({"metadata": {"annotations": annotations}, "spec": {"domain": domain}})
    result = adopt.adopt(vm, manifests, None, Cluster(lookup.Objects(manifests)))
    for candidate in filter(None, (result.chosen, *result.nearest)):
        after = created(candidate.vm, lookup.Objects(manifests))
        assert after is not None
        cpu = after["spec"]["domain"]["cpu"]
        limit = 2 if windows else vcpus + cpu["sockets"]
        used = vcpus if count == "cores" else min(vcpus, limit)
        assert min(cpu["sockets"], limit) * cpu["cores"] * cpu["threads"] >= used
        assert parse(after["spec"]["domain"]["memory"]["guest"]).value >= parse(memory).value
