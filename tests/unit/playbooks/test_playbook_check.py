"""The playbook check runs the same check as the command, and fails as it does."""

from pathlib import Path

import pytest
from ansible_environment import ansible
from checked_files import CHECKED

VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: shop}
spec: {runStrategy: Always, instancetype: {name: INSTANCETYPE}, template: {spec: {domain: {devices: {}}}}}
"""


@pytest.mark.parametrize(
    ("instancetype", "options", "code", "message"),
    [
        ("u1.medium", "[]", 0, f"1 object {CHECKED}: nothing found"),
        ("u1.none", "[--kubevirt-version, v1.6.2]", 2, "1 object checked for KubeVirt 1.6: 1 error"),
        ("u1.medium", "[--catalog, none]", 2, '"u1.medium" not found; the cluster has 0'),
        ("u1.medium", "[--format, x]", 2, "invalid choice: 'x'"),
    ],
)
def test_the_playbook(tmp_path: Path, instancetype: str, options: str, code: int, message: str) -> None:
    (tmp_path / "vm.yaml").write_text(VM.replace("INSTANCETYPE", instancetype))
    variables = f"{{check_paths: [{tmp_path}], check_options: {options}}}"
    ended, printed = ansible(tmp_path, "ansible-playbook", "virtshape.instancetypes.check", "-e", variables)
    output = " ".join(printed.split())
    assert ended == code and message in output.replace("''", "'"), output
