"""The connection as variables of a host: each host of a play is a cluster of its own."""

import json
import re
import sys
from pathlib import Path
from typing import Any

from ansible_environment import ansible

from scripted_server import Store, session_with

PATH = "/apis/instancetype.kubevirt.io/v1beta1/virtualmachineclusterinstancetypes"
PREFERENCES = "/apis/instancetype.kubevirt.io/v1beta1/virtualmachineclusterpreferences"


def cluster(name: str) -> Store:
    """A cluster with one instancetype, which has its name."""
    spec = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
    manifest = {"kind": "VirtualMachineClusterInstancetype", "metadata": {"name": name}, "spec": spec}
    return Store({PATH: [manifest], PREFERENCES: []})


def read(folder: Path, hosts: dict[str, dict[str, Any]], *plays: dict[str, Any]) -> list[dict[str, Any]]:
    """The instancetypes that the plays find, each from every host. plays: more of the play; `options`, of its task."""
    book = []
    for number, more in enumerate(plays):
        found = "{{ inventory_hostname }} {{ found.instancetypes | map(attribute='name') | join }}"
        tasks: list[dict[str, Any]] = [
            {
                "virtshape.instancetypes.catalog_info": {"scope": "cluster", **more.pop("options", {})},
                "register": "found",
            },
            {"ansible.builtin.debug": {"msg": f"{number} {found}"}},
        ]
        book.append({"hosts": "clusters", "connection": "local", "gather_facts": False, "tasks": tasks, **more})
    (folder / "play.yml").write_text(json.dumps(book))
    interpreter = {"ansible_python_interpreter": sys.executable}
    (folder / "hosts.json").write_text(json.dumps({"clusters": {"hosts": hosts, "vars": interpreter}}))
    options = ("-i", "hosts.json", "play.yml", "-vvv")
    code, printed = ansible(folder, "ansible-playbook", *options, bare=True, KUBECONFIG="/nonexistent")
    assert code == 0, printed
    assert "scripted-token" not in printed
    lines = [line.split() for line in re.findall('"msg": "([0-9] .*)"', printed)]
    return [{host: name for play, host, name in lines if play == str(number)} for number in range(len(plays))]


def test_each_host_is_its_own_cluster(tmp_path: Path) -> None:
    with session_with(cluster("large")) as east, session_with(cluster("small")) as west:
        hosts: dict[str, dict[str, Any]] = {
            "east": {"virtshape_host": east.host, "token": "scripted-token", "virtshape_api_key": "{{ token }}"},
            "west": {"virtshape_host": west.host, "virtshape_api_key": "scripted-token", "virtshape_context": ""},
        }
        hosts["sent"] = {**hosts["east"], "virtshape_direct_execution": False}
        for host in hosts.values():
            host["virtshape_proxy"] = "{{ no_such | default(omit) }}"
        there = {"host": west.host, "api_key": "scripted-token"}
        defaults = {"group/virtshape.instancetypes.all": there}
        own, by_task, by_defaults = read(tmp_path, hosts, {}, {"options": there}, {"module_defaults": defaults})
        assert own == {"east": "large", "west": "small", "sent": "large"}
        # A task that names a cluster itself is about no other.
        assert by_task == by_defaults == dict.fromkeys(hosts, "small")
