"""What the check says of VMs that are the hosts of an inventory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils.check.__main__ import main

GOOD = {"namespace": "shop", "instancetype": "u1.medium", "preference": "fedora"}
BAD = {"namespace": "shop", "instancetype": "u1.medum"}


@pytest.fixture
def check(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """check(files, *arguments): exit code, findings, and the last line."""
    monkeypatch.chdir(tmp_path)

    def run(files: dict[str, Any], *arguments: str) -> tuple[int, list[str], str]:
        for name, content in files.items():
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        code = main([*(arguments or ("."))])
        *found, last = capsys.readouterr().out.splitlines()
        return code, [line.partition("[")[0].strip() for line in found], last

    return run


def test_hosts_with_their_groups_variables(check: Any) -> None:
    inventory = {
        "web": {
            "hosts": {"web-[1:3]": None, "web-4": {"virtual_machine": {**BAD, "name": "special"}}},
            "vars": {"virtual_machine": GOOD},
        },
        "all": {"vars": {"virtual_machines_defaults": {"volumes": [{"name": "root", "container_disk": "disk:1"}]}}},
    }
    code, found, last = check({"fleet.yml": inventory})
    assert (code, last) == (1, "4 objects checked for KubeVirt 1.9: 1 error")
    assert found[0].startswith("fleet.yml:10: error: VirtualMachine shop/special: spec.instancetype.name: ")


def test_files_of_variables_count_as_in_ansible(check: Any) -> None:
    files = {
        "fleet/hosts.yml": {"db": {"hosts": {"db-1": {}, "db-2": {}, "db-3": {"virtual_machine": BAD}}}},
        "fleet/group_vars/all.yml": {"virtual_machine": BAD},
        "fleet/group_vars/db.yml": {"virtual_machine": GOOD},
        "fleet/host_vars/db-2.yml": {"virtual_machine": {**GOOD, "run_strategy": "Sometimes"}},
        "fleet/host_vars/db-3/vm.yml": {"virtual_machine": {**GOOD, "instancetype": "u1.large"}},
    }
    code, found, last = check(files)
    assert (code, last) == (1, "2 objects checked for KubeVirt 1.9: 1 error")
    assert found[0].startswith("fleet/host_vars/db-2.yml:")
    assert "virtual machine db-2: value of run_strategy must be one of" in found[0]


def test_variables_of_hosts_without_an_inventory(check: Any) -> None:
    code, found, last = check(
        {"host_vars/web.yml": {"virtual_machine": BAD}, "vars/other.yml": {"virtual_machine": BAD}}
    )
    assert (code, last) == (1, "1 object checked for KubeVirt 1.9: 1 error")
    assert found[0].startswith("host_vars/web.yml:1: error: VirtualMachine shop/web: ")


def test_what_ansible_cannot_read(check: Any) -> None:
    files = {
        "hosts.yml": {"web": {"hosts": {"web-1": {"virtual_machine": BAD}}}},
        "group_vars/web.yml": "$ANSIBLE_VAULT;1.1;AES256\n6162\n",
    }
    code, found, _last = check(files, "hosts.yml")
    assert (code, found[0].partition(": Ansible")[0]) == (0, "hosts.yml:1: note")
    assert "cannot read the inventory" in found[0]


def test_other_inventories_are_left_alone(check: Any) -> None:
    files = {
        "hosts.yml": {"web": {"hosts": {"web-1": {"ansible_host": "192.0.2.1"}}}},
        "play.yml": "- hosts: all\n  tasks: []\n",
        "dynamic.yml": {"plugin": "virtshape.instancetypes.virtual_machines"},
    }
    assert check(files) == (0, [], "0 objects checked for KubeVirt 1.9: nothing found")
