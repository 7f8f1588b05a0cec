"""Plans to which the cluster answers otherwise."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api import managed_fields
from plugins.module_utils._resolver.api.tree import copy, leaves, set_at
from plugins.module_utils._resolver.declare import answer, plan
from plugins.module_utils._resolver.declare.answer import Answered, answered

Manifest = dict[str, Any]

TEMPLATE = ("spec", "template", "spec")
EVICTION = (*TEMPLATE, "evictionStrategy")
TOLERATIONS = (*TEMPLATE, "tolerations")
INTERFACES = (*TEMPLATE, "domain", "devices", "interfaces")
HOOK = "MutatingWebhookConfiguration pool"


def vm(*fields: tuple[tuple[str, ...], Any]) -> Manifest:
    """A VM with a few fields."""
    result: Manifest = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"runStrategy": "Halted", "template": {"spec": {"domain": {"devices": {}}}}},
    }
    for field, value in fields:
        set_at(result, field, value)
    return result


def owned(manifest: Manifest, declared: Manifest, manager: str = "virtshape", operation: str = "Apply") -> Manifest:
    """An object of which a manager owns the declared fields."""
    fields: Manifest = {}
    for field in managed_fields.leaf_fields(declared):
        set_at(fields, [f"f:{key}" for key in field], {})
    entry = {"manager": manager, "operation": operation, "fieldsV1": fields}
    metadata = {**manifest["metadata"], "managedFields": [*manifest["metadata"].get("managedFields", []), entry]}
    return {**manifest, "metadata": metadata}


def turned(declared: Manifest, live: Manifest | None, answer: Manifest, **options: Any) -> Answered:
    def planned(item: Manifest | None, **more: Any) -> plan.Plan:
        fields = None if item is None else managed_fields.applied_fields(item, "virtshape")
        return plan.present(declared, item, fields, "virtshape", **more)

    return answered(planned(live, **options), live, answer, lambda: planned(answer), "virtshape")


def told(result: Answered) -> list[str]:
    return [deviation.line(HOOK) for deviation in result.deviations]


MAC = {"name": "default", "masquerade": {}, "macAddress": "02:00:00:00:00:01"}
BARE = {"name": "default", "masquerade": {}}


def test_plan_holds_where_the_answer_is_as_planned() -> None:
    declared = vm((EVICTION, "None"), (("metadata", "labels"), {"app": "web"}))
    live = {**owned(vm((EVICTION, "External")), declared), "status": {"ready": True}}
    result = turned(declared, live, owned(declared, declared))
    assert (leaves(result.plan.after)[EVICTION], result.plan.action, told(result)) == ("None", plan.APPLY, [])
    # The object before has what the answer to an apply lacks, or has twice.
    assert (result.live["status"], result.live["spec"]) == ({"ready": True}, declared["spec"])
    more = copy(declared)
    more["spec"]["template"]["spec"]["architecture"] = "amd64"
    created = turned(declared, None, owned(more, declared))
    assert (created.plan.action, created.deviations) == (plan.CREATE, ())


def test_new_object_is_planned_again_only_for_other_values() -> None:
    def never() -> plan.Plan:
        raise AssertionError("planned again")

    memory = (*TEMPLATE, "domain", "memory", "guest")
    declared = vm((memory, "2048Mi"), (TOLERATIONS, [{"key": "a"}]))
    unset = vm((memory, "2048Mi"), (TOLERATIONS, [{"key": "a"}]), (EVICTION, ""))
    step = plan.present(unset, None, None, "virtshape")
    more = vm((memory, "2048Mi"), (TOLERATIONS, [{"key": "b"}, {"key": "a"}]), (EVICTION, "External"))
    assert answered(step, None, owned(more, unset), never, "virtshape").plan.action == plan.CREATE
    with pytest.raises(AssertionError, match="planned again"):
        answered(step, None, owned(vm((memory, "4Gi"), (TOLERATIONS, [{"key": "a"}])), unset), never, "virtshape")
    for tolerations in ([{"key": "a"}], [{"key": "b"}, {"key": "a"}]):
        equal = turned(declared, None, owned(vm((memory, "2Gi"), (TOLERATIONS, tolerations)), declared))
        assert (equal.plan.action, told(equal)) == (plan.CREATE, [])
        # Where only the spelling differs, it is kept as declared.
        assert (equal.live["spec"] == declared["spec"]) is (len(tolerations) == 1)


def test_filled_in_value_is_no_change() -> None:
    declared = vm((INTERFACES, [BARE]))
    live = owned(vm((INTERFACES, [MAC])), declared)
    stamped = copy(live)
    stamped["metadata"] |= {"annotations": {"time": "now"}, "resourceVersion": "2"}
    result = turned(declared, live, stamped)
    assert (result.plan.action, result.plan.before, result.plan.after, told(result)) == (plan.NONE, {}, {}, [])
    assert result.live["metadata"]["resourceVersion"] == "2"
    assert result.live["spec"] is live["spec"]
    # Without a share in the fields before, the task becomes their owner.
    taken = turned(declared, vm((INTERFACES, [MAC])), live)
    assert (taken.plan.action, taken.plan.before, taken.plan.after) == (plan.APPLY, {}, {})


def test_takeover_is_a_change_of_owners() -> None:
    declared = vm((INTERFACES, [BARE]))
    both = owned(owned(vm((INTERFACES, [MAC])), declared), declared, "virtctl", "Update")
    ours = owned(vm((INTERFACES, [MAC])), declared)
    result = turned(declared, both, ours, take_over=lambda manager: manager == "virtctl")
    assert (result.plan.action, result.plan.taken_from, result.plan.before) == (plan.APPLY, ("virtctl",), {})


def test_new_value_at_each_write_is_told() -> None:
    declared = vm((INTERFACES, [BARE]))
    other = {**MAC, "macAddress": "02:00:00:00:00:02"}
    result = turned(declared, owned(vm((INTERFACES, [MAC])), declared), owned(vm((INTERFACES, [other])), declared))
    devices = result.plan.after["spec"]["template"]["spec"]["domain"]["devices"]
    assert (result.plan.action, devices["interfaces"][0]["macAddress"]) == (plan.APPLY, "02:00:00:00:00:02")
    assert told(result) == [
        f"spec.template.spec.domain.devices.interfaces[0].macAddress: {HOOK} sets another value at each write, so"
        " every run changes the object; declare the value"
    ]


@pytest.mark.parametrize(
    ("value", "other", "words"),
    [
        ("None", "LiveMigrate", "declared 'None', but {} makes it 'LiveMigrate'; declare that, or change what sets it"),
        ("None", None, "declared 'None', but {} removes it; do not declare it, or change what removes it"),
    ],
)
def test_overridden_value(value: str, other: str | None, words: str) -> None:
    declared = vm((EVICTION, value), (("spec", "runStrategy"), "Always"))
    there = vm((("spec", "runStrategy"), "Always"), *([(EVICTION, other)] if other else []))
    warning = f"spec.template.spec.evictionStrategy: {words.format(HOOK)}"
    created = turned(declared, None, owned(there, declared))
    shown = created.plan.after["spec"]["template"]["spec"].get("evictionStrategy")
    assert (created.plan.action, shown, told(created)) == (plan.CREATE, other, [warning])
    # The manifest stays as it is declared.
    assert created.plan.manifest["spec"]["template"]["spec"]["evictionStrategy"] == value
    same = turned(declared, owned(there, declared), owned(there, declared))
    assert (same.plan.action, told(same)) == (plan.NONE, [warning])
    some = turned(
        declared, owned({**there, "spec": {**there["spec"], "runStrategy": "Halted"}}, declared), created.live
    )
    assert (some.plan.before, some.plan.after, told(some)) == (
        {"spec": {"runStrategy": "Halted"}},
        {"spec": {"runStrategy": "Always"}},
        [warning],
    )


def test_other_manager_is_named() -> None:
    """It owns the field in the answer, and the task does not."""
    declared = vm((EVICTION, "None"))
    theirs = owned(owned(vm((EVICTION, "LiveMigrate")), vm((EVICTION, "LiveMigrate")), "argocd-controller"), vm())
    (warning,) = told(turned(declared, None, theirs))
    assert 'but the field manager "argocd-controller" makes it' in warning
    (warning,) = told(turned(declared, None, owned(theirs, vm((EVICTION, "LiveMigrate")), "flux")))
    assert '"argocd-controller"' in warning
    # Not where the task owns the field, or what it is in.
    pod: Manifest = {"spec": {"template": {"spec": {}}}}
    for ours in (declared, pod):
        both = owned(owned(vm((EVICTION, "LiveMigrate")), declared, "argocd-controller"), ours)
        assert f"but {HOOK} makes it" in told(turned(declared, None, both))[0]


def test_secrets_are_hidden() -> None:
    volume = {"name": "init", "cloudInitNoCloud": {"userData": "password: secret"}}
    other = {"name": "init", "cloudInitNoCloud": {"userData": "password: other"}}
    declared = vm(((*TEMPLATE, "volumes"), [volume]))
    texts = told(turned(declared, None, owned(vm(((*TEMPLATE, "volumes"), [other])), declared)))
    assert texts[0].startswith("spec.template.spec.volumes[0].cloudInitNoCloud.userData: declared '(hidden"), texts
    assert not any("password" in text for text in texts)


KEY = {"key": "own", "operator": "Exists"}
EXTRA = {"key": "vm", "operator": "Exists"}


def test_items_of_lists() -> None:
    declared = vm((TOLERATIONS, [KEY]))
    added = owned(vm((TOLERATIONS, [EXTRA, KEY])), declared)
    assert turned(declared, added, added).plan.action == plan.NONE
    (gone,) = told(turned(declared, None, owned(vm((TOLERATIONS, [EXTRA])), declared)))
    assert gone.startswith("spec.template.spec.tolerations[0]: declared {") and f"but {HOOK} removes it" in gone
    # An item less, of what is declared and of what is added, is a change of ours.
    fewer = turned(declared, owned(vm((TOLERATIONS, [EXTRA, KEY, {**KEY, "key": "old"}])), declared), added)
    shown = fewer.plan.after["spec"]["template"]["spec"]["tolerations"]
    assert ([item["key"] for item in shown], told(fewer)) == (["vm", "own"], [])
    assert turned(vm((TOLERATIONS, [])), None, vm()).deviations == ()


def test_value_that_is_put_back() -> None:
    declared, before = vm(), vm((EVICTION, "LiveMigrate"))
    result = turned(declared, owned(before, before), owned(before, declared))
    assert (result.plan.action, result.plan.before, result.plan.after) == (plan.APPLY, {}, {})
    assert told(result) == [
        f"spec.template.spec.evictionStrategy: no longer declared, but {HOOK} keeps it at 'LiveMigrate'"
    ]


LABEL = ("metadata", "labels", "app")


def test_label_that_is_put_back() -> None:
    before = vm((LABEL, "web"))
    kept = turned(vm(), owned(before, before), owned(before, vm()))
    assert told(kept) == [f"metadata.labels.app: no longer declared, but {HOOK} keeps it at 'web'"]
    gone = turned(vm(), owned(before, before), owned(vm(), vm()))
    assert (gone.plan.before, gone.plan.after, told(gone)) == ({"metadata": {"labels": {"app": "web"}}}, {}, [])


@pytest.mark.parametrize("other", ["a", "z"])
def test_label_that_is_overridden(other: str) -> None:
    """The plan changes something else."""
    declared = vm((LABEL, "web"), (EVICTION, "None"))
    live = owned(vm((LABEL, "web"), (EVICTION, "External")), declared)
    result = turned(declared, live, owned(vm((LABEL, other), (EVICTION, "None")), declared))
    assert told(result) == [
        f"metadata.labels.app: declared 'web', but {HOOK} makes it '{other}'; declare that, or change what sets it"
    ]


def test_changes_beside_a_label_that_is_overridden() -> None:
    declared = vm((LABEL, "web"), (EVICTION, "None"))
    live = owned(vm((LABEL, "old"), (EVICTION, "External")), declared)
    result = turned(declared, live, owned(vm((LABEL, "old"), (EVICTION, "None"), (TOLERATIONS, [EXTRA])), declared))
    assert leaves(result.plan.before) == {EVICTION: "External"}
    assert leaves(result.plan.after).keys() == {EVICTION, TOLERATIONS}
    # A webhook may only remove something.
    both = vm((LABEL, "web"))
    removed = turned(both, owned(vm((LABEL, "old"), (EVICTION, "None")), both), owned(vm((LABEL, "old")), both))
    assert (removed.plan.action, leaves(removed.plan.before)) == (plan.APPLY, {EVICTION: "None"})


def test_kept_object_has_the_changes() -> None:
    """Somebody else adds to it meanwhile, so that it is not as expected."""
    for old, new in (((EVICTION, "None"),), ()), ((), ((EVICTION, "None"),)):
        live, declared = owned(vm(*old), vm(*old)), vm(*new)
        there = owned(
            owned(vm(*new, (TOLERATIONS, [EXTRA])), declared), vm((TOLERATIONS, [EXTRA])), "kubectl", "Update"
        )
        assert turned(declared, live, there).live["spec"] == there["spec"]


def test_another_spelling_is_shown_as_declared() -> None:
    memory = (*TEMPLATE, "domain", "memory", "guest")
    declared = vm((memory, "2048Mi"))
    result = turned(declared, owned(vm((memory, "1Gi")), declared), owned(vm((memory, "2Gi")), declared))
    assert leaves(result.plan.after) == {memory: "2048Mi"}


def test_emptied_object_that_stays_is_no_change() -> None:
    firmware = (*TEMPLATE, "domain", "firmware")
    before = vm(((*firmware, "serial"), "1"))
    result = turned(vm(), owned(before, before), owned(vm((firmware, {})), vm()))
    assert (leaves(result.plan.before), result.plan.after) == ({(*firmware, "serial"): "1"}, {})


def test_what_a_declared_object_contains_may_stay() -> None:
    balloon = (*TEMPLATE, "domain", "devices", "autoattachMemBalloon")
    before = vm((balloon, False))
    assert told(turned(vm(), owned(before, before), owned(before, vm()))) == []


@pytest.mark.parametrize(
    ("declared", "was", "now"),
    [
        pytest.param([KEY, EXTRA], [EXTRA, KEY], [KEY, EXTRA], id="the order"),
        pytest.param(
            [{**KEY, "effect": "NoSchedule"}], [{**KEY, "effect": "NoExecute", "value": "1"}], None, id="ours"
        ),
        pytest.param(
            [KEY], [{**KEY, "value": "1"}], [{**KEY, "value": "2", "effect": "NoExecute"}], id="another field"
        ),
        pytest.param(None, [KEY], [EXTRA], id="no longer declared"),
    ],
)
def test_changes_that_are_not_renewed(declared: Any, was: Any, now: Any) -> None:
    assert answer._renewed(declared, was, now or [{**declared[0], "value": "1"}]) is None


def test_what_else_changes_in_the_spec() -> None:
    """A webhook that came after the object adds to it; another client may have written it meanwhile."""
    declared = vm((("metadata", "labels"), {"app": "web"}))
    live = owned(vm((EVICTION, "None")), vm())
    answer = owned(vm((("metadata", "labels"), {"app": "web"}), (TOLERATIONS, [EXTRA])), declared)
    result = turned(declared, live, answer)
    assert leaves(result.plan.before) == {EVICTION: "None"}
    assert result.plan.after["metadata"] == {"labels": {"app": "web"}}
    assert result.plan.after["spec"]["template"]["spec"]["tolerations"][0]["key"] == "vm"
    meanwhile = owned(answer, vm((TOLERATIONS, [EXTRA])), "kubectl-edit", "Update")
    spec = turned(declared, live, meanwhile).plan.after.get("spec")
    assert spec is None


def test_next_run_may_declare_more() -> None:
    declared = vm((("metadata", "labels"), {"app": "web"}))
    live = owned(vm(), vm())
    step = plan.present(declared, live, managed_fields.applied_fields(live, "virtshape"), "virtshape")
    rest = plan.Plan(plan.APPLY, declared, {}, {"spec": {"template": {"spec": {"evictionStrategy": "None"}}}})
    answer = owned(vm((("metadata", "labels"), {"app": "web"}), (TOLERATIONS, [{"key": "a"}])), declared)
    assert answered(step, live, answer, lambda: rest, "virtshape").deviations == ()


def test_empty_values_that_are_not_stored_are_there() -> None:
    """The API server leaves out what is empty."""
    assert list(answer._missing({"name": "a", "labels": None, "args": []}, {"name": "a"})) == []
    assert list(answer._missing({"name": "a", "bus": "sata"}, {"name": "a"})) == [(("bus",), None)]


@pytest.mark.parametrize(
    ("declared", "found", "missing"),
    [
        ({"a": {"b": 1}}, {}, [(("a",), None)]),
        ({"a": [1]}, {"a": {"b": 1}}, [(("a",), ("a",))]),
        ({"a": 1}, {"a": [1]}, [(("a",), ("a",))]),
        ({"a": 1}, {"a": {"b": 1}}, [(("a",), ("a",))]),
        # Items with a name belong together.
        ([{"name": "b", "c": 1}], [{"name": "a", "c": 1}, {"name": "d", "c": 1}, {"name": "b"}], [((0, "c"), None)]),
        ([{"c": 1}], [{"c": 2}, 5, {"c": 1}], []),
    ],
)
def test_places_of_missing_values(declared: Any, found: Any, missing: Any) -> None:
    assert list(answer._missing(declared, found)) == missing
