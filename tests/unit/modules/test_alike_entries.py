"""Entries that are alike but for their names are validated once, and become what each becomes alone."""

from typing import Any
from unittest import mock

from plugins.module_utils._cluster.modules import declaration
from scripted_server import Run, Store

SHARED = {
    "namespace": "shop",
    "memory": "1Gi",
    "run_strategy": "Halted",
    "volumes": [{"name": "root", "container_disk": "registry.example.com/disk:1"}],
    "cloud_init": {"user": "me"},
}
LARGER = {"memory": "2Gi", "labels": {"tier": "db"}}


def store() -> Store:
    kinds = ("virtualmachines", "virtualmachineinstances")
    return Store({f"/apis/kubevirt.io/v1/namespaces/shop/{kind}": [] for kind in kinds})


def planned(run: Run, *entries: Any) -> tuple[dict[str, Any], int]:
    """The module's result in check mode, and how many entries Ansible validated."""
    validate = declaration.ArgumentSpecValidator.validate
    with mock.patch.object(declaration.ArgumentSpecValidator, "validate", autospec=True, side_effect=validate) as spied:
        result = run(
            "virtual_machine",
            store(),
            check=True,
            **SHARED,
            virtual_machines=list(entries),
            preflight="off",
            server_dry_run=False,
        )
    return result, spied.call_count - 1


def test_equal_shaped_entries_are_validated_once(run: Run) -> None:
    entries = [{"name": f"a-{number}", **(LARGER if number % 3 == 0 else {})} for number in range(12)]
    together, count = planned(run, *entries)

    assert count == 2
    assert together["results"] == [planned(run, entry)[0]["results"][0] for entry in entries]


def test_non_text_name_is_validated(run: Run) -> None:
    together, count = planned(run, {"name": "a"}, {"name": 7})

    assert [item["name"] for item in together["results"]] == ["a", "7"]
    assert count == 2


def test_each_invalid_entry_is_named(run: Run) -> None:
    wrong = {"run_strategy": "Sometimes"}
    result, _count = planned(run, {"name": "a", **wrong}, {"name": "b", **wrong}, {"name": "c"})

    assert "virtual_machines[0] (shop/a)" in result["msg"]
    assert "virtual_machines[1] (shop/b)" in result["msg"]
