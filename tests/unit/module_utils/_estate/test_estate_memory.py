"""The memory of an estate: names, sizes, preferences and disks, from the written list and from the cluster."""

import json
import random
from typing import Any

import pytest
from estate_samples import GIB, instancetype, machine, preference, proposed

from plugins.module_utils._estate.memory import existing_of
from plugins.module_utils._resolver.api.errors import FieldError

TEXTS = ("Ubuntu Linux (64-bit)", "Microsoft Windows Server 2019 (64-bit)", "Other", "")
ID = "instancetypes.virtshape.io/source-id"


def vm_of(options: dict[str, Any]) -> dict[str, Any]:
    """The VM on the cluster that a proposal declares."""
    spec = {field: {"name": options[field]["name"]} for field in ("instancetype", "preference") if field in options}
    metadata = {key: options[key] for key in ("name", "namespace", "annotations") if key in options}
    return {"kind": "VirtualMachine", "metadata": metadata, "spec": spec}


def on_cluster(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The VMs of the cluster after all of a proposal was declared."""
    return [existing_of(vm_of(vm)) for vm in result["virtual_machines"]]


def names(result: dict[str, Any]) -> dict[str, str]:
    return {row["id"]: row["virtual_machine"] for row in result["machines"]}


def types(result: dict[str, Any]) -> dict[str, str]:
    return {row["id"]: row["instancetype"] for row in result["machines"]}


def refusal(*arguments: Any, **options: Any) -> str:
    with pytest.raises(FieldError) as caught:
        proposed(*arguments, **options)
    return str(caught.value)


WEB = [machine(1000, name="web01"), machine(1001, name="WEB01")]


@pytest.mark.parametrize("by", ["list", "vms", "cluster", "both"])
def test_name_stays_when_first_machine_leaves(by: str) -> None:
    first = proposed(WEB)
    assert names(first) == {"vm-1000": "default/web01", "vm-1001": "default/web01-2"}
    memory = {
        "previous": {"virtual_machines_list": first["virtual_machines"]} if by == "vms" else first,
        "existing": json.loads(json.dumps(on_cluster(first))) if by in ("cluster", "both") else None,
    }
    if by == "cluster":
        del memory["previous"]
    new = machine(1002, name="web01")
    second = proposed([new, WEB[1]], **memory)
    assert names(second) == {"vm-1001": "default/web01-2", "vm-1002": "default/web01-3"}
    # The VM of the first machine was deleted; its name is not given again. Nor when it comes back.
    third = proposed([new, WEB[1]], previous=second, existing=memory["existing"] and on_cluster(second))
    assert names(third) == names(second)
    assert names(proposed([*WEB, new], previous=third))["vm-1000"] == "default/web01"


def test_machines_of_another_estate_are_not_remembered() -> None:
    """A later machine of this estate has the ID of one of theirs, whose source is not known."""
    theirs = [{"name": "web-9", "namespace": "other", "id": "vm-1002", "source_name": "Web 9"}]
    first = proposed(WEB, existing=theirs)
    assert [record["id"] for record in first["assignments"]["machines"]] == ["vm-1000", "vm-1001"]
    new = {**machine(1002, name="web01"), "source": "vc"}
    second = proposed([*WEB, new], previous=first, existing=theirs)
    assert names(second)["vm-1002"] == "default/web01-3"


def test_order_and_names_of_source_do_not_count() -> None:
    first = proposed(WEB)
    assert proposed(WEB[::-1])["assignments"] == first["assignments"]
    renamed = [{**WEB[0], "name": "db"}, WEB[1]]
    assert names(proposed(renamed, previous=first)) == names(first)
    assert names(proposed(renamed, existing=on_cluster(first))) == names(first)
    # A second run does not forget either.
    again = proposed(renamed, previous=proposed(renamed, previous=first))
    assert names(again) == names(first) and again["virtual_machines"][0]["annotations"][ID] == "vm-1000"


def test_run_with_the_same_source_changes_nothing() -> None:
    machines = [machine(n, vcpus=3, memory=(3 + n) * GIB, disks=[{"size": GIB}] * 2) for n in range(9)]
    first = proposed(machines, new_sizes=2)
    second = proposed(machines, new_sizes=2, previous=json.loads(json.dumps(first)))
    assert first == second == proposed(machines, new_sizes=2, previous=second, existing=on_cluster(second))


def test_names_of_other_vms_are_not_taken() -> None:
    other = {"name": "web01", "namespace": "default"}
    result = proposed(WEB, existing=[other])
    assert names(result) == {"vm-1000": "default/web01-2", "vm-1001": "default/web01-3"}
    assert result["warnings"] == [
        f"vm-{number} '{name}': default/web01 is a VM of the cluster and of no machine, so the name is {given}"
        for number, name, given in ((1000, "web01", "default/web01-2"), (1001, "WEB01", "default/web01-3"))
    ]
    assert proposed(WEB, existing=[{**other, "namespace": "shop"}])["warnings"] == []
    rules = {"machines": {"vm-1000": {"name": "web01"}}}
    assert "default/web01 for the machine vm-1000 'web01' is a VM of the cluster and of no machine" in refusal(
        WEB, rules=rules, existing=[other]
    )
    # It may be the machine's, brought by somebody else after the list was written.
    assert "is not marked as its VM; if it is, give it the annotation" in refusal(
        WEB, previous=proposed(WEB), existing=[other]
    )
    # forklift marks its VMs.
    label = {"metadata": {"name": "web01", "namespace": "default", "labels": {"vmID": "vm-1001"}}, "spec": {}}
    assert names(proposed(WEB, existing=[existing_of(label)]))["vm-1001"] == "default/web01"


def test_list_and_cluster_that_disagree() -> None:
    first = proposed(WEB)
    moved = [{**vm, "name": f"new-{vm['name']}"} for vm in on_cluster(first)]
    assert refusal(WEB, previous=first, existing=moved) == (
        "estate.json gives the machine vm-1000 'web01' the name default/web01, but on the cluster its VM is"
        " default/new-web01; correct estate.json, or name the VM in the rules"
    )
    for vm in moved:
        del vm["source_name"]
    swapped = [{**vm, "id": other["id"]} for vm, other in zip(moved, moved[::-1], strict=True)]
    assert "default/new-web01 and default/new-web01-2" in refusal(WEB, existing=[*moved, *swapped])
    named = {"machines": {"vm-1000": {"name": "new-web01"}, "vm-1001": {"name": "new-web01-2"}}}
    assert names(proposed(WEB, rules=named, previous=first, existing=moved))["vm-1000"] == "default/new-web01"
    cloned = [*on_cluster(first), {**on_cluster(first)[0], "name": "clone"}]
    assert names(proposed(WEB, previous=first, existing=cloned)) == names(first)
    assert "default/clone and default/web01 on the cluster are marked as VMs of the machine vm-1000" in refusal(
        WEB, existing=cloned
    )
    twice = json.loads(json.dumps(first))
    twice["assignments"]["machines"][1]["names"] = ["default/web01"]
    assert refusal(WEB, previous=twice).startswith("default/web01 is the name of two machines, vm-1000 'web01' and ")
    twice["assignments"]["machines"][1] = twice["assignments"]["machines"][0]
    assert "default/web01 and default/web01 for the same machine" in refusal(WEB, previous=twice)
    assert refusal(WEB, previous={"assignments": {"machines": [{"id": 3}]}}) == (
        "previous.machines[0].id: expected a text, found 3; put it in quotes, or write {{ value | string }} if it comes"
        " from a template"
    )


def test_rules_name_vms() -> None:
    first = proposed(WEB)
    rules = {"machines": {"vm-1000": {"name": "shop"}}}
    second = proposed(WEB, rules=rules, previous=first, existing=on_cluster(first))
    assert names(second) == {"vm-1000": "default/shop", "vm-1001": "default/web01-2"}
    assert second["warnings"] == [
        "vm-1000 'web01': the rules name its VM default/shop; default/web01 stays on the cluster"
    ]
    # The name that it had is not given to another one, and what a rule gave stays when the rule is gone.
    third = proposed([*WEB, machine(1002, name="web01")], previous=second, existing=on_cluster(first))
    assert names(third) == {**names(second), "vm-1002": "default/web01-3"}
    same = {"machines": {"vm-1000": {"name": "a"}, "vm-1001": {"name": "a"}}}
    assert "default/a for the machine vm-1000 'web01' is by the rules the name of vm-1001 too" in refusal(
        WEB, rules=same
    )
    other = {"machines": {"vm-1001": {"name": "web01"}}}
    assert "default/web01 for the machine vm-1001 'WEB01' is the name of the machine vm-1000" in refusal(
        WEB, rules=other, previous=first
    )
    # A rule may give the name of a machine that left, unless its VM is there.
    left = proposed(WEB[1:], rules=other, previous=first)
    assert names(left) == {"vm-1001": "default/web01"}
    assert names(proposed(WEB, rules=other, previous=left))["vm-1000"] == "default/web01-3"
    assert "is the name of the machine vm-1000" in refusal(
        WEB[1:], rules=other, previous=first, existing=on_cluster(first)
    )


def test_namespaces_stay() -> None:
    item = machine(folder="Shop")
    first = proposed([item], rules={"namespaces": {"Shop": "shop"}})
    rules = {"namespaces": {"Shop": "shop", "Lab": "lab"}}
    # A move in the source moves no VM; a person's rule does, until there is a VM.
    moved = [{**item, "folder": "Lab"}]
    assert names(proposed(moved, rules=rules, previous=first)) == {"vm-1": "shop/web1"}
    assert names(proposed(moved, rules={"namespaces": {"Shop": "store"}}, previous=first)) == {"vm-1": "store/web1"}
    there = proposed(moved, rules={"namespaces": {"Lab": "lab"}}, existing=on_cluster(first))
    assert names(there) == {"vm-1": "shop/web1"}
    assert "its VM stays in the namespace shop, where it is on the cluster" in there["machines"][0]["reasons"]
    own = {"machines": {"vm-1": {"namespace": "own"}}}
    assert names(proposed(moved, rules=own, existing=on_cluster(first))) == {"vm-1": "own/web1"}


def test_sizes_stay_when_other_machines_change() -> None:
    machines = [machine(n, vcpus=4, memory=(5 + n) * GIB) for n in range(12)]
    first = proposed(machines, catalog=[], new_sizes=3)
    changed = [{**item, "memory": item["memory"] * 5} if n < 6 else item for n, item in enumerate(machines)]
    listed = {"virtual_machines_list": first["virtual_machines"]}
    for memory in (
        {"previous": first},
        {"previous": listed, "catalog": first["instancetypes"]},
        {"existing": on_cluster(first), "catalog": first["instancetypes"]},
    ):
        second = proposed(changed, **{"catalog": [], **memory}, new_sizes=3)
        assert {key: types(second)[key] for key in list(types(first))[6:]} == dict(list(types(first).items())[6:])
        for row, item in zip(second["machines"], changed, strict=True):
            assert row["guest"]["memory"] >= item["memory"]
    anew = proposed(changed, catalog=[], new_sizes=3, previous=first, anew=["sizes"])
    assert types(anew) == types(proposed(changed, catalog=[], new_sizes=3)) and names(anew) == names(first)
    # No size is left for a larger machine, so there is one more, with a line.
    large = [*machines, machine(99, vcpus=4, memory=99 * GIB), machine(98, vcpus=4, memory=5 * GIB)]
    more = proposed(large, catalog=[], new_sizes=3, previous=first)
    assert types(more)["vm-99"] == "estate.4c-99g" and types(more)["vm-98"] == types(first)["vm-0"]
    assert more["warnings"] == [
        "new_sizes: 3, but 4 are new, because machines keep those of earlier runs; propose sizes anew to have fewer"
    ]


def test_rules_for_sizes_count_until_deployed() -> None:
    machines = [machine(n, vcpus=4, memory=(5 + n) * GIB) for n in range(6)]
    first = proposed(machines, catalog=[], new_sizes=1)
    second = proposed(machines, catalog=[], new_sizes=6, previous=first)
    assert len(set(types(second).values())) == 6
    assert second["warnings"] == [
        "new_sizes was 1 and is 6: so 5 machines with the same needs change sizes: web0, web1, web2 and 2 more"
    ]
    there = proposed(machines, catalog=[], new_sizes=6, previous=first, existing=on_cluster(first))
    assert types(there) == types(first) and there["warnings"] == []


def test_size_keeps_what_it_is() -> None:
    first = proposed([machine(1, vcpus=3)], catalog=[])
    hot = machine(2, vcpus=3, hot_add={"cpu": True})
    second = proposed([machine(1, vcpus=3), hot], catalog=[], previous=first)
    assert second["instancetypes"] == first["instancetypes"]
    # Somebody's size of the same name is another one, if VMs have it.
    own = instancetype("estate.3c-8g", 9, "8Gi")
    other = proposed([hot], catalog=[own], existing=[{"name": "x", "namespace": "y", "instancetype": "estate.3c-8g"}])
    assert types(other) == {"vm-2": "estate.3c-8g-2"}


def test_sizes_that_nobody_uses_are_dropped() -> None:
    machines = [machine(1, vcpus=3), machine(2, vcpus=5)]
    first = proposed(machines, catalog=[])
    sizes = {"3c-8g", "5c-8g"}

    def of(result: dict[str, Any]) -> set[str]:
        return set(result["catalog"]["series"]["estate"]["sizes"])

    # A machine that left may still have its VM, which the list does not tell.
    left = proposed(machines[1:], catalog=[], previous=first)
    assert of(left) == of(proposed(machines[1:], catalog=[], previous=left)) == sizes
    vms = on_cluster(first)
    assert of(proposed(machines[1:], catalog=[], previous=first, existing=vms)) == sizes
    assert of(proposed(machines[1:], catalog=[], previous=first, existing=vms[1:])) == {"5c-8g"}
    changed = proposed([{**machines[0], "vcpus": 7}, machines[1]], catalog=[], previous=first)
    assert of(changed) == {"7c-8g", "5c-8g"}


def test_sizes_that_no_longer_fit_are_not_kept() -> None:
    over = instancetype("o.large", 2, {"guest": "8Gi", "overcommitPercent": 50})
    first = proposed([machine()], catalog=[over], rules={"overcommit": True})
    reserved = machine(reserved={"memory": 8 * GIB})
    assert types(proposed([reserved], catalog=[over], rules={"overcommit": True}, previous=first)) == {
        "vm-1": "estate.2c-8g"
    }
    small = proposed([machine()], rules={"machines": {"vm-1": {"instancetype": "u1.nano"}}})
    assert types(proposed([machine()], previous=small)) == {"vm-1": "u1.large"}
    gone = proposed([machine()], catalog=[], previous=proposed([machine()]))
    assert types(gone) == {"vm-1": "estate.2c-8g"}
    named = {"machines": {"vm-1": {"instancetype": "estate.3c-8g"}}}
    earlier = proposed([machine(vcpus=3)], catalog=[])
    assert types(proposed([machine()], catalog=[], rules=named, previous=earlier)) == {"vm-1": "estate.3c-8g"}


def test_rightsizing_remembers() -> None:
    def vm(name: str, memory: float, has: str = "big") -> dict[str, Any]:
        used = {"cpu": 0.5, "memory": memory * GIB}
        return {**machine(), "id": f"shop/{name}", "name": name, "folder": "shop", "vcpus": 8, "memory": 32 * GIB,
                "instancetype": has, "used": used}  # fmt: skip

    rules = {"rightsize": "p95", "new_sizes": 2, "namespaces": {"shop": "shop"}}
    first = proposed([vm("a", 2), vm("b", 3), vm("c", 9)], catalog=[], rules=rules)
    second = proposed([vm("a", 2), vm("b", 13), vm("c", 14)], catalog=[], rules=rules, previous=first)
    assert types(second)["shop/a"] == types(first)["shop/a"]
    # Each VM of the cluster is the machine itself.
    vms = [{"name": name, "namespace": "shop", "instancetype": "big", "id": "vm-1"} for name in "abc"]
    assert names(proposed([vm("a", 2)], catalog=[], rules=rules, existing=vms)) == {"shop/a": "shop/a"}
    smaller = {**vm("a", 2), "vcpus": 1, "memory": GIB}
    assert types(proposed([smaller], catalog=[], rules=rules, previous=first)) == {"shop/a": "big"}
    plain = {"namespaces": {"shop": "shop"}}
    assert types(proposed([vm("a", 2)], catalog=[], rules=plain, previous=first)) == {"shop/a": "big"}


def test_preferences_stay_for_the_same_guest() -> None:
    item = machine(guest={"text": "Red Hat Enterprise Linux 8 (64-bit)"})
    old, new = [preference("rhel.9")], [preference("rhel.8"), preference("rhel.9")]
    first = proposed([item], catalog=old)
    assert first["machines"][0]["preference"] == "rhel.9"
    for memory in ({"previous": first}, {"existing": on_cluster(first)}):
        row = proposed([item], catalog=new, **memory)["machines"][0]
        assert row["preference"] == "rhel.9"
        assert "it keeps what an earlier run gave it; anew it would get rhel.8" in row["reasons"]
    changes: tuple[dict[str, Any], ...] = (
        {"anew": ["preferences"]},
        {"rules": {"preferences": [{"match": "red hat", "preference": "rhel.8"}]}},
        {"rules": {"machines": {"vm-1": {"preference": "rhel.8"}}}},
    )
    for change in changes:
        assert proposed([item], catalog=new, previous=first, **change)["machines"][0]["preference"] == "rhel.8"
    upgraded = {**item, "guest": {"text": "Red Hat Enterprise Linux 8.1"}}
    assert proposed([upgraded], catalog=new, previous=first)["machines"][0]["preference"] == "rhel.8"
    none = proposed([item], catalog=[])
    assert proposed([item], catalog=new, previous=none)["machines"][0]["preference"] == ""


def test_names_of_disks_stay_when_others_go() -> None:
    disks = [{"name": "Hard disk 1", "size": GIB}, {"name": "Hard disk 2", "size": 2 * GIB}, {"size": 3 * GIB}]
    nics = [{"network": "lan", "mac": "00:50:56:00:00:01"}, {"network": "lan", "mac": "00:50:56:00:00:02"}]
    rules = {"networks": {"lan": "net/lan"}, "devices": {"t4": {"gpu": "t4"}, "t5": {"gpu": "t5"}}}
    first = proposed([machine(disks=disks, nics=nics, passthrough=["t4", "t4", "t5"])], rules=rules)
    left = machine(disks=[disks[1], {"name": "Hard disk 9", "size": GIB}], nics=nics[1:], passthrough=["t4", "t5"])
    for memory in ({"previous": first}, {"existing": on_cluster(first)}):
        vm = proposed([left], rules=rules, **memory)["virtual_machines"][0]
        assert [(disk["name"], disk["import"]["size"]) for disk in vm["volumes"]] == [
            ("disk-2", "2Gi"),
            ("disk-4", "1Gi"),
        ]
        assert [nic["name"] for nic in vm["networks"]] == ["nic-2"]
        devices = vm["template"]["spec"]["domain"]["devices"]["gpus"]
        assert [device["name"] for device in devices] == ["device-1", "device-3"]
    renamed = machine(disks=[{**disk, "id": str(n)} for n, disk in enumerate(disks)])
    moved = machine(disks=[{"id": "1", "name": "other", "size": GIB}])
    (volume,) = proposed([moved], previous=proposed([renamed]))["virtual_machines"][0]["volumes"]
    assert volume["name"] == "disk-2"


def test_sources_tell_equal_ids_apart() -> None:
    one, two = machine(12, name="web", source="vc-a"), machine(12, name="db", source="vc-b")
    first = proposed([one])
    second = proposed([two], previous=first)
    assert names(second) == {"vm-12": "default/db"}
    # Where a list has both, the reader writes both sources into the IDs.
    both = [{**item, "id": f"{item['source']}/vm-12"} for item in (one, two)]
    assert names(proposed(both, previous=second)) == {"vc-a/vm-12": "default/web", "vc-b/vm-12": "default/db"}
    unknown = proposed([{key: entry for key, entry in one.items() if key != "source"}])
    assert names(proposed([{**one, "name": "renamed"}], previous=unknown)) == {"vm-12": "default/web"}
    assert refusal(both, previous=unknown) == (
        "default/web was given to the machine vm-12 'web', whose source is not known, and now vc-a/vm-12 and vc-b/vm-12"
        " have this ID; name the VM of each in the rules"
    )
    assert names(proposed([machine(12, name="x")], previous=first)) == {"vm-12": "default/web"}


def test_id_that_another_machine_has_now() -> None:
    first = proposed([machine(100, name="web", uuid="a")])
    reused = machine(100, name="db", uuid="b")
    assert refusal([reused], previous=first) == (
        "default/web was given to the machine vm-100 'web' with the UUID a; now the ID is that of 'db' with the UUID b,"
        " which may be another machine; name its VM in the rules: machines: {vm-100: {name: NAME}}"
    )
    rules = {"machines": {"vm-100": {"name": "db"}}}
    assert names(proposed([reused], previous=first, rules=rules)) == {"vm-100": "default/db"}
    # Linked clones have one UUID, and IDs of their own.
    clones = [machine(number, name="web", uuid="a") for number in (1, 2)]
    assert names(proposed(clones[1:], previous=proposed(clones))) == {"vm-2": "default/web-2"}
    # Another estate of the cluster may have the same IDs.
    assert refusal([reused], existing=on_cluster(first)).startswith("default/web was given to the machine vm-100 'web'")
    other = [{**vm, "namespace": "other"} for vm in on_cluster(first)]
    foreign = proposed([reused], existing=other)
    assert names(foreign) == {"vm-100": "default/db"}
    assert foreign["warnings"] == [
        "other/web is marked as the VM of the machine vm-100 'web', and no source or UUID tells whether it is that"
        " of the list with the same ID; it counts as another one's"
    ]
    assert names(proposed([machine(100, name="db", uuid="a")], existing=other)) == {"vm-100": "other/web"}
    unknown = proposed([machine(100, name="db")], existing=on_cluster(first))
    assert names(unknown) == {"vm-100": "default/web"}
    assert unknown["warnings"] == [
        "default/web is marked as the VM of the machine vm-100 'web', and no source or UUID tells whether it was"
        " renamed to 'db'; it counts as this one"
    ]


def test_names_without_ids() -> None:
    result = proposed([{**machine(), "id": "web1"}])
    assert result["warnings"] == [
        "web1: the source has no ID of 1 machines, so the name is the identity: a machine that is renamed counts as"
        " another one"
    ]


def test_names_anew_are_those_of_a_first_run() -> None:
    first = proposed(WEB)
    anew = proposed(WEB[1:], previous=first, anew=["names"])
    assert names(anew) == {"vm-1001": "default/web01"}
    # The names of VMs on the cluster stay.
    assert names(proposed(WEB[1:], previous=first, existing=on_cluster(first), anew=["names"])) == {
        "vm-1001": "default/web01-2"
    }


def test_texts_and_changed_annotations() -> None:
    assert refusal(WEB, previous="text") == "previous: expected a dictionary, found 'text'"
    vms = [{**vm, "assignment": "{"} for vm in on_cluster(proposed(WEB))]
    assert names(proposed(WEB, existing=vms)) == names(proposed(WEB))


@pytest.mark.parametrize("new_sizes", [0, 3])
@pytest.mark.parametrize("by", ["list", "cluster", "both"])
@pytest.mark.parametrize("seed", range(4))
def test_random_estates_keep_what_they_have(seed: int, by: str, new_sizes: int) -> None:
    """Machines come, leave, are renamed and resized in lists of random order, and VMs are deleted now and then."""
    chance = random.Random(seed)
    number = 0
    machines: list[dict[str, Any]] = []
    vms: dict[str, dict[str, Any]] = {}
    owner: dict[str, str] = {}
    had: dict[str, tuple[Any, dict[str, Any]]] = {}
    result: Any = None
    for _run in range(8):
        chance.shuffle(machines)
        del machines[: chance.randrange(4)]
        for item in machines:
            if chance.random() < 0.2:
                item["name"] = chance.choice(["web", "WEB", "db", "web-2"])
            if chance.random() < 0.2:
                item["memory"] = chance.randint(1, 64) * GIB
            if chance.random() < 0.2 and item["disks"]:
                item["disks"].pop(chance.randrange(len(item["disks"])))
        for _new in range(chance.randrange(8)):
            number += 1
            disks = [{"name": f"Hard disk {disk}", "size": disk * GIB} for disk in range(1, 4)]
            machines.append(
                machine(number, name=chance.choice(["web", "Web", "db", "db_2"]), vcpus=chance.choice([2, 4]),
                        memory=chance.randint(1, 64) * GIB, guest={"text": chance.choice(TEXTS)}, disks=disks)
            )  # fmt: skip
        result = proposed(
            machines,
            catalog=[*(result["instancetypes"] if result else ()), preference("ubuntu"), preference("windows.2k19")],
            new_sizes=new_sizes,
            previous=json.loads(json.dumps(result)) if by != "cluster" else None,
            existing=[existing_of(vm) for vm in vms.values()] if by != "list" else None,
        )
        for item, row, vm in zip(machines, result["machines"], result["virtual_machines"], strict=True):
            name, need = row["virtual_machine"], (item["vcpus"], item["memory"])
            assert owner.setdefault(name, item["id"]) == item["id"]
            assert row["guest"]["vcpus"] >= item["vcpus"] and row["guest"]["memory"] >= item["memory"]
            before, options = had.get(item["id"], (None, vm))
            assert (vm["name"], vm.get("preference")) == (options["name"], options.get("preference"))
            if before == need:
                assert vm["instancetype"] == options["instancetype"]
            sizes = {disk["name"]: disk["import"]["size"] for disk in options["volumes"]}
            assert all(sizes[disk["name"]] == disk["import"]["size"] for disk in vm.get("volumes", ()))
            had[item["id"]] = need, {**vm, "volumes": options["volumes"]}
            vms[name] = vm_of(vm)
        # Without the list, nothing remembers a VM that was deleted.
        if by == "both":
            listed = {row["virtual_machine"] for row in result["machines"]}
            vms = {name: vm for name, vm in vms.items() if name in listed or chance.random() < 0.5}
