"""The playbook modernize: a table of guests, new manifests as files, and what cannot be converted."""

import json
from pathlib import Path

import pytest
import yaml
from ansible_environment import ansible

OLD = """\
kind: List
apiVersion: v1
items:
- apiVersion: kubevirt.io/v1
  kind: VirtualMachineInstancePreset
  metadata: {name: small, namespace: shop}
  spec: {selector: {matchLabels: {size: small}}, domain: {devices: {}, resources: {requests: {memory: 2Gi}}}}
- apiVersion: kubevirt.io/v1
  kind: VirtualMachine
  metadata:
    name: web
    namespace: shop
    uid: 1b0f8b2e
    annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}
  spec:
    running: true
    template:
      metadata: {labels: {size: small}}
      spec: {domain: {devices: {}}}
  status: {ready: true}
---
apiVersion: v1
kind: Service
metadata: {name: web}
"""


PLAYBOOK = "virtshape.instancetypes.modernize"


def run(folder: Path, *options: str, playbook: str = PLAYBOOK, **variables: object) -> tuple[int, str]:
    arguments = (playbook, "-e", json.dumps(variables), *options)
    return ansible(folder, "ansible-playbook", *arguments, PWD=str(folder))


def test_a_vm_of_a_preset(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "vms.yml").write_text(OLD)
    code, output = run(tmp_path, "--check", modernize_paths=["old"])
    assert code == 0 and "1 guest: 1 equal" in output and not (tmp_path / "modernized").exists(), output
    # The second time, what the first has written is not read.
    (tmp_path / "twice.yml").write_text(json.dumps([{"ansible.builtin.import_playbook": PLAYBOOK}] * 2))
    code, output = run(tmp_path, playbook="twice.yml", modernize_paths=["."])
    assert code == 0 and "VirtualMachine shop/web" in output, output
    assert output.count("1 guest: 1 equal; 1 file in modernized") == 2, output
    documents = list(yaml.safe_load_all((tmp_path / "modernized" / "old" / "vms.yml").read_text()))
    assert [item["kind"] for item in documents] == ["VirtualMachineInstancePreset", "VirtualMachine", "Service"]
    assert documents[1]["metadata"] == {"name": "web", "namespace": "shop"} and "status" not in documents[1]
    assert documents[1]["spec"]["instancetype"]["name"] == "u1.small"
    assert documents[1]["spec"]["runStrategy"] == "Always"


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            OLD.replace("memory: 2Gi", "memory: x"),
            [],
            "VirtualMachineInstancePreset small: spec.domain.",
        ),
        (OLD, ["--catalog", "any"], "invalid choice: 'any'"),
        ("kind: Service\napiVersion: v1\n", [], "old.yml: found no VM and no template; check the paths"),
        (OLD.replace("uid: 1b0f8b2e", "uid: {"), [], "old.yml:"),
    ],
)
def test_invalid_input_fails_the_playbook(tmp_path: Path, text: str, options: list[str], message: str) -> None:
    (tmp_path / "old.yml").write_text(text)
    code, output = run(tmp_path, modernize_paths="old.yml", modernize_options=options)
    assert code == 2 and message in " ".join(output.split()).replace("''", "'"), output
