"""Applying and expanding any VM with any instancetype and preference."""

import copy
import json
from typing import Any

from hypothesis import assume, event, given
from hypothesis import strategies as st
from kubevirt_failures import failure
from objects import INSTANCETYPES, PREFERENCES, TEMPLATES

from plugins.module_utils._resolver.api import schema
from plugins.module_utils._resolver.api.errors import KubeVirtError, Panic, value_or_none
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype import applier, lookup
from plugins.module_utils._resolver.kubevirt.instancetype.conflict import ConflictError
from plugins.module_utils._resolver.kubevirt.vm import expand
from plugins.plugin_utils._filter_functions import _field_sources

Spec = dict[str, Any]


def applied(template: Spec, instancetype: Spec | None, preference: Spec | None) -> Spec | KubeVirtError:
    try:
        result: Spec | KubeVirtError = applier.apply(template, instancetype, preference)
    except KubeVirtError as error:
        result = error
    event(type(result).__name__)
    return result


@given(TEMPLATES, INSTANCETYPES | st.none(), PREFERENCES | st.none())
def test_apply_gives_one_result_and_keeps_inputs(
    template: Spec, instancetype: Spec | None, preference: Spec | None
) -> None:
    before = copy.deepcopy((template, instancetype, preference))
    result = applied(template, instancetype, preference)
    assert (template, instancetype, preference) == before
    if isinstance(result, KubeVirtError):
        assert isinstance(result, (ConflictError, Panic))
    else:
        assert json.loads(json.dumps(result)) == result
        assert schema.canonical("VirtualMachineInstanceTemplateSpec", result) == result


@given(TEMPLATES, INSTANCETYPES)
def test_applying_an_instancetype_twice_conflicts(template: Spec, instancetype: Spec) -> None:
    """The first time it sets the topology and the guest's memory, which then are the VM's own."""
    once = applied(template, instancetype, None)
    assume(isinstance(once, dict))
    again = failure(applier.apply, once, instancetype, None)
    assert isinstance(again, ConflictError) and "domain.memory.guest" in again.conflicts


@given(TEMPLATES, PREFERENCES)
def test_applying_a_preference_is_idempotent(template: Spec, preference: Spec) -> None:
    """KubeVirt makes one exception: beside preferredEfi the deprecated secure boot only has its say once the VM has an
    EFI, so the second time."""
    assume("preferredUseSecureBoot" not in (preference.get("firmware") or {}))
    once = applied(template, None, preference)
    assume(isinstance(once, dict))
    assert isinstance(once, dict) and applier.apply(once, None, preference) == once


@given(TEMPLATES)
def test_nothing_applied_is_the_canonical_form(template: Spec) -> None:
    expected = schema.canonical("VirtualMachineInstanceTemplateSpec", template)
    if not expected["spec"].get("nodeSelector", True):
        del expected["spec"]["nodeSelector"]
    assert applied(template, None, None) == expected


def cluster(instancetype: Spec, preference: Spec) -> lookup.Objects:
    return lookup.Objects(
        [
            {"kind": "VirtualMachineClusterInstancetype", "metadata": {"name": "it"}, "spec": instancetype},
            {"kind": "VirtualMachineClusterPreference", "metadata": {"name": "pref"}, "spec": preference},
        ]
    )


@given(TEMPLATES, INSTANCETYPES, PREFERENCES, st.sampled_from(["it", "pref", "both"]))
def test_expanding_an_expanded_vm_changes_nothing(
    template: Spec, instancetype: Spec, preference: Spec, matchers: str
) -> None:
    spec: Spec = {"template": template}
    if matchers != "pref":
        spec["instancetype"] = {"name": "it"}
    if matchers != "it":
        spec["preference"] = {"name": "pref"}
    objects = cluster(instancetype, preference)
    expanded = value_or_none(expand.expand, {"metadata": {"name": "web"}, "spec": spec}, Cluster(objects))
    event("expanded" if expanded is not None else "error")
    assume(expanded is not None)
    assert expanded is not None
    assert expand.expand(expanded, Cluster(objects)) == expanded
    # And the defaults are all there: giving them again adds nothing.
    again = schema.canonical("VirtualMachineInstanceTemplateSpec", expanded["spec"]["template"])
    expand.apply_defaults(again, None, None, KubeVirt(NEWEST))
    assert again == expanded["spec"]["template"]


@given(TEMPLATES, INSTANCETYPES | st.none(), PREFERENCES | st.none())
def test_explanation_lists_every_field_once_with_its_source(
    template: Spec, instancetype: Spec | None, preference: Spec | None
) -> None:
    if instancetype is not None:
        instancetype = schema.canonical("VirtualMachineInstancetypeSpec", instancetype)
    if preference is not None:
        preference = schema.canonical("VirtualMachinePreferenceSpec", preference)
    try:
        rows = _field_sources.explain(template, instancetype, preference, NEWEST)
    except KubeVirtError:
        assume(False)
    fields = [row.field for row in rows]
    sources = {row.source for row in rows}
    event(", ".join(sorted(sources)))
    assert len(fields) == len(set(fields))
    assert sources <= {
        _field_sources.VM,
        *([_field_sources.INSTANCETYPE] if instancetype is not None else []),
        *([_field_sources.PREFERENCE] if preference is not None else []),
        *([_field_sources.DEFAULT] if (instancetype, preference) != (None, None) else []),
    }
    for row in rows:
        assert all(other.source != row.source or row.source == _field_sources.DEFAULT for other in row.instead_of)
