"""Playbooks do what the limit of ansible-playbook permits, and say so where it permits nothing."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml
from ansible_environment import flat, surroundings

from fleet_support import Fleet

CHECKOUT = Path(__file__).parents[3]
# The variables of an inventory about guests, which are not for the machine that asks the cluster.
GUEST = {"ansible_connection": "ssh", "ansible_become": True, "ansible_shell_type": "powershell"}


class Inventory:
    """The hosts `vm-000` to `vm-003` of the group vms, each both declared and looked for, and a stranger."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet, self.path = fleet, fleet.folder / "hosts.json"
        declared: dict[str, Any] = {
            "namespace": fleet.namespace,
            "run_strategy": "Halted",
            "instancetype": {"name": "fleet", "kind": "VirtualMachineInstancetype"},
            "volumes": [{"name": "root", "container_disk": "registry.example.com/disk:1"}],
        }
        hosts = {
            f"vm-{number:03}": {
                "virtual_machine": declared,
                "vm_namespace": fleet.namespace,
                "vm_name": f"vm-{number:03}",
            }
            for number in range(4)
        }
        groups = {"vms": {"hosts": hosts}, "others": {"hosts": {"stranger": {}}}}
        self.path.write_text(json.dumps({"all": {"children": groups, "vars": GUEST}}))

    def begin(self, playbook: str, *arguments: str, inventory: bool = True, **variables: Any) -> subprocess.Popen[str]:
        environment = surroundings(self.fleet.kubeconfig)
        command = [str(Path(sys.executable).parent / "ansible-playbook"), _named(playbook)]
        source = ["-i", str(self.path)] if inventory else []
        return subprocess.Popen(
            [*command, *source, "-e", json.dumps(variables), *arguments],
            env=environment,
            cwd=self.fleet.folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )


def _named(playbook: str) -> str:
    """A playbook of the collection, or a file."""
    return playbook if playbook.endswith(".yml") else f"virtshape.instancetypes.{playbook}"


def done(process: subprocess.Popen[str], fails: bool = False) -> str:
    """The output of a playbook, on one line."""
    output, _nothing = process.communicate()
    assert (process.returncode != 0) == fails, output
    return flat(output)


def test_hosts_out_of_the_limit_are_not_touched(cluster: Path, namespace: str, tmp_path: Path) -> None:
    fleet = Fleet(cluster, namespace, tmp_path)
    inventory = Inventory(fleet)
    fleet.size(1, "2Gi")
    begun = [inventory.begin("virtual_machines", "--limit", limit) for limit in ("vm-000", "vm-001,localhost")]
    for process in begun:
        assert "1 virtual machine: 1 created" in done(process)
    output = done(inventory.begin("virtual_machines", "--limit", "all:!vm-003", virtual_machines_group="vms"))
    assert "3 virtual machines: 1 created, 2 unchanged" in output
    assert sorted(fleet.vms()) == ["vm-000", "vm-001", "vm-002"]

    fleet.size(1, "4Gi")
    lease = {"revision_refresh_lease": f"{namespace}/refresh"}
    begun = [
        inventory.begin("refresh_revisions", "--limit", "vm-000", revision_refresh_group="vms", **lease),
        inventory.begin("refresh_revisions", "--limit", "vm-001,localhost", **lease),
    ]
    for process in begun:
        assert "1 refreshed" in done(process)
    assert fleet.generations() == {"vm-000": 2, "vm-001": 2, "vm-002": 1}

    output = done(inventory.begin("fleet_report", "--limit", "vm-001:vm-002", fleet_report_namespaces=[namespace]))
    assert "2 virtual machines: 1 drifted" in output
    report = json.loads((tmp_path / "fleet-report" / "fleet-report.json").read_text())
    assert [vm["name"] for vm in report["virtual_machines"]] == ["vm-001", "vm-002"]


def test_the_documented_play_over_vms(cluster: Path, namespace: str, tmp_path: Path) -> None:
    fleet = Fleet(cluster, namespace, tmp_path)
    inventory = Inventory(fleet)
    fleet.size(1, "2Gi")
    page = (CHECKOUT / "docs" / "inventory.md").read_text()
    blocks = [block.partition("```")[0] for block in page.split("```yaml\n")[1:]]
    (play,) = [yaml.safe_load(block) for block in blocks if block.startswith("- name: The VMs of the shop\n")]
    assert play[0].pop("hosts") == "shop"
    play[0]["hosts"] = "vms"
    # The guests of the test are no machines that one could log in to.
    play[0]["vars"] = {"ansible_connection": "local", "ansible_shell_type": "sh", "ansible_become": False}
    path = tmp_path / "shop.yml"
    path.write_text(yaml.safe_dump(play, sort_keys=False))
    hosts = json.loads(inventory.path.read_text())
    hosts["all"]["children"]["vms"]["vars"] = {"ansible_python_interpreter": sys.executable}
    for host in hosts["all"]["children"]["vms"]["hosts"].values():
        host["virtual_machine"] = {**host["virtual_machine"], "name": "{{ inventory_hostname }}"}
    inventory.path.write_text(json.dumps(hosts))
    assert "vm-002 : ok=1 changed=0" in done(inventory.begin(str(path), "--limit", "vm-001:vm-002"))
    assert sorted(fleet.vms()) == ["vm-001", "vm-002"]


def test_limit_without_hosts_fails(cluster: Path, namespace: str, tmp_path: Path) -> None:
    inventory = Inventory(Fleet(cluster, namespace, tmp_path))
    group = {"virtual_machines_group": "vms", "revision_refresh_group": "vms"}
    outside = "limit: is {}, and no host of the group vms is in it, so there is nothing to do"
    localhost = "limit: is vm-000, which leaves out localhost, where this playbook runs"
    requested: list[tuple[subprocess.Popen[str], str]] = [
        (inventory.begin("virtual_machines", "-l", "stranger", **group), outside.format("stranger")),
        (
            inventory.begin("refresh_revisions", "-l", "stranger,localhost", **group),
            outside.format("stranger,localhost"),
        ),
        (inventory.begin("fleet_report", "-l", "stranger"), "stranger: has no vm_namespace or vm_name"),
        (inventory.begin("deploy_catalog", "-l", "vm-000"), localhost),
        (inventory.begin("site", "-l", "vm-000"), localhost),
        (inventory.begin("catalog_report", "-l", "vm-000"), localhost),
        (
            inventory.begin("virtual_machines", "-l", "vm-000", inventory=False),
            "limit: is vm-000, and no host of the inventory is in it",
        ),
    ]
    for process, result in requested:
        assert result in done(process, fails=True)
