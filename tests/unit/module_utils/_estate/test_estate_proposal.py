"""The proposal of instancetypes, preferences and VMs for machines."""

from typing import Any

import pytest
from estate_samples import GIB, instancetype, machine, preference, proposed

from plugins.module_utils._resolver.api.errors import FieldError


def one(item: dict[str, Any], **options: Any) -> dict[str, Any]:
    (row,) = proposed([item], **options)["machines"]
    return dict(row)


def test_exact_instancetype_comes_first() -> None:
    row = one(machine())
    assert row["instancetype"] == "u1.large"
    assert row["guest"] == row["source"] == {"vcpus": 2, "memory": 8 * GIB}
    assert row["reasons"][-1] == "u1.large: exactly what is needed"


def test_nearest_instancetype_within_the_bound() -> None:
    row = one(machine(memory=7 * GIB + GIB // 2))
    assert (row["instancetype"], row["reasons"][-1]) == ("u1.large", "u1.large: 6.7 % more than needed")


def test_new_size_beyond_the_bound() -> None:
    result = proposed([machine(vcpus=4, memory=8 * GIB)])
    assert result["machines"][0]["instancetype"] == "estate.4c-8g"
    assert result["catalog"]["series"]["estate"]["sizes"] == {"4c-8g": {"cpu": 4, "memory": "8Gi"}}
    assert [item["metadata"]["name"] for item in result["instancetypes"]] == ["estate.4c-8g"]


def test_waste_of_options_wins_over_rules() -> None:
    item = machine(vcpus=4, memory=10 * GIB)
    assert one(item, rules={"waste": "60 %"})["instancetype"] == "u1.xlarge"
    assert one(item, rules={"waste": 60}, waste=5)["instancetype"] == "estate.4c-10g"


def test_number_of_new_sizes_is_limited() -> None:
    machines = [machine(number, vcpus=4, memory=(5 + number) * GIB) for number in range(6)]
    result = proposed(machines, catalog=[], new_sizes=2)
    assert set(result["catalog"]["series"]["estate"]["sizes"]) == {"4c-7g", "4c-10g"}
    assert len(proposed(machines, catalog=[])["catalog"]["series"]["estate"]["sizes"]) == 4


def test_memory_of_new_sizes_can_be_plugged() -> None:
    row = one(machine(memory=8 * GIB + 1), catalog=[])
    assert row["guest"]["memory"] == 8 * GIB + (2 << 20)
    assert row["instancetype"] == "estate.2c-8194m"


def test_own_series_on_the_cluster_does_not_count() -> None:
    """Otherwise the second run would propose another catalog than the first."""
    item = machine(vcpus=4, memory=8 * GIB)
    first = proposed([item], catalog=[])
    catalog = [instancetype("estate.4c-9g", 4, "9Gi"), instancetype("estate-dedicated.4c-8g", 4, "8Gi")]
    assert proposed([item], catalog=catalog)["catalog"] == first["catalog"]


def test_headroom_where_the_source_can_be_enlarged() -> None:
    hot = {"cpu": True}
    machines = [
        machine(1, vcpus=4, memory=8 * GIB, hot_add=hot),
        machine(2, vcpus=300, memory=8 * GIB, hot_add=hot),
        machine(3, vcpus=1, memory=GIB // 2, hot_add=hot),
        machine(4, vcpus=5, memory=8 * GIB),
        machine(5, vcpus=6, memory=8 * GIB, hot_add=hot, reserved={"cpu": True}),
    ]
    result = proposed(machines, catalog=[])
    sizes = result["catalog"]["series"]["estate"]["sizes"]
    assert sizes["4c-8g"] == {
        "cpu": 4,
        "memory": "8Gi",
        "max_sockets": 8,
        "spec": {"memory": {"maxGuest": "16Gi"}},
    }
    assert sizes["300c-8g"]["max_sockets"] == 512
    assert sizes["1c-512m"] == {"cpu": 1, "memory": "512Mi", "max_sockets": 2}
    assert sizes["5c-8g"] == {"cpu": 5, "memory": "8Gi"}
    assert result["catalog"]["series"]["estate-dedicated"]["sizes"]["6c-8g"] == {"cpu": 6, "memory": "8Gi"}
    specs = {item["metadata"]["name"]: item["spec"] for item in result["instancetypes"]}
    assert specs["estate.4c-8g"] == {
        "cpu": {"guest": 4, "maxSockets": 8},
        "memory": {"guest": "8Gi", "maxGuest": "16Gi"},
    }
    without = proposed(machines, catalog=[], headroom=0)["catalog"]["series"]["estate"]["sizes"]
    assert without["4c-8g"] == {"cpu": 4, "memory": "8Gi"}


def test_reserved_cpus_become_dedicated() -> None:
    item = machine(reserved={"cpu": True})
    row = one(item, catalog=[instancetype("d.large", {"guest": 2, "dedicatedCPUPlacement": True}, "8Gi")])
    assert row["instancetype"] == "d.large" and any("dedicated" in reason for reason in row["reasons"])
    result = proposed([{**item, "hugepages": "1Gi", "memory": 8 * GIB + 1}], catalog=[])
    assert result["machines"][0]["guest"]["memory"] == 9 * GIB
    assert result["catalog"]["series"]["estate-dedicated-1gi"] == {
        "display_name": "Sizes of the estate",
        "description": "Sizes of the machines that were brought, where no other instancetype is near",
        "hugepages": "1Gi",
        "spec": {"cpu": {"dedicatedCPUPlacement": True}},
        "sizes": {"2c-9g": {"cpu": 2, "memory": "9Gi"}},
    }
    assert result["instancetypes"][0]["spec"] == {
        "cpu": {"guest": 2, "dedicatedCPUPlacement": True},
        "memory": {"guest": "9Gi", "hugepages": {"pageSize": "1Gi"}},
    }


def test_overcommitted_sizes_need_a_rule() -> None:
    catalog = [instancetype("o.large", 2, {"guest": "8Gi", "overcommitPercent": 50})]
    assert one(machine(), catalog=catalog)["instancetype"] == "estate.2c-8g"
    rules = {"overcommit": True}
    assert one(machine(), catalog=catalog, rules=rules)["instancetype"] == "o.large"
    reserved = machine(reserved={"memory": GIB})
    assert one(reserved, catalog=catalog, rules=rules)["instancetype"] == "estate.2c-8g"


def test_special_and_unusable_instancetypes_serve_nobody() -> None:
    catalog = [
        instancetype("gpu", 2, "8Gi", gpus=[{"name": "g", "deviceName": "d"}]),
        instancetype("pinned", {"guest": 2, "isolateEmulatorThread": True}, "8Gi"),
        {**instancetype("own", 2, "8Gi"), "kind": "VirtualMachineInstancetype"},
        instancetype("broken", "two", "8Gi"),
        preference("broken", cpu=3),
    ]
    assert one(machine(), catalog=catalog)["instancetype"] == "estate.2c-8g"
    named = one(machine(), catalog=catalog, rules={"machines": {"web1": {"instancetype": "gpu"}}})
    assert named["instancetype"] == "gpu" and "the rules name the instancetype gpu" in named["reasons"]


def test_exceptions_by_name_and_id() -> None:
    machines = [machine(1), machine(2), machine(3, name="old"), machine(4)]
    exceptions = {
        "vm-1": {"instancetype": "u1.nano", "namespace": "shop", "name": "shop"},
        "web2": {"preference": "fedora"},
        "old": {"skip": True},
        "vm-4": {"namespace": "shop"},
    }
    result = proposed(machines, rules={"machines": exceptions})
    first, second, fourth = result["machines"]
    assert (first["virtual_machine"], first["instancetype"]) == ("shop/shop", "u1.nano")
    smaller = "u1.nano is smaller than what the machine needs: 1 vCPU instead of 2 and 512Mi instead of 8Gi"
    assert smaller in first["reasons"]
    assert second["preference"] == "fedora"
    assert fourth["virtual_machine"] == "shop/web4"
    assert result["left_out"] == [{"id": "vm-3", "name": "old", "reason": "a rule leaves it out"}]


def test_requirements_of_the_preference_are_met() -> None:
    row = one(machine(vcpus=1, memory=GIB, guest={"text": "Microsoft Windows 11"}))
    assert row["guest"]["vcpus"] >= 2 and row["guest"]["memory"] >= 4 * GIB
    assert "the preference windows.11 requires 2 vCPUs and 4 GiB" in row["reasons"]


def test_pair_that_kubevirt_rejects_is_not_chosen() -> None:
    spread = preference(
        "spread", cpu={"preferredCPUTopology": "spread", "spreadOptions": {"across": "SocketsCores", "ratio": 2}}
    )
    catalog = [instancetype("odd", 3, "8Gi"), spread]
    rules = {"machines": {"web1": {"preference": "spread"}}}
    row = one(machine(vcpus=3), catalog=catalog, rules=rules)
    assert (row["instancetype"], row["preference"]) == ("estate.3c-8g", "")
    assert any(reason.startswith("no preference, because KubeVirt rejects spread with") for reason in row["reasons"])


def test_namespaces_by_folder_and_names_without_collision() -> None:
    names = ["Web Server_1", "web-server-1", "WEB.SERVER.1", "___", "Ümläut", "x" * 80, "x" * 90]
    machines = [machine(number, name=name, folder="Shop/Test") for number, name in enumerate(names)]
    result = proposed(machines, rules={"namespaces": {"*/Test": "shop", "Shop/*": "other"}, "namespace": "rest"})
    found = [row["virtual_machine"] for row in result["machines"]]
    assert found[:5] == ["shop/web-server-1", "shop/web-server-1-2", "shop/web-server-1-3", "shop/vm", "shop/umlaut"]
    assert found[5] == f"shop/{'x' * 52}" and found[6] == f"shop/{'x' * 50}-2"
    assert one(machine(folder="Other"), rules={"namespace": "rest"})["virtual_machine"] == "rest/web1"


def test_use_makes_machines_smaller() -> None:
    used = machine(vcpus=8, memory=32 * GIB, used={"cpu": 1.5, "memory": 6 * GIB})
    rules = {"rightsize": "p95", "spare": 30}
    row = one(used, rules=rules)
    assert row["instancetype"] == "u1.large" and "it uses 1.5 vCPUs of cpu" in row["reasons"]
    assert "it uses 6 GiB of memory" in row["reasons"]
    busy = one(machine(used={"cpu": 2, "memory": 8 * GIB}), rules=rules)
    assert busy["instancetype"] == "u1.large" and "it uses all its cpu at times" in busy["reasons"]
    unknown = one(machine(), rules=rules)
    assert "no use of memory is known, so it keeps what it has" in unknown["reasons"]
    windows = one({**used, "used": {"cpu": 0, "memory": 0}, "guest": {"text": "Windows 11"}}, rules=rules)
    assert windows["guest"] == {"vcpus": 2, "memory": 4 * GIB}


def fleet_vm(name: str, instancetype: str = "u1.2xlarge", **fields: Any) -> dict[str, Any]:
    """A VM of a cluster that uses little."""
    size = {"vcpus": 8, "memory": 32 * GIB, "used": {"cpu": 0.5, "memory": 1.6 * GIB}}
    return {
        **machine(),
        **size,
        "id": f"shop/{name}",
        "name": name,
        "folder": "shop",
        "instancetype": instancetype,
        **fields,
    }


def test_rightsizing_is_input_of_a_refresh() -> None:
    machines = [
        fleet_vm("db-1", tags={"team": "data"}),
        fleet_vm("db-2", id="office/db-2", folder="office", tags={"team": "data"}),
        fleet_vm("web"),
        fleet_vm("idle", used={}),
    ]
    result = proposed(machines, rules={"rightsize": "p95"})
    data, shop = result["rightsizing"]
    assert (data["team"], data["names"]) == ("data", ["shop/db-1", "office/db-2"])
    assert data["replace"] == shop["replace"] == {"u1.2xlarge": "u1.small"}
    assert (data["vcpus"], data["memory"]) == (14, 60 * GIB)
    assert (shop["team"], shop["names"]) == ("shop", ["shop/web"])
    # No size is made for a single VM.
    assert result["catalog"] == {"series": {}}
    assert result["machines"][3]["instancetype"] == "u1.2xlarge"
    teams = {"rightsize": "p95", "team_label": "owner"}
    assert {group["team"] for group in proposed(machines, rules=teams)["rightsizing"]} == {"shop", "office"}
    unchanged = proposed(machines)
    assert (
        unchanged["rightsizing"] == [] and "it keeps the instancetype u1.2xlarge" in unchanged["machines"][0]["reasons"]
    )


def test_rightsizing_keeps_what_it_cannot_judge() -> None:
    gpu = instancetype("gpu", 8, "32Gi", gpus=[{"name": "g", "deviceName": "d"}])
    over = [instancetype(f"o.{cpu}", cpu, {"guest": f"{4 * cpu}Gi", "overcommitPercent": 50}) for cpu in (1, 8)]
    catalog = [gpu, *over, instancetype("u.1", 1, "4Gi"), preference("linux")]
    machines = [
        fleet_vm("devices", "gpu"),
        fleet_vm("passed", passthrough=["t4"]),
        fleet_vm("other", preference="gone"),
        fleet_vm("over", "o.8"),
        fleet_vm("plain", "u.8", preference="linux"),
        fleet_vm("full", "u.1", vcpus=1, memory=4 * GIB, used={"cpu": 0.1, "memory": GIB}),
    ]
    rows = proposed(machines, catalog=catalog, rules={"rightsize": "p95"})["machines"]
    assert [row["instancetype"] for row in rows] == ["gpu", "u1.2xlarge", "u1.2xlarge", "o.1", "u.1", "u.1"]


def test_rightsizing_makes_sizes_if_asked() -> None:
    rules = {"rightsize": "p95", "new_sizes": 1}
    result = proposed([fleet_vm("a", "big"), fleet_vm("b", "big", used={})], catalog=[], rules=rules)
    assert [row["instancetype"] for row in result["machines"]] == ["estate.1c-1968m", "big"]
    # The objects of an earlier run are there for the next VMs.
    made = [instancetype("estate.1c-2g", 1, "2Gi")]
    moved = proposed([fleet_vm("a", "big")], catalog=made, rules={"rightsize": "p95"})
    assert moved["machines"][0]["instancetype"] == "estate.1c-2g"


def test_second_proposal_is_the_same() -> None:
    machines = [machine(number, vcpus=1 + number % 5, memory=(1 + number % 7) * GIB) for number in range(50)]
    assert proposed(machines) == proposed(machines)


def test_mistakes_name_the_rule() -> None:
    with pytest.raises(FieldError, match=r"^rules\.wast: is unknown; did you mean waste\?$"):
        proposed([machine()], rules={"wast": 3})
    with pytest.raises(FieldError, match=r"^rules: expected a dictionary, found 3$"):
        proposed([machine()], rules=3)


def test_nothing_of_a_right_sized_vm_is_lost() -> None:
    item = machine(instancetype="u1.large", used={"cpu": 1, "memory": GIB}, not_brought=["settings (nodeSelector)"])
    assert one(item)["not_brought"] == ["settings (nodeSelector)"]
    assert one(item, rules={"rightsize": "p95"})["not_brought"] == []
