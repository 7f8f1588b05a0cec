"""Rules that match nothing, or name what does not exist, are errors."""

from typing import Any

import pytest
from estate_samples import GIB, machine, proposed

from plugins.module_utils._estate.rule_checks import There
from plugins.module_utils._resolver.api.errors import FieldError

MACHINES = [
    machine(
        name="web-1",
        folder="Shop/Test",
        guest={"text": "Ubuntu Linux (64-bit)"},
        disks=[{"name": "root", "size": GIB, "storage": "gold-01"}],
        nics=[{"network": "VM Network"}],
        passthrough=["grid_t4-8q"],
    )
]


def refusal(rules: Any, **options: Any) -> str:
    with pytest.raises(FieldError) as caught:
        proposed(MACHINES, rules=rules, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (
            {"machines": {"webb-1": {"skip": True}}},
            "rules.machines[webb-1]: matches no machine of the source; did you mean web-1?",
        ),
        (
            {"storage": {"gold-1": "fast"}},
            "rules.storage[gold-1]: matches no disk of the source; did you mean gold-01?",
        ),
        (
            {"networks": {"VM Netwrok": "pod"}},
            "rules.networks[VM Netwrok]: matches no network of the source; did you mean VM Network?",
        ),
        (
            {"devices": {"grid_t4_8q": {"gpu": "nvidia.com/T4"}}},
            "rules.devices[grid_t4_8q]: matches no device of the source; did you mean grid_t4-8q?",
        ),
        ({"namespaces": {"Shop": "shop"}}, "rules.namespaces[Shop]: matches no folder; did you mean Shop/Test?"),
        (
            {"preferences": [{"match": "Acme", "preference": "fedora"}]},
            "rules.preferences[0].match: 'Acme' matches the system of no machine; choose from Ubuntu Linux (64-bit)",
        ),
        (
            {"preferences": [{"match": "ubuntu", "preference": "ubunto"}]},
            "rules.preferences[0].preference: 'ubunto' is no preference in the catalog; did you mean ubuntu?",
        ),
        (
            {"machines": {"vm-1": {"instancetype": "u1.larg"}}},
            "rules.machines[vm-1].instancetype: 'u1.larg' is no instancetype in the catalog;"
            " did you mean u1.large or u1.xlarge?",
        ),
        (
            {"machines": {"web-1": {"preference": "ubunto"}}},
            "rules.machines[web-1].preference: 'ubunto' is no preference in the catalog; did you mean ubuntu?",
        ),
    ],
)
def test_rules_that_match_nothing(rules: Any, message: str) -> None:
    assert refusal(rules) == message


def test_all_wrong_rules_are_one_line() -> None:
    rules = {"machines": {"db": {"skip": True}}, "storage": {"silver": "slow"}}
    assert refusal(rules).count("; rules.") == 1


def test_machines_of_earlier_runs_may_come_back() -> None:
    first = proposed([*MACHINES, machine(2, name="old-1")])
    for key in ("old-1", "vm-2"):
        assert proposed(MACHINES, rules={"machines": {key: {"skip": True}}}, previous=first)["machines"]


def test_sizes_of_earlier_runs_are_known() -> None:
    machines = [machine(vcpus=3, memory=7 * GIB)]
    first = proposed(machines)
    name = first["machines"][0]["instancetype"]
    rules = {"machines": {"web1": {"instancetype": name}}}
    assert proposed(machines, rules=rules, previous=first)["machines"][0]["instancetype"] == name


def test_what_the_cluster_lacks() -> None:
    there = There({"default", "shop"}, {"fast", "slow"})
    rules: dict[str, Any] = {
        "namespaces": {"Shop/*": "shopp"},
        "machines": {"web-1": {"namespace": "shap"}},
        "storage": {"gold-01": {"storage_class": "fasst", "volume_mode": "Block"}},
    }
    assert refusal(rules, there=there) == (
        "rules.namespaces[Shop/*]: 'shopp' is no namespace on the cluster; did you mean shop?;"
        " rules.machines[web-1].namespace: 'shap' is no namespace on the cluster; did you mean shop?;"
        " rules.storage[gold-01].storage_class: 'fasst' is no storage class on the cluster; did you mean fast?"
    )
    assert refusal({"namespace": "office"}, there=there).startswith("rules.namespace: 'office' is no namespace on the")
    rules = {"namespace": "shop", "storage": {"gold-01": {"volume_mode": "Block"}}, "networks": {"pod": "pod"}}
    assert proposed(MACHINES, rules=rules, there=there)["machines"]


def test_rules_behind_those_by_id_are_errors() -> None:
    machines = [machine(1), machine(2, name="web1")]
    own, name = machines[0]["id"], machines[0]["name"]
    rules: dict[str, Any] = {"machines": {own: {"skip": True}, name: {"namespace": "shop"}}}
    with pytest.raises(
        FieldError, match=rf"^rules\.machines\[{name}\]: the machines of this name have rules by their IDs"
    ):
        proposed(machines[:1], rules=rules)
    assert proposed(machines, rules=rules)["virtual_machines"][0]["namespace"] == "shop"


def test_rules_for_several_machines_are_told() -> None:
    machines = [machine(1), machine(2, name="web1")]
    (warning,) = proposed(machines, rules={"machines": {"web1": {"skip": True}}})["warnings"]
    assert warning == "rules.machines[web1]: 2 machines have this name, vm-1, vm-2; for one, write its ID"
