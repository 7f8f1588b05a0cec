"""Values that a play gets from elsewhere: a kubeconfig in a vault, and the answers of surveys."""

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.vault import VaultLib, VaultSecret
from ansible_environment import ansible, played

from modules_support import ANSIBLE_CORE

PASSWORD = "correct-horse"
INFO = "virtshape.instancetypes.virtual_machine_info"


@pytest.fixture
def vault(cluster: Path, namespace: str, tmp_path: Path) -> Path:
    """A folder with the kubeconfig of the cluster, encrypted, and two vault passwords, of which one fits."""
    (tmp_path / "fits").write_text(PASSWORD)
    (tmp_path / "wrong").write_text("wrong")
    secret = VaultSecret(PASSWORD.encode())
    encrypted = VaultLib([("default", secret)]).encrypt(cluster.read_text(), secret)
    for place in ("kc", "roles/fleet/files/kc-of-role"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_bytes(encrypted)
    (tmp_path / "roles/fleet/tasks").mkdir(parents=True)
    (tmp_path / "roles/fleet/tasks/main.yml").write_text(
        f"- {INFO}: {{kubeconfig: kc-of-role, namespace: {namespace}}}\n"
    )
    (tmp_path / "fleet.virtual_machines.yml").write_text(
        "plugin: virtshape.instancetypes.virtual_machines\nkubeconfig: kc\n"
    )
    # Ansible decrypts a variable itself: it is the text of a kubeconfig then.
    lines = ["inline: !vault |", *(f"  {line}" for line in encrypted.decode().splitlines())]
    (tmp_path / "inline.yml").write_text("\n".join(lines))
    return tmp_path


def play(*tasks: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"hosts": "localhost", "gather_facts": False, "vars_files": ["inline.yml"], "tasks": [*tasks]}]


def test_a_kubeconfig_in_a_vault_is_decrypted(vault: Path, namespace: str) -> None:
    place = {"namespace": namespace}
    book = play(
        {INFO: {**place, "kubeconfig": "kc"}},
        {INFO: {**place, "kubeconfig": "none:kc"}},
        {INFO: {**place, "kubeconfig": "{{ inline }}"}},
        {INFO: place, "environment": {"K8S_AUTH_KUBECONFIG": f"{vault}/kc"}},
        {INFO: place, "vars": {"virtshape_kubeconfig": "kc", "virtshape_direct_execution": False}},
        {"ansible.builtin.include_role": {"name": "fleet"}},
    )
    printed = played(vault, book, "-vvvv", "--vault-password-file", "fits", bare=True)
    assert "ok=7" in printed and "-key-data" not in printed and "-authority-data" not in printed
    code, listed = ansible(
        vault, "ansible-inventory", "-i", "fleet.virtual_machines.yml", "--graph", "--vault-password-file", "fits"
    )
    assert (code, "Failed to parse" in listed) == (0, False)
    environment = {"KUBECONFIG": f"{vault}/kc"}
    played(vault, play({INFO: place}), "--vault-password-file", "fits", bare=True, **environment)


@pytest.mark.parametrize("password", [(), ("--vault-password-file", "wrong")])
def test_without_the_password_the_remedy_is_named(vault: Path, password: tuple[str, ...]) -> None:
    (vault / "inline.yml").write_text("{}")
    problem = "kubeconfig kc: is encrypted with Ansible Vault, and no vault password of this run decrypts it; give it"
    assert problem in played(vault, play({INFO: {"kubeconfig": "kc"}}), *password, fails=True, bare=True)
    _code, listed = ansible(vault, "ansible-inventory", "-i", "fleet.virtual_machines.yml", "--graph", *password)
    assert problem in " ".join(listed.split())


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        (("-e", '{"tier": 5, "backup": true}'), "labels.tier: expected a string, found 5; {{ value | string }}"),
        (
            ("-e", "tier=5 backup=true"),
            "GraphicsDevice: expected true or false, found 'true'; {{ value | bool }}",
        ),
        (("-e", "tier=5 backup=true"), "GracePeriodSeconds: expected a whole number, found '5'; {{ value | int }}"),
    ],
)
def test_answers_of_a_wrong_type_get_the_filter(
    cluster: Path, namespace: str, tmp_path: Path, answers: tuple[str, ...], problem: str
) -> None:
    def declare(labels: str, seconds: str, graphics: str) -> list[dict[str, Any]]:
        devices = {"autoattachGraphicsDevice": graphics}
        options = {
            "name": "sv",
            "namespace": namespace,
            "run_strategy": "Halted",
            "labels": {"tier": labels},
            "template": {"spec": {"terminationGracePeriodSeconds": seconds, "domain": {"devices": devices}}},
        }
        tasks = [{"virtshape.instancetypes.virtual_machine": options}]
        return [{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]

    plain = declare("{{ tier }}", "{{ tier }}", "{{ backup }}")
    printed = played(tmp_path, plain, *answers, fails=True, kubeconfig=cluster)
    start, _semicolon, remedy = problem.partition("; ")
    assert start in printed and remedy in printed.partition(start)[2]
    if ANSIBLE_CORE < (2, 19):
        return  # its templates are text
    filtered = declare("{{ tier | string }}", "{{ tier | int }}", "{{ backup | bool }}")
    assert "changed=1" in played(tmp_path, filtered, *answers, "--check", kubeconfig=cluster)
