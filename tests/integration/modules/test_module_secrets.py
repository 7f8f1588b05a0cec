"""Secrets of the way to the cluster, and of what is declared, are never shown."""

import base64
import json
from pathlib import Path
from typing import Any

import yaml
from ansible_environment import ansible

from modules_support import Task, manifest, objects


def test_kubeconfig_as_a_dictionary(task: Task, cluster: Path) -> None:
    kubeconfig = yaml.safe_load(cluster.read_text())
    secrets = [
        user["user"][key] for user in kubeconfig["users"] for key in ("token", "client-key-data") if key in user["user"]
    ]
    assert secrets
    size = {"name": "web", "cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
    created = task("instancetype", kubeconfig=kubeconfig, **size)
    read = task("virtual_machine_info", kubeconfig=kubeconfig, include=["refresh"])
    assert (created["changed"], read["virtual_machines"]) == (True, [])
    assert not any(secret in str((created, read)) for secret in secrets)


PLAYBOOK = """
- hosts: localhost
  gather_facts: false
  vars:
    secret: "one-{{ mark }}"
  tasks:
    - virtshape.instancetypes.virtual_machine: &declared
        kubeconfig: "{{ lookup('ansible.builtin.file', kubeconfig_file) | from_yaml }}"
        namespace: "{{ namespace }}"
        run_strategy: Halted
        cloud_init: {user: me, password: "password-{{ secret }}", ssh_keys: [ssh-ed25519 AAAA]}
        virtual_machines:
          - name: made
            sysprep: {secret: answers}
            access_credentials: [{secret: keys}]
            volumes:
              - name: root
                import:
                  http:
                    url: "https://user:url-{{ secret }}@images.example.com/a.qcow2?signature=url-{{ secret }}"
                    extra_headers: ["Authorization: header-{{ secret }}"]
                  size: 1Gi
          - name: raw
            cloud_init: {}
            template:
              spec:
                volumes:
                  - name: init
                    cloudInitNoCloud: {userData: "token-{{ secret }}", networkData: "net-{{ secret }}"}
          - name: data
            cloud_init: {}
            volumes: [{name: init, cloud_init: {type: configdrive, user_data: "data-{{ secret }}"}}]
    # Other values for the same, which is a change that the diff shows.
    - virtshape.instancetypes.virtual_machine: *declared
      vars:
        secret: "two-{{ mark }}"
      register: changed
    - ansible.builtin.assert:
        that: [changed is changed, "changed.msg == '3 virtual machines: 3 changed'"]
    - virtshape.instancetypes.virtual_machine_info:
        kubeconfig: "{{ lookup('ansible.builtin.file', kubeconfig_file) | from_yaml }}"
        namespace: "{{ namespace }}"
        include: [resources, refresh, expansion]
    - virtshape.instancetypes.virtual_machine:
        kubeconfig: "{{ lookup('ansible.builtin.file', kubeconfig_file) | from_yaml }}"
        namespace: "{{ namespace }}"
        state: absent
        virtual_machines: [{name: made}, {name: raw}, {name: data}, {name: theirs}]
"""


def test_playbook_output_hides_secrets(cluster: Path, namespace: str, api: Any, tmp_path: Path) -> None:
    mark = "hunter2" + namespace[-4:]
    _by_kubectl(api, namespace, mark)
    (tmp_path / "play.yml").write_text(PLAYBOOK, encoding="utf-8")
    values = {"mark": mark, "namespace": namespace, "kubeconfig_file": str(cluster)}
    more = [f"--extra-vars={name}={value}" for name, value in values.items()]
    code, output = ansible(tmp_path, "ansible-playbook", "play.yml", "--diff", "-vvv", *more)
    assert code == 0, output
    printed = "\n".join(line for line in output.splitlines() if "--extra-vars" not in line)
    assert "(hidden, another value)" in printed
    secrets = [mark, base64.b64encode(mark.encode()).decode().rstrip("=")]
    user = yaml.safe_load(cluster.read_text())["users"][0]["user"]
    secrets += [user[name] for name in ("token", "client-key-data") if name in user]
    assert [secret for secret in secrets if secret in printed] == []


def _by_kubectl(api: Any, namespace: str, mark: str) -> None:
    """A VM that kubectl has noted in full in one of its annotations."""
    init = {"name": "init", "cloudInitNoCloud": {"userData": f"token: {mark}"}}
    spec = {"runStrategy": "Halted", "template": {"spec": {"domain": {"devices": {}}, "volumes": [init]}}}
    last = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps({"spec": spec})}
    metadata = {"name": "theirs", "annotations": last}
    body = {**manifest("VirtualMachine", "theirs", spec), "metadata": metadata}
    objects(api, "VirtualMachine").create(namespace=namespace, body=body)
