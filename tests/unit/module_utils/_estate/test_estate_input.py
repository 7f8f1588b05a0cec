"""Lists of machines, rules and measured use: what is wrong is said with its place."""

from typing import Any

import pytest
from estate_samples import machine

from plugins.module_utils._estate.machine import machines_of
from plugins.module_utils._estate.rules import Rules, rules_of
from plugins.module_utils._estate.use import use_of, with_use
from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.api.type_remedies import wrong_type


def refusal(call: Any, *arguments: Any) -> str:
    with pytest.raises(FieldError) as caught:
        call(*arguments)
    return str(caught.value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("text", "machines: expected a list, found 'text'"),
        ([3], "machines[0]: expected a dictionary, found 3"),
        ([{"name": "a"}], "machines[0].id: is missing"),
        ([machine(vcpus=0)], "machines[0].vcpus: 0 is not 1 to 4096"),
        ([machine(memory=1 << 51)], f"machines[0].memory: {1 << 51} is not 1 to {1 << 50}"),
        ([machine(vcpus="many")], "machines[0].vcpus: expected a whole number, found 'many'"),
        ([machine(name="")], "machines[0].name: expected a text, found ''"),
        ([machine(firmware="uefi")], "machines[0].firmware: 'uefi' is not one of bios, efi"),
        (
            [machine(hugepages="big")],
            "machines[0].hugepages: 'big' is not a quantity; write a quantity such as 512Mi, 4Gi or 4G",
        ),
        ([machine(tpm="yes")], f"machines[0].tpm: {wrong_type('true or false', 'yes')}"),
        ([machine(disks=[{"size": -1}])], "machines[0].disks[0].size: expected a whole number, found -1"),
        ([machine(used={"cpu": True})], "machines[0].used.cpu: expected a number, found True"),
        ([machine(tags={"a": 3})], f"machines[0].tags[a]: {wrong_type('a text', 3)}"),
        ([machine(), machine()], "machines[1].id: 'vm-1' is also the id of machines[0]"),
        ([machine(cpus=2)], "machines[0].cpus: is unknown; did you mean vcpus?"),
    ],
)
def test_wrong_machines(value: Any, message: str) -> None:
    assert refusal(machines_of, value) == message


def test_texts_of_sources_are_no_templates() -> None:
    """A person who may name a machine must not run code on the controller."""
    (item,) = machines_of([machine(name="{{ lookup('pipe', 'id') }}", tags={"a": "{% if %}{#"}, folder=None)])
    assert item["name"] == "{ { lookup('pipe', 'id') }}"
    assert item["tags"] == {"a": "{ % if %}{ #"} and "folder" not in item


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"waste": "much"}, "rules.waste: expected percent, such as 15, found 'much'"),
        ({"new_sizes": True}, "rules.new_sizes: expected a whole number, found True"),
        ({"series": "Own"}, "rules.series: 'Own' must consist of a-z, 0-9 and"),
        ({"series": 3}, "rules.series: 3 is no name"),
        ({"storage": {"gold": {"class": "x"}}}, "rules.storage[gold].class: is unknown; did you mean storage_class?"),
        ({"storage": {"gold": 3}}, "rules.storage[gold]: expected a dictionary, found 3"),
        ({"storage": {"gold": {"access_modes": ["RWX"]}}}, "rules.storage[gold].access_modes[0]: 'RWX' is not one of"),
        ({"networks": {"lan": "a/b/c"}}, "rules.networks[lan]: 'b/c' must consist of"),
        ({"networks": {"lan": 3}}, f"rules.networks[lan]: {wrong_type('a text', 3)}"),
        ({"devices": {"t4": {}}}, "rules.devices[t4]: expected gpu or host_device, found {}"),
        ({"preferences": [{"match": "("}]}, "rules.preferences[0].match: '(' is no pattern: "),
        ({"preferences": [{"match": "a"}]}, "rules.preferences[0]: needs match and preference"),
        ({"machines": {"web": {"preference": 3}}}, "rules.machines[web].preference: 3 is no name"),
        ({"rightsize": "p50"}, "rules.rightsize: 'p50' is not one of p95"),
    ],
)
def test_wrong_rules(rules: Any, message: str) -> None:
    assert refusal(rules_of, rules).startswith(message)


def test_rules_without_values_are_defaults() -> None:
    assert rules_of(None) == Rules() == rules_of({"waste": None, "new_sizes": 0})
    rule = {"match": "acme", "preference": "fedora"}
    assert rules_of({"preferences": [rule]}).preferences == [rule]
    assert rules_of({"networks": {"lan": None, "dmz": "ignored"}}).networks == {"lan": None, "dmz": None}


def series(resource: str, name: str = "web", **values: Any) -> dict[str, Any]:
    return {"metric": {"resource": resource, "namespace": "shop", "name": name}, **values}


def answer(*result: Any) -> dict[str, Any]:
    return {"status": "success", "data": {"resultType": "vector", "result": list(result)}}


def test_use_of_the_busiest_series() -> None:
    found = use_of(
        answer(
            series("cpu", value=[0, "1.5"]),
            series("cpu", value=[0, "0.5"]),
            series("memory", value=[0, "95"]),
            series("memory", "idle", value=[0, "NaN"]),
        )
    )
    assert found == {"shop/web": {"cpu": 1.5, "memory": 95.0}}
    machines = with_use([{"id": "shop/web", "used": {"cpu": 9}}, {"id": "shop/db"}], found)
    assert [item["used"] for item in machines] == [{"cpu": 1.5, "memory": 95.0}, {}]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "use: is no answer of Prometheus; save what /api/v1/query returns"),
        ({"data": {"result": "text"}}, "use: is no answer of Prometheus; save what /api/v1/query returns"),
        (answer(series("disk")), "use.data.result[0]: has no label resource with cpu or memory; use the query of the "),
        (answer(3), "use.data.result[0]: has no label resource with cpu or memory; use the query of the "),
        (answer(series("cpu", value=[0, "x"])), "use.data.result[0].value: [0, 'x'] has no number"),
        (answer(series("cpu", values=[[0, "1"]])), "use.data.result[0].value: None has no number; use /api/v1/query"),
    ],
)
def test_wrong_answers_of_prometheus(value: Any, message: str) -> None:
    assert refusal(use_of, value).startswith(message)
