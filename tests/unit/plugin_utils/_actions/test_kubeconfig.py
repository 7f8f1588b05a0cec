"""Kubeconfigs that Ansible Vault has encrypted are decrypted on the controller, and nowhere else."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader
from ansible.parsing.vault import VaultLib, VaultSecret

from plugins.plugin_utils._actions.kubeconfig import on_controller

PASSWORD = b"correct-horse"
CONTENT: dict[str, Any] = {
    "current-context": "one",
    "clusters": [{"name": "a", "cluster": {"server": "https://a", "certificate-authority": "ca.pem"}}],
    "users": [{"name": "u", "user": {"token": "hunter2", "client-key": "/keys/u.pem"}}],
    "contexts": [{"name": "one", "context": {"cluster": "a", "user": "u"}}],
}


@pytest.fixture
def loader() -> DataLoader:
    return with_password(PASSWORD)


def with_password(password: bytes) -> DataLoader:
    made = DataLoader()
    made.set_vault_secrets([("default", VaultSecret(password))])
    return made


@pytest.fixture
def encrypted(tmp_path: Path) -> Path:
    return write_encrypted(tmp_path / "kubeconfig", yaml.safe_dump(CONTENT))


def write_encrypted(path: Path, text: str) -> Path:
    path.write_bytes(VaultLib([("default", VaultSecret(PASSWORD))]).encrypt(text, VaultSecret(PASSWORD)))
    return path


@pytest.mark.parametrize("place", ["option", "K8S_AUTH_KUBECONFIG", "KUBECONFIG"])
def test_an_encrypted_kubeconfig_is_passed_as_its_content(loader: DataLoader, encrypted: Path, place: str) -> None:
    options = {"kubeconfig": str(encrypted)} if place == "option" else {}
    environment = {} if place == "option" else {place: str(encrypted)}
    found = on_controller(options, environment, loader)
    assert found["clusters"][0]["cluster"] == {
        "server": "https://a",
        "certificate-authority": str(encrypted.parent / "ca.pem"),
    }
    assert found["users"] == CONTENT["users"]
    assert found["current-context"] == "one"


def test_encrypted_and_plain_kubeconfigs_are_merged(loader: DataLoader, encrypted: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    other = {"name": "a", "cluster": {"server": "https://other"}}
    more = {"name": "b", "cluster": {"server": "https://b"}}
    plain.write_text(yaml.safe_dump({"current-context": "two", "clusters": [other, more]}))
    found = on_controller({"kubeconfig": os.pathsep.join(map(str, (encrypted, plain, "none")))}, {}, loader)
    assert [item["cluster"]["server"] for item in found["clusters"]] == ["https://a", "https://b"]
    # The Kubernetes client takes the last one, too.
    assert (found["current-context"], found["users"]) == ("two", CONTENT["users"])


def test_malformed_kubeconfigs_are_no_traceback(loader: DataLoader, encrypted: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text(yaml.safe_dump({"users": "wrong"}))
    with pytest.raises(AnsibleError) as error:
        on_controller({"kubeconfig": os.pathsep.join(map(str, (encrypted, plain)))}, {}, loader)
    assert str(error.value) == "kubeconfig cannot be used: users: expected a list, found a string"


@pytest.mark.parametrize("password", [b"", b"wrong"])
def test_no_password_or_a_wrong_one(encrypted: Path, password: bytes) -> None:
    with pytest.raises(AnsibleError) as error:
        on_controller({"kubeconfig": str(encrypted)}, {}, with_password(password) if password else DataLoader())
    assert str(error.value) == (
        f"kubeconfig {encrypted}: is encrypted with Ansible Vault, and no vault password of this run decrypts it; give"
        " it with --ask-vault-pass or --vault-password-file, or decrypt the file"
    )


@pytest.mark.parametrize("text", ["hunter2", "hunter2: [", ""])
def test_other_content_is_not_shown(loader: DataLoader, tmp_path: Path, text: str) -> None:
    path = write_encrypted(tmp_path / "kubeconfig", text)
    with pytest.raises(AnsibleError, match=r"expected the YAML of a kubeconfig, found other text$"):
        on_controller({"kubeconfig": str(path)}, {}, loader)


def test_what_is_not_encrypted_stays_as_it_is(loader: DataLoader, encrypted: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text(yaml.safe_dump(CONTENT))
    for given in (str(plain), "/nonexistent", CONTENT, yaml.safe_dump(CONTENT)):
        assert on_controller({"kubeconfig": given}, {"KUBECONFIG": str(encrypted)}, loader) is None
    # The default counts only without another cluster.
    elsewhere = {"host": "https://a", "api_key": "x"}
    assert on_controller(elsewhere, {"KUBECONFIG": str(encrypted)}, loader) is None
    environment = {"K8S_AUTH_HOST": "https://a", "K8S_AUTH_API_KEY": "x", "KUBECONFIG": str(encrypted)}
    assert on_controller({}, environment, loader) is None


def test_a_relative_path_of_the_play(loader: DataLoader, encrypted: Path, tmp_path: Path) -> None:
    def find(name: str) -> str:
        if not (tmp_path / name).exists():
            raise AnsibleError("no such file")
        return str(tmp_path / name)

    assert on_controller({"kubeconfig": "kubeconfig"}, {}, loader, find)["users"] == CONTENT["users"]
    (tmp_path / "plain").write_text(yaml.safe_dump(CONTENT))
    assert on_controller({"kubeconfig": "plain"}, {}, loader, find) == str(tmp_path / "plain")
    assert on_controller({"kubeconfig": "none"}, {}, loader, find) is None
