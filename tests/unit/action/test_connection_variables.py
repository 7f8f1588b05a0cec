"""The connection as variables of a host: each host of a play is a cluster of its own."""

import json
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


def read(folder: Path, options: dict[str, Any], hosts: dict[str, dict[str, Any]], **play: Any) -> dict[str, Any]:
    """The instancetype that a task with the options finds from each host."""
    task = {"scope": "cluster", **options}
    tasks: list[dict[str, Any]] = [
        {"virtshape.instancetypes.catalog_info": task, "register": "found"},
        {
            "ansible.builtin.copy": {
                "dest": f"{folder}/{{{{ inventory_hostname }}}}",
                "content": "{{ found.instancetypes | map(attribute='name') | join }}",
            }
        },
    ]
    (folder / "play.yml").write_text(
        json.dumps([{"hosts": "clusters", "connection": "local", "gather_facts": False, "tasks": tasks, **play}])
    )
    interpreter = {"ansible_python_interpreter": sys.executable}
    (folder / "hosts.json").write_text(json.dumps({"clusters": {"hosts": hosts, "vars": interpreter}}))
    options = ("-i", "hosts.json", "play.yml", "-vvv")
    code, printed = ansible(folder, "ansible-playbook", *options, bare=True, KUBECONFIG="/nonexistent")
    assert code == 0, printed
    assert "scripted-token" not in printed
    return {name: (folder / name).read_text() for name in hosts}


def test_each_host_is_its_own_cluster(tmp_path: Path) -> None:
    with session_with(cluster("large")) as east, session_with(cluster("small")) as west:
        hosts = {
            "east": {"virtshape_host": east.host, "token": "scripted-token", "virtshape_api_key": "{{ token }}"},
            "west": {"virtshape_host": west.host, "virtshape_api_key": "scripted-token", "virtshape_context": ""},
        }
        for host in hosts.values():
            host["virtshape_proxy"] = "{{ no_such | default(omit) }}"
        assert read(tmp_path, {}, hosts) == {"east": "large", "west": "small"}
        # One that names a cluster itself is about no other.
        there = {"host": west.host, "api_key": "scripted-token"}
        assert read(tmp_path, there, hosts) == {"east": "small", "west": "small"}
        defaults = {"module_defaults": {"group/virtshape.instancetypes.all": there}}
        assert read(tmp_path, {}, hosts, **defaults) == {"east": "small", "west": "small"}
        sent = {**hosts["east"], "virtshape_direct_execution": False}
        assert read(tmp_path, {}, {"east": sent}) == {"east": "large"}
