"""Plans: what is a change and what is not."""

from __future__ import annotations

import copy
from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver import ownership, plan

MANIFEST = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachineClusterInstancetype",
    "metadata": {"name": "web", "labels": {"team": "a"}},
    "spec": {"cpu": {"guest": 2}, "memory": {"guest": "1Gi"}},
}
OWNER = set(ownership.declared(MANIFEST))


def live(**spec: Any) -> dict[str, Any]:
    result = copy.deepcopy(MANIFEST)
    result["metadata"].update(resourceVersion="7", uid="u", generation=1)
    result["spec"].update(spec)
    return result


def test_a_missing_object_is_created() -> None:
    made = plan.present(MANIFEST, None, None)
    assert (made.action, made.before) == (plan.CREATE, {})
    assert made.after == {"metadata": {"labels": {"team": "a"}}, "spec": MANIFEST["spec"]}


def test_the_same_by_meaning_is_unchanged() -> None:
    assert plan.present(MANIFEST, live(memory={"guest": "1024Mi"}), OWNER).action == plan.NONE


def test_a_different_value_is_a_change_and_shows_only_itself() -> None:
    made = plan.present(MANIFEST, live(cpu={"guest": 4}), OWNER)
    assert made.action == plan.APPLY
    assert (made.before, made.after) == ({"spec": {"cpu": {"guest": 4}}}, {"spec": {"cpu": {"guest": 2}}})


def test_a_field_that_we_declared_once_is_a_change() -> None:
    made = plan.present(MANIFEST, live(schedulerName="old"), OWNER | {("spec", "schedulerName")})
    assert (made.action, made.before, made.after) == (plan.APPLY, {"spec": {"schedulerName": "old"}}, {})


def test_a_field_of_somebody_else_is_none() -> None:
    assert plan.present(MANIFEST, live(schedulerName="theirs"), OWNER).action == plan.NONE


def test_an_object_that_we_never_applied_is_taken_over() -> None:
    made = plan.present(MANIFEST, live(), None)
    assert (made.action, made.before, made.after) == (plan.APPLY, {}, {})


def test_an_unclaimed_field_is_claimed() -> None:
    assert plan.present(MANIFEST, live(), OWNER - {("spec", "cpu", "guest")}).action == plan.APPLY


def test_an_unknown_field_is_compared_as_it_is() -> None:
    manifest = copy.deepcopy(MANIFEST)
    manifest["spec"]["future"] = {"a": 1}  # type: ignore[index]
    owner = set(ownership.declared(manifest))
    assert plan.present(manifest, live(future={"a": 1}), owner).action == plan.NONE
    assert plan.present(manifest, live(future={"a": 2}), owner).action == plan.APPLY


def test_an_empty_object_only_says_that_there_is_one() -> None:
    manifest = {
        "kind": "VirtualMachine",
        "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"domain": {"devices": {}}}}},
    }
    filled = copy.deepcopy(manifest)
    filled["spec"]["template"]["spec"]["domain"]["devices"] = {"rng": {}}  # type: ignore[index]
    assert plan.present(manifest, filled, set(ownership.declared(manifest))).action == plan.NONE


def test_an_object_that_is_emptied_is_told_apart() -> None:
    def devices(**fields: Any) -> dict[str, Any]:
        spec = {"template": {"spec": {"domain": {"devices": fields}}}}
        return {"kind": "VirtualMachine", "metadata": {"name": "web"}, "spec": spec}

    path = ("spec", "template", "spec", "domain", "devices")
    both = devices(disks=[{"name": "a"}], rng={})
    owner = set(ownership.declared(both))
    assert plan.present(devices(), both, owner).emptied == ((*path, "disks"), (*path, "rng"))
    # With something of somebody else in it, it does not become empty.
    assert plan.present(devices(), both, owner - {(*path, "rng")}).emptied == ()
    assert plan.present(devices(rng={}), both, owner).emptied == ()


def test_absent() -> None:
    assert plan.absent(MANIFEST, None).action == plan.NONE
    made = plan.absent(MANIFEST, live())
    assert (made.action, made.after) == (plan.DELETE, {})
    assert made.before["spec"] == MANIFEST["spec"]
