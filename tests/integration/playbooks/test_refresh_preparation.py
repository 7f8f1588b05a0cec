"""The playbook checks what a refresh needs before it begins, and prints little."""

import json
from pathlib import Path
from typing import Any

import yaml
from waiting import wait_until

from fleet_support import Fleet


def play(fleet: Fleet, folder: Path, **variables: object) -> Path:
    """A playbook of a user in a folder of its own, which runs the role."""
    folder.mkdir()
    role = {"role": "virtshape.instancetypes.revision_refresh"}
    prefixed = {f"revision_refresh_{name}": value for name, value in variables.items()}
    book = {"hosts": "localhost", "gather_facts": False, "roles": [{**role, "vars": prefixed}]}
    path = folder / "refresh.yml"
    path.write_text(yaml.safe_dump([book]))
    return path


SAYS = """
- name: Say what there is
  ansible.builtin.debug:
    msg: the user asks {{ revision_refresh_batch | length }}
"""


def test_health_tasks_are_relative_to_the_playbook(fleet: Fleet) -> None:
    fleet.create(2)
    fleet.size(1, "4Gi")
    path = play(fleet, fleet.folder / "plays", health_tasks="health.yml")
    (path.parent / "health.yml").write_text(SAYS)
    # A file of this name is in the current directory too.
    (fleet.folder / "health.yml").write_text("- ansible.builtin.fail: {msg: the wrong file}\n")
    output = fleet.refresh(playbook=str(path))
    assert output.count("the user asks 1") == 2
    # The collection's playbook is in no folder of the user's.
    fleet.size(1, "3Gi")
    output = fleet.refresh(health_tasks="health.yml", fails=True)
    assert "the wrong file" in output and "1 failed, 1 not reached" in output


def test_unusable_settings_fail_before_the_first_write(fleet: Fleet) -> None:
    fleet.create(1)
    fleet.size(1, "4Gi")
    guests = fleet.guests()
    for name, text in (("broken.yml", "- name: {"), ("typo.yml", "- ansible.builtin.asert: {that: true}\n")):
        (fleet.folder / name).write_text(text)
    file = fleet.folder / "broken.yml"
    nowhere = "revision_refresh_health_tasks: /nowhere.yml: there is no such file"
    lost: list[tuple[dict[str, Any], str]] = [
        (
            {"health_tasks": "helth.yml"},
            f"revision_refresh_health_tasks: {fleet.folder}/helth.yml: there is no such file",
        ),
        ({"health_tasks": "/nowhere.yml"}, nowhere),
        (
            {"report_directory": f"{file}/reports"},
            f"revision_refresh_report_directory: {file}/reports: {file} is not a folder",
        ),
        ({"windows": [{"from": "22:00"}]}, "revision_refresh_windows[0]: "),
        ({"deadline": "6"}, "revision_refresh_deadline: "),
    ]
    assert fleet.unsaid(lost) == []
    # A file that Ansible cannot read ends the whole play.
    for name, message in (("broken.yml", str(file)), ("typo.yml", "ansible.builtin.asert")):
        output = fleet.refresh(health_tasks=name, fails=True)
        assert message in output, output
        assert "Refresh batch" not in output
    # Check mode reads the same files.
    output = fleet.refresh("--check", health_tasks="typo.yml", fails=True)
    assert "ansible.builtin.asert" in output
    assert fleet.generations() == {"vm-000": 1}
    assert fleet.guests() == guests


def test_percentages_are_of_the_selected_vms(fleet: Fleet) -> None:
    fleet.create(6)
    fleet.size(1, "4Gi")
    hosts = {f"vm-{number:03}": {"vm_namespace": fleet.namespace, "vm_name": f"vm-{number:03}"} for number in range(6)}
    inventory = fleet.folder / "hosts.json"
    inventory.write_text(json.dumps({"all": {"hosts": hosts}}))
    chosen = ["-i", str(inventory), "--limit", "vm-000:vm-001:vm-002:vm-003", "--check"]
    output = fleet.refresh(*chosen, namespaces=[fleet.namespace])
    assert "4 virtual machines, 4 due" in output
    assert "at most 1 (20 % of the 4 selected VMs) may be down at a time" in output
    shared = {"group": "all", "lease": f"{fleet.namespace}/refresh", "max_unavailable": "50%"}
    output = fleet.refresh(*chosen, namespaces=[fleet.namespace], **shared)
    assert "at most 3 (50 % of the 6 VMs that the runs share) may be down at a time" in output


def test_a_broken_vm_does_not_hold_up_others(fleet: Fleet) -> None:
    fleet.create(4)
    fleet.run(
        "virtual_machine",
        name="lost",
        run_strategy="Always",
        instancetype={"name": "fleet", "kind": "VirtualMachineInstancetype"},
        volumes=[{"name": "root", "persistent_volume_claim": "gone"}],
        preflight="off",
    )
    # One that KubeVirt captures after the change would have nothing to refresh.
    wait_until(lambda: bool(fleet.generations().get("lost")))
    fleet.size(1, "4Gi")
    output = fleet.refresh(fails=True, max_unavailable=2, wait_timeout=20, health_timeout=20)
    generations = fleet.generations()
    assert all(generations[f"vm-00{number}"] > 1 for number in range(4)), output
    assert "4 refreshed" in output


def test_a_run_prints_a_few_lines_a_batch(fleet: Fleet) -> None:
    fleet.create(6)
    fleet.size(1, "4Gi")
    process = fleet.begin()
    output, _nothing = process.communicate()
    assert process.returncode == 0, output
    _before, *batches = output.split(" : Refresh batch ")
    batches[-1] = batches[-1].partition("End the run")[0]
    assert len(batches) > 4
    for number, batch in enumerate(batches):
        assert batch.count("\nTASK [") <= 3, batch
        assert f"batch {number + 1} of {len(batches)}: " in batch
    assert "6 virtual machines: 6 refreshed" in output
    # A second run has nothing to do, and says so without the details of a batch.
    again = fleet.refresh()
    assert "6 virtual machines: 6 unchanged" in again and "Refresh batch" not in again
