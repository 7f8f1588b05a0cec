"""The cluster that the options mean, and the errors if they mean none."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from plugins.module_utils._cluster.client import exec_plugins
from plugins.module_utils._cluster.client.connections import Connections
from plugins.module_utils._cluster.client.errors import ConnectionFailed
from plugins.module_utils._cluster.client.settings import Settings, configure

KUBECONFIG: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "one",
    "clusters": [
        {"name": "a", "cluster": {"server": "https://127.0.0.1:1"}},
        {"name": "b", "cluster": {"server": "https://127.0.0.1:2"}},
    ],
    "users": [{"name": "u", "user": {"token": "t"}}],
    "contexts": [
        {"name": "one", "context": {"cluster": "a", "user": "u"}},
        {"name": "two", "context": {"cluster": "b", "user": "u"}},
    ],
}


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.delenv("KUBECONFIG", raising=False)


def authorization(settings: Settings) -> str:
    return settings.authorization()


def test_a_kubeconfig_as_a_dictionary_and_its_contexts() -> None:
    result = configure({"kubeconfig": KUBECONFIG})
    assert (result.host, authorization(result)) == ("https://127.0.0.1:1", "Bearer t")
    assert configure({"kubeconfig": KUBECONFIG, "context": "two"}).host == "https://127.0.0.1:2"


def test_options_override_the_kubeconfig() -> None:
    result = configure(
        {"kubeconfig": KUBECONFIG, "host": "https://127.0.0.1:3/", "api_key": "mine", "validate_certs": False}
    )
    assert (result.host, authorization(result), result.verify) == ("https://127.0.0.1:3", "Bearer mine", False)


def test_options_suffice_without_kubeconfig() -> None:
    result = configure({"host": "https://127.0.0.1:3", "username": "u", "password": "p", "ca_cert": "~/ca.crt"})
    assert (result.host, result.authorization()) == ("https://127.0.0.1:3", "Basic dTpw")
    assert result.ca is not None and "~" not in result.ca.path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "{ this is: [no yaml",
            "cannot be used: expected the YAML of a kubeconfig, found text that is none (line 2, column 1)",
        ),
        ("just text", "cannot be used: expected the YAML of a kubeconfig, found a string"),
        ("apiVersion: v1\nkind: Config\n", "cannot be used: clusters: expected a list, found nothing"),
        ("clusters: [1]", "cannot be used: clusters[0]: expected a dictionary with name and cluster"),
        ("", "cannot be used: "),
    ],
)
def test_a_broken_kubeconfig_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(text)
    with pytest.raises(ConnectionFailed) as error:
        configure({"kubeconfig": str(path)})
    assert str(error.value).startswith(f"kubeconfig {path} {message}")
    assert "\n" not in str(error.value)


def test_a_missing_kubeconfig() -> None:
    with pytest.raises(ConnectionFailed, match="kubeconfig /nowhere: no such file; set kubeconfig"):
        configure({"kubeconfig": "/nowhere"})


def test_an_unknown_context() -> None:
    with pytest.raises(ConnectionFailed, match=r"kubeconfig cannot be used: .*three"):
        configure({"kubeconfig": KUBECONFIG, "context": "three"})


@pytest.mark.parametrize(("exists", "problem"), [(True, "names none"), (False, "does not exist")])
def test_missing_cluster_is_an_error(
    exists: bool, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config"
    if exists:
        path.write_text("apiVersion: v1\nkind: Config\n")
    monkeypatch.setenv("KUBECONFIG", str(path))
    message = rf"no cluster is configured \(kubeconfig {path} {problem}, and .*\); set kubeconfig, or host and api_key"
    with pytest.raises(ConnectionFailed, match=message):
        configure({})


def with_plugin(command: Path, body: str, *args: str) -> dict[str, Any]:
    command.write_text(f"#!/bin/sh\n{body}\n")
    command.chmod(0o700)
    run = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(command), "args": list(args)}
    return {**KUBECONFIG, "users": [{"name": "u", "user": {"exec": run}}]}


def test_an_exec_plugin_gives_the_token(tmp_path: Path) -> None:
    credential = '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "t"}}'
    assert (
        authorization(configure({"kubeconfig": with_plugin(tmp_path / "login", f"echo '{credential}'")})) == "Bearer t"
    )


@pytest.mark.parametrize(
    ("status", "token"),
    [
        ('{"token": "t", "expirationTimestamp": null}', "Bearer t"),
        ('{"token": "t", "expirationTimestamp": "2099-01-01T00:00:00Z"}', "Bearer t"),
        ("null", None),
        ("[]", None),
        ('{"token": "t", "expirationTimestamp": "soon"}', None),
        ('{"clientCertificateData": "x"}', None),
    ],
)
def test_unusual_answers_of_an_exec_plugin(tmp_path: Path, status: str, token: str | None) -> None:
    answer = f'{{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {status}}}'
    kubeconfig = with_plugin(tmp_path / "login", f"printf '\\351' >&2; echo '{answer}'")
    if token is not None:
        assert authorization(configure({"kubeconfig": kubeconfig})) == token
        return
    with pytest.raises(ConnectionFailed, match="the credential plugin returned no credentials: exec: "):
        configure({"kubeconfig": kubeconfig})
    # Other credentials do.
    assert authorization(configure({"kubeconfig": kubeconfig, "api_key": "mine"})) == "Bearer mine"


def test_hanging_exec_plugin_is_stopped_and_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # The plugin keeps the pipe open for as long as it runs.
    os.mkfifo(tmp_path / "alive")
    alive = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    command = tmp_path / "login"
    kubeconfig = with_plugin(command, f"exec sleep 1000 > {tmp_path}/alive", "--password=hunter2")
    monkeypatch.setattr(exec_plugins, "_SECONDS", 0.5)
    with pytest.raises(ConnectionFailed) as error:
        configure({"kubeconfig": kubeconfig})
    assert str(error.value) == (
        f"kubeconfig: the credential plugin returned no credentials: {command} did not end within 0.5 s and was"
        " stopped; run it in a terminal to see what it waits for, or set api_key"
    )
    assert os.read(alive, 1) == b""
    os.close(alive)
    # Neither each object nor each renewal of the token waits for it again.
    monkeypatch.setattr(exec_plugins, "_SECONDS", 10_000)
    with pytest.raises(ConnectionFailed, match=f"{command} did not end"):
        configure({"kubeconfig": kubeconfig})


def test_install_hint_of_a_missing_plugin(tmp_path: Path) -> None:
    kubeconfig = with_plugin(tmp_path / "login", "")
    plugin = kubeconfig["users"][0]["user"]["exec"]
    plugin |= {"command": "/nowhere/login", "installHint": "To install it:\n  get login"}
    with pytest.raises(ConnectionFailed, match=r"No such file.*; /nowhere/login: To install it: get login$"):
        configure({"kubeconfig": kubeconfig})


def test_failing_plugin_shows_no_secret(tmp_path: Path) -> None:
    script = 'echo "login of $CLIENT_SECRET at http://me:hunter2@host failed" >&2; exit 1'
    kubeconfig = with_plugin(tmp_path / "login", script)
    plugin = kubeconfig["users"][0]["user"]["exec"]
    plugin |= {"env": [{"name": "CLIENT_SECRET", "value": "correct-horse"}]}
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(kubeconfig))
    with pytest.raises(ConnectionFailed) as error:
        configure({"kubeconfig": str(path)})
    assert "correct-horse" not in str(error.value)
    assert "hunter2" not in str(error.value)
    assert "login of ******** at http://(hidden)@host failed" in str(error.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "apiVersion: v1\nusers: [{user: {token: hunter2}}",
            "found text that is no kubeconfig; write the path",
        ),
        ([1], "expected a path or a dictionary, found a list"),
        (5, "expected a path or a dictionary, found a number"),
    ],
)
def test_what_is_neither_path_nor_dictionary(source: Any, message: str) -> None:
    with pytest.raises(ConnectionFailed) as error:
        configure({"kubeconfig": source})
    assert str(error.value).startswith("kubeconfig: expected a path or a dictionary, ")
    assert message in str(error.value)
    assert "hunter2" not in str(error.value)


def test_the_content_of_a_kubeconfig() -> None:
    assert configure({"kubeconfig": json.dumps(KUBECONFIG)}).host == "https://127.0.0.1:1"


def test_several_kubeconfigs(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text(json.dumps({**KUBECONFIG, "clusters": KUBECONFIG["clusters"][:1]}))
    second.write_text(json.dumps(KUBECONFIG))
    paths = os.pathsep.join(map(str, (tmp_path / "none", first, second)))
    assert configure({"kubeconfig": paths, "context": "two"}).host == "https://127.0.0.1:2"


def test_encrypted_kubeconfig(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("$ANSIBLE_VAULT;1.1;AES256\n3132\n")
    with pytest.raises(ConnectionFailed, match="is encrypted with Ansible Vault; decrypt it, or give its content"):
        configure({"kubeconfig": str(path)})


def test_directory_is_no_kubeconfig(tmp_path: Path) -> None:
    with pytest.raises(ConnectionFailed, match=f"kubeconfig {tmp_path}: is a directory"):
        configure({"kubeconfig": str(tmp_path)})


@pytest.mark.parametrize(
    ("cluster", "user", "message"),
    [
        (
            {"certificate-authority-data": "a"},
            {},
            "context one: cluster a: certificate-authority-data: expected data in base64",
        ),
        ({"certificate-authority-data": "anVuaw=="}, {}, "kubeconfig: certificate-authority-data: cannot be used: "),
        (
            {},
            {"client-certificate-data": "anVuaw==", "client-key-data": "anVuaw=="},
            "kubeconfig: client-certificate-data with client-key-data: cannot be used: ",
        ),
    ],
)
def test_broken_certificate_data_names_its_field(cluster: dict[str, str], user: dict[str, str], message: str) -> None:
    clusters = [{"name": "a", "cluster": {"server": "https://127.0.0.1:1", **cluster}}]
    with pytest.raises(ConnectionFailed, match=message) as error:
        kubeconfig = {**KUBECONFIG, "clusters": clusters, "users": [{"name": "u", "user": user}]}
        Connections(configure({"kubeconfig": kubeconfig}), 1)
    assert "/tmp" not in str(error.value)


def test_content_of_a_key_is_no_path() -> None:
    key = "-----BEGIN PRIVATE KEY-----\nhunter2"
    with pytest.raises(ConnectionFailed, match=r"client_key: expected the path of a file, found the content of one$"):
        configure({"kubeconfig": KUBECONFIG, "client_key": key})


@pytest.mark.parametrize("proxy", ["http://me:hun%40ter2@127.0.0.1:9", "http://me:hun@ter2@127.0.0.1:9"])
def test_login_of_a_proxy_becomes_a_header(proxy: str) -> None:
    result = configure({"kubeconfig": KUBECONFIG, "proxy": proxy})
    assert result.proxy == "http://127.0.0.1:9"
    assert result.proxy_login == "me:hun@ter2"


@pytest.mark.parametrize("proxy", ["me:hunter2@127.0.0.1:9", "ftp://me:hunter2@127.0.0.1:9"])
def test_unusable_proxy_is_named_without_its_login(proxy: str) -> None:
    with pytest.raises(ConnectionFailed, match=r"127.0.0.1:9': cannot be used: .*; write it as http://HOST") as error:
        Connections(configure({"kubeconfig": KUBECONFIG, "proxy": proxy}), 1)
    assert "hunter2" not in str(error.value)
