"""The queries by which Ansible Automation Platform counts VMs, on the events of a run as the platform gets them."""

import json
from pathlib import Path
from typing import Any

import ansible_runner
import jq
import pytest
import yaml
from ansible_environment import surroundings

from fleet_support import CHECKOUT, Fleet

QUERIES = yaml.safe_load((CHECKOUT / "extensions" / "audit" / "event_query.yml").read_text(encoding="utf-8"))

Event = dict[str, Any]


def counted(action: str, result: Any) -> list[Any]:
    matches: list[Any] = jq.compile(QUERIES[action]["query"]).input(result).all()
    return matches


def managed(events: list[Event]) -> dict[str, set[tuple[str, str]]]:
    """The VMs that each module has managed, name and UID, by the facts that make two records one."""
    result: dict[str, set[tuple[str, str]]] = {}
    for event in events:
        # Lines that belong to no task have no data with ansible-core 2.16.
        data = event.get("event_data") or {}
        action = data.get("resolved_action")
        if action not in QUERIES or "res" not in data:
            continue
        for record in counted(action, data["res"]):
            facts = record["canonical_facts"]
            assert set(record) == {"name", "canonical_facts", "facts"} and all(facts.values())
            assert record["name"] == f"{facts['namespace']}/{facts['name']}"
            assert facts["cluster"].startswith("https://")
            result.setdefault(action.rpartition(".")[2], set()).add((facts["name"], facts["uid"]))
    return result


def test_the_vms_of_a_run_are_counted(fleet: Fleet, tmp_path: Path) -> None:
    options = {"namespace": fleet.namespace, "instancetype": {"name": "fleet", "kind": "VirtualMachineInstancetype"}}
    volumes = [{"name": "root", "container_disk": "registry.example.com/disk:1"}]
    tasks = [
        {"virtual_machine": {**options, "virtual_machines": [{"name": "a"}, {"name": "b"}], "volumes": volumes}},
        {"virtual_machine": {**options, "name": "{{ item }}", "volumes": volumes}, "loop": ["c", "d"]},
        {"virtual_machine": {**options, "name": "nowhere", "cpu": {"cores": 2}}, "ignore_errors": True},
        {"virtual_machine_power": {"namespace": fleet.namespace, "names": ["a"], "state": "started", "wait": True}},
        {
            "controller_revision": {
                "namespace": fleet.namespace,
                "names": ["b"],
                "state": "pinned",
                "revision": "current",
            }
        },
        {"virtual_machine_adopt": {"namespace": fleet.namespace, "names": ["c"]}, "ignore_errors": True},
        {"virtual_machine_info": {"namespace": fleet.namespace}},
        {"virtual_machine": {"namespace": fleet.namespace, "name": "d", "state": "absent", "wait": True}},
        {"virtual_machine": {**options, "name": "d", "volumes": volumes}},
        {"virtual_machine": {**options, "name": "never", "volumes": volumes}, "check_mode": True},
        {"controller_revision": {"namespace": fleet.namespace, "state": "pruned"}},
    ]
    modules = ("virtual_machine", "controller_revision")
    named = [
        {f"virtshape.instancetypes.{key}" if key.startswith(modules) else key: value for key, value in task.items()}
        for task in tasks
    ]
    play = [{"hosts": "localhost", "gather_facts": False, "connection": "local", "tasks": named}]
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "play.yml").write_text(json.dumps(play))
    run = ansible_runner.run(
        private_data_dir=str(tmp_path), playbook="play.yml", envvars=surroundings(fleet.kubeconfig), quiet=True
    )
    assert run.rc == 0, run.stdout.read()
    result = managed(list(run.events))
    uids = {name: vm["uid"] for name, vm in fleet.vms().items()}
    made = result["virtual_machine"]
    # A VM that was made anew is another one, also where its name and namespace are the same.
    assert sorted(name for name, _uid in made) == ["a", "b", "c", "d", "d"]
    assert uids.items() <= made
    assert result["virtual_machine_power"] == {("a", uids["a"])}
    assert result["controller_revision"] == {("b", uids["b"])}


@pytest.fixture
def fleet(cluster: Path, namespace: str, tmp_path: Path) -> Fleet:
    made = Fleet(cluster, namespace, tmp_path / "fleet")
    made.size(1, "2Gi")
    return made


@pytest.mark.parametrize("action", QUERIES)
def test_vms_of_two_clusters_count_twice(action: str) -> None:
    vm = {"name": "a", "namespace": "shop", "uid": "1"}
    results = [{"cluster": f"https://{name}", "results": [vm]} for name in ("east", "west", "east")]
    facts = {json.dumps(record["canonical_facts"]) for result in results for record in counted(action, result)}
    assert len(facts) == 2


@pytest.mark.parametrize("action", QUERIES)
@pytest.mark.parametrize(
    "result",
    [{}, None, "x", {"results": None}, {"cluster": "x", "results": "hidden"}, {"cluster": "x", "results": [None, "x"]}],
)
def test_event_without_result_counts_nothing(action: str, result: Any) -> None:
    """An error of one query would leave the whole job uncounted."""
    assert counted(action, result) == []
