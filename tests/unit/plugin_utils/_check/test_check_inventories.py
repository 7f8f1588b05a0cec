"""The check's findings about VMs that are the hosts of an inventory."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from checked_files import CHECKED

NOTHING = (
    ".: warning: nothing checked: found no VM, instancetype or preference that the check can judge; check the paths"
)
GOOD = {"namespace": "shop", "instancetype": "u1.medium", "preference": "fedora"}
BAD = {"namespace": "shop", "instancetype": "u1.medum"}


@pytest.fixture
def check(check: Any) -> Any:
    """check(files, *paths): exit code, findings, and the last line."""

    def run(files: dict[str, Any], *paths: str) -> tuple[int, list[str], str]:
        code, (*result, last) = check(files, paths=paths or ["."])
        return code, [line.partition("[")[0].strip() for line in result], last

    return run


def test_hosts_with_their_groups_variables(check: Any) -> None:
    inventory = {
        "web": {
            "hosts": {"web-[1:3]": None, "web-4": {"virtual_machine": {**BAD, "name": "special"}}},
            "vars": {"virtual_machine": GOOD},
        },
        "all": {"vars": {"virtual_machines_defaults": {"volumes": [{"name": "root", "container_disk": "disk:1"}]}}},
    }
    code, result, last = check({"fleet.yml": inventory})
    assert (code, last) == (1, f"4 objects {CHECKED}: 1 error")
    assert result[0].startswith("fleet.yml:10: error: VirtualMachine shop/special: spec.instancetype.name: ")


def test_files_of_variables_count_as_in_ansible(check: Any) -> None:
    files = {
        "fleet/hosts.yml": {"db": {"hosts": {"db-1": {}, "db-2": {}, "db-3": {"virtual_machine": BAD}}}},
        "fleet/group_vars/all.yml": {"virtual_machine": BAD},
        "fleet/group_vars/db.yml": {"virtual_machine": GOOD},
        "fleet/host_vars/db-2.yml": {"virtual_machine": {**GOOD, "run_strategy": "Sometimes"}},
        "fleet/host_vars/db-3/vm.yml": {"virtual_machine": {**GOOD, "instancetype": "u1.large"}},
    }
    code, result, last = check(files)
    assert (code, last) == (1, f"3 objects {CHECKED}: 1 error")
    assert result[0].startswith("fleet/host_vars/db-2.yml:")
    assert "virtual machine db-2: value of run_strategy must be one of" in result[0]


def test_variables_of_hosts_without_an_inventory(check: Any) -> None:
    code, result, last = check(
        {"host_vars/web.yml": {"virtual_machine": BAD}, "vars/other.yml": {"virtual_machine": BAD}}
    )
    assert (code, last) == (1, f"1 object {CHECKED}: 1 error")
    assert result[0].startswith("host_vars/web.yml:1: error: VirtualMachine shop/web: ")


def test_unreadable_inventories_are_noted(check: Any) -> None:
    files = {
        "hosts.yml": {"web": {"hosts": {"web-1": {"virtual_machine": BAD}}}},
        "group_vars/web.yml": "[not a mapping",
    }
    code, result, _last = check(files, "hosts.yml")
    assert (code, result[0].partition(": Ansible")[0]) == (0, "hosts.yml:1: note")
    assert "cannot read the inventory" in result[0]


def test_other_inventories_are_ignored(check: Any) -> None:
    files = {
        "hosts.yml": {"web": {"hosts": {"web-1": {"ansible_host": "192.0.2.1"}}}},
        "play.yml": "- hosts: all\n  tasks: []\n",
        "dynamic.yml": {"plugin": "virtshape.instancetypes.virtual_machines"},
    }
    assert check(files) == (0, [NOTHING], f"0 objects {CHECKED}: 1 warning")


INI = """\
[web]
web-[1:3]
web-4 virtual_machine="{'name': 'special', 'namespace': 'shop', 'instancetype': 'u1.medum'}"

# All hosts of the group that say nothing else have this.
[web:vars]
virtual_machine={'namespace': 'shop', 'instancetype': {'name': 'u1.medum'}, 'preference': 'fedora'}

