import base64
from typing import Any

import pytest

from plugins.module_utils._resolver.secrets.secret_texts import (
    environment_secrets,
    kubeconfig_secrets,
    option_secrets,
    secret_texts,
)


def volumes(data: str) -> dict[str, object]:
    return {"volumes": [{"name": "a", "cloudInitNoCloud": {"userData": data, "networkData": "n"}}]}


def encoded(login: str) -> str:
    return base64.b64encode(login.encode()).decode()


def test_secret_texts_are_found_at_every_depth() -> None:
    options = {"template": [volumes("old")], "boot": {"url": "https://me:pw@host/a?sig=x"}, "extraHeaders": ["A: b"]}
    assert secret_texts(options) == {"old", "n", "me:pw", encoded("me:pw"), "sig=x", "A: b"}
    assert secret_texts({"userData": None, "url": "https://host/a", "name": "x", "networkData": ""}) == set()


def test_values_of_secret_parameters_are_secrets() -> None:
    declared = {"parameters": [{"name": "ROOT_PASSWORD", "value": "old"}, {"name": "PASSIVE", "value": "shown"}]}
    options = {
        "from_template": {"parameters": {"API_TOKEN": "a", "PIN_SECRET": 1234, "PASSWORD_LOGIN": True, "NAME": "b"}}
    }
    assert secret_texts([declared, options]) == {"old", "a", "1234"}


def test_repeated_values_are_searched_once() -> None:
    bomb: Any = ["abcd", {"url": "https://me:hunter2@host"}]
    for _level in range(100):
        bomb = [bomb] * 9
    assert secret_texts({"note": bomb}) == {"me:hunter2", encoded("me:hunter2"), "hunter2"}
    assert "abcd" in secret_texts({"note": bomb, "userData": bomb})


@pytest.mark.parametrize(
    ("name", "text", "login"),
    [
        ("proxy", "http://me:hunter2@proxy:3128", "me:hunter2"),
        ("K8S_AUTH_PROXY", "me:hunter2@proxy:3128", "me:hunter2"),
        ("proxy", "//me:hunter2@proxy:3128", "me:hunter2"),
        ("proxy", "http//me:hunter2@proxy:3128", "me:hunter2"),
        ("proxy", "http:/me:hunter2@proxy:3128", "me:hunter2"),
        ("proxy", "http://me:hunter 2@proxy:3128", "me:hunter 2"),
        ("downloadProxy", "me:hun/ter2@proxy:3128", "me:hun/ter2"),
        ("image", "me:hunter2@registry/a:tag", "me:hunter2"),
        ("any", "see https://me:hunter2@host/a and more", "me:hunter2"),
        ("any", "http://me:hun/ter2@proxy:3128", "me:hun/ter2"),
        ("any", "http://me:hunt@r2@proxy:3128", "me:hunt@r2"),
        ("any", "https://a-token-of-git-hub@git.example.com", "a-token-of-git-hub"),
    ],
)
def test_logins_of_urls_are_secrets(name: str, text: str, login: str) -> None:
    secrets = secret_texts({name: text})
    assert {login, encoded(login)} <= secrets
    assert login.partition(":")[2] in {*secrets, ""}


def test_encoded_passwords_are_found_decoded() -> None:
    assert {"hunter%402", "hunter@2", encoded("me:hunter@2")} <= secret_texts({"proxy": "http://me:hunter%402@proxy"})


@pytest.mark.parametrize(
    "text",
    [
        "registry:5000/a:tag@sha256:0",
        "fedora:42@sha256:0",
        "ssh://git@host/a",
        "https://host:8080/a@b",
        "docker://registry:5000/a@sha256:0",
        "me@host",
    ],
)
def test_urls_without_passwords_have_no_secrets(text: str) -> None:
    assert secret_texts({"image": text, "note": "a: b@c"}) == set()


def test_lines_of_a_private_key_are_secrets() -> None:
    line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
    key = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{line}\nshort\n-----END OPENSSH PRIVATE KEY-----\n"
    assert secret_texts({"client_key": key}) == {key, line}


def test_secret_options_are_found_in_any_shape() -> None:
    spec: dict[str, Any] = {
        "key": {"type": "str", "no_log": True, "aliases": ["api"]},
        "headers": {"type": "list", "no_log": True},
        "vms": {"type": "list", "options": {"init": {"type": "dict", "options": {"password": {"no_log": True}}}}},
        "name": {"type": "str"},
    }
    # The values of a dictionary where a text should stand may be as short as the digits of other results.
    vms = [{"init": {"password": "a"}}, "text", {"init": [{"password": {"b": ["hunter2", 4]}}]}]
    options = {"api": "k", "headers": [None, True, "", "h"], "vms": vms, "name": "n", "unknown": "u"}
    assert option_secrets(options, spec) == {"k", "h", "a", "hunter2"}


@pytest.mark.parametrize("text", ['[{"init": {"password": "hunter2"}}]', "[{broken", "name"])
def test_texts_in_place_of_dictionaries(text: str) -> None:
    suboptions = {"init": {"options": {"password": {"no_log": True}, "user": {}}}}
    spec = {"vms": {"options": suboptions}}
    assert option_secrets({"vms": text}, spec) == ({"hunter2"} if "hunter2" in text else set())
    assert option_secrets({"vms": [{"init": "password=a of b"}]}, spec) == {"password=a of b", "password=a"}


def test_secrets_of_a_kubeconfig() -> None:
    plugin = {
        "args": ["get-token", "--client-secret", "abcd", "--token=defg", "--password-file", "/a", "--name", "web"],
        "env": [{"name": "CLIENT_SECRET", "value": "ghij"}, {"name": "REGION", "value": "eu"}, "text"],
    }
    provider = {"config": {"id-token": "jklm", "client-id": "web"}}
    users = [
        {
            "user": {
                "token": "token",
                "password": "p",
                "client-key-data": "data",
                "exec": plugin,
                "auth-provider": provider,
            }
        },
        {"user": None},
        "text",
    ]
    clusters = [{"cluster": {"server": "https://host", "proxy-url": "http://me:hunter2@proxy"}}]
    assert kubeconfig_secrets({"clusters": clusters, "users": users}) == (
        {"token", "data", "abcd", "defg", "ghij", "jklm", "me:hunter2", "hunter2", encoded("me:hunter2")}
    )
    assert kubeconfig_secrets("text") == set()
    assert kubeconfig_secrets({"users": [{"user": {"exec": {"args": "text", "env": None}}}]}) == set()


def test_secrets_of_the_environment() -> None:
    environment = {
        "K8S_AUTH_PROXY": "http://me:hunter2@proxy",
        "CLIENT_SECRET": "a-long-secret",
        "VAULT_PASSWORD_FILE": "vault-pass.sh",
        "PWD": "/home/somebody",
        "TOKEN": "short",
        "HOME": "a-long-text",
    }
    assert environment_secrets(environment) == {"me:hunter2", "hunter2", encoded("me:hunter2"), "a-long-secret"}
