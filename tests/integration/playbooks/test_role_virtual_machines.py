"""The role virtual_machines shows that guests run without the change that it has made."""

import sys
from pathlib import Path
from typing import Any

import pytest
from ansible_environment import played

SENT = pytest.mark.nightly("test_direct_execution compares both ways each day")


@pytest.mark.parametrize("direct", [True, pytest.param(False, marks=SENT)], ids=["direct", "sent"])
def test_the_role_shows_the_warning_of_the_module(cluster: Path, namespace: str, tmp_path: Path, direct: bool) -> None:
    # With a maximum, so that its memory takes a restart whether or not guests can migrate.
    sizes = [
        {"name": name, "cpu": {"guest": 1}, "memory": {"guest": memory, "max_guest": memory}}
        for name, memory in (("medium", "1Gi"), ("xlarge", "2Gi"))
    ]

    def declare(size: str, *arguments: str) -> str:
        kind = {"name": size, "kind": "VirtualMachineInstancetype"}
        disk = {"name": "root", "container_disk": "registry.example.com/disk:1"}
        variables: dict[str, Any] = {
            "ansible_python_interpreter": sys.executable,
            "virtshape_direct_execution": direct,
            "virtual_machines_defaults": {"namespace": namespace, "instancetype": kind, "volumes": [disk]},
            "virtual_machines_list": [{"name": "web-1"}, {"name": "web-2"}],
        }
        play = {
            "hosts": "localhost",
            "gather_facts": False,
            "vars": variables,
            "tasks": [
                {"virtshape.instancetypes.instancetype": {"namespace": namespace, "instancetypes": sizes}},
                {"ansible.builtin.import_role": {"name": "virtshape.instancetypes.virtual_machines"}},
            ],
        }
        return played(tmp_path, [play], *arguments, kubeconfig=cluster, no_proxy="127.0.0.1")

    assert "a restart for this" not in declare("medium")
    assert declare("xlarge", "--check").count("2 VMs would need a restart for this; set restart: if_required") == 1
    assert declare("xlarge").count("2 VMs need a restart for this; set restart: if_required") == 1
    restarted = declare("xlarge", "-e", "virtual_machines_restart=if_required")
    assert "a restart for this" not in restarted and "2 restarted" in restarted