[fleet:children]
web
"""


def test_inventories_in_ini_format(check: Any) -> None:
    code, result, last = check({"hosts.ini": INI})
    assert (code, last) == (1, f"4 objects {CHECKED}: 4 errors")
    assert [line.partition(": spec")[0] for line in result] == [
        "hosts.ini:3: error: VirtualMachine shop/special",
        *(f"hosts.ini:7: error: VirtualMachine shop/web-{number}" for number in (1, 2, 3)),
    ]


@pytest.mark.parametrize("inventory", ["hosts", "inventory", "inventory/production", "site.ini"])
def test_files_of_variables_next_to_ini(check: Any, inventory: str) -> None:
    beside = str(Path(inventory).parent)
    files = {
        inventory: "[db]\ndb-1\n[cache]\ncache-1\n",
        f"{beside}/group_vars/db": yaml.safe_dump({"virtual_machine": GOOD}),
        f"{beside}/host_vars/cache-1/vm.yml": {"virtual_machine": BAD},
    }
    code, result, last = check(files)
    assert (code, last) == (1, f"2 objects {CHECKED}: 1 error")
    assert result[0].startswith(str(Path(f"{beside}/host_vars/cache-1/vm.yml:1: error: VirtualMachine shop/cache-1: ")))


def test_named_ini_inventory(check: Any) -> None:
    """Its files of variables need not be named."""
    files = {"of-shop": "db-1\n", "group_vars/all": yaml.safe_dump({"virtual_machine": BAD})}
    code, result, last = check(files, "of-shop")
    assert (code, last) == (1, f"1 object {CHECKED}: 1 error")
    assert result[0].startswith("of-shop:1: error: VirtualMachine shop/db-1: ")


def test_ini_text_is_no_virtual_machine(check: Any) -> None:
    """Ansible reads INI values as Python literals, and leaves what is none a text."""
    line = 'web-1 virtual_machine="{"instancetype": "u1.medium", "template": true}"\n'
    code, result, _last = check({"hosts.ini": line.replace('"{', "'{").replace('}"', "}'")})
    assert code == 1 and result[0].startswith("hosts.ini:1: error: virtual machine web-1: virtual_machine: is a text; ")


def test_other_files_are_no_inventories(check: Any) -> None:
    variables = {"group_vars/all.yml": {"virtual_machine": BAD}}
    others = {"tox.ini": "[tox]\nenvlist=py3\n", "LICENSE": "Do as you like\n", "hosts": "#!/bin/sh\necho {}\n"}
    assert check({**variables, **others}) == (0, [NOTHING], f"0 objects {CHECKED}: 1 warning")


@pytest.mark.parametrize("text", ["[tox]\nskip =\n    py3.7\n", "a=b\n", "[mypy]\n; more\nstrict = true\n"])
def test_settings_of_tools_are_no_inventories(text: str, check: Any) -> None:
    assert check({"tox-ansible.ini": text}) == (0, [NOTHING], f"0 objects {CHECKED}: 1 warning")


def test_inventories_have_settings_of_groups(check: Any) -> None:
    text = "web-1 ansible_host=a\n[all:vars] # more\nuser = x\n[web]\nweb-1\n"
    files = {"hosts.ini": text, "group_vars/web.yml": {"virtual_machine": BAD}}
    assert check(files)[0] == 1


SECRET = "$ANSIBLE_VAULT;1.1;AES256\n616263\n"


@pytest.mark.parametrize("path", [".", "hosts.yml", "hosts.ini"])
def test_encrypted_files_hide_no_other_variables(check: Any, path: str) -> None:
    files = {
        "hosts.yml": {"web": {"hosts": {"web-1": {"virtual_machine": BAD}}}},
        "hosts.ini": "[web]\nweb-1 virtual_machine=\"{'namespace': 'shop', 'instancetype': 'u1.medum'}\"\n",
        "group_vars/web/vault.yml": SECRET,
    }
    code, result, _last = check(files, path)
    assert code == 1 and any(": error: VirtualMachine shop/web-1: " in line for line in result)
    [note] = [line for line in result if "note" in line]
    assert note.endswith("group_vars/web/vault.yml:1: note: encrypted with Ansible Vault; its contents are not checked")
    assert "616263" not in str(result)


IN_INVENTORY = """\
web:
  hosts:
    web-1:
      virtual_machine:
        namespace: shop
        run_strategy: !vault |
          $ANSIBLE_VAULT;1.1;AES256
          616263
"""
IN_TASK = """\
- virtshape.instancetypes.virtual_machine:
    name: db
    namespace: shop
    instancetype: u1.medum
    cloud_init:
      user_data: !vault |
        $ANSIBLE_VAULT;1.1;AES256
        616263
"""


def test_encrypted_values_are_not_shown(check: Any) -> None:
    code, result, last = check({"hosts.yml": IN_INVENTORY, "play.yml": IN_TASK})
    secret = "has a value encrypted with Ansible Vault, so the"
    assert (code, last) == (1, f"1 object {CHECKED}: 1 error, 2 notes; not checked: 1 VirtualMachine")
    assert result[0] == f"hosts.yml:6: note: virtual machine web-1: run_strategy: {secret} object is not checked; " + (
        "run the playbook with --check against a cluster"
    )
    # The rest of a VM with a secret for its guest is checked.
    assert result[1].startswith("play.yml:1: error: VirtualMachine shop/db: spec.instancetype.name: ")
    assert result[2] == f"play.yml:5: note: virtual machine db: cloud_init: {secret} option is not checked"
