"""This collection and the official client read a configuration in the same way: both connect to real servers.

What counts is what the servers saw. The official client is the installed one; `nox -s oldest` takes the oldest, too.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes
import pytest
import yaml
from kubernetes import client, config
from observed_servers import Observed, observed_servers

from plugins.module_utils._cluster.client import settings
from plugins.module_utils._cluster.client.errors import ConnectionFailed
from plugins.module_utils._cluster.client.session import Session

ROWS = yaml.safe_load(Path(__file__).with_name("connections.yml").read_text(encoding="utf-8"))
IS_OLD = int(kubernetes.__version__.partition(".")[0]) < 37
PLACE = re.compile(r"\{(data:|text:)?([a-z_.-]+)\}")
# Options of a task as attributes of the official client's configuration.
ATTRIBUTES = {
    "host": "host",
    "username": "username",
    "password": "password",
    "validate_certs": "verify_ssl",
    "ca_cert": "ssl_ca_cert",
    "client_cert": "cert_file",
    "client_key": "key_file",
    "proxy": "proxy",
    "no_proxy": "no_proxy",
}
SECRETS = ("abc", "secret", "second")


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Observed]:
    with observed_servers(tmp_path_factory.mktemp("pki")) as observed:
        yield observed


@pytest.fixture
def observed(servers: Observed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Observed:
    """The servers, with files of their own for each test, and an environment without any connection."""
    for file in servers.folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    servers.places["folder"] = str(tmp_path)
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(("KUBE", "K8S_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    # What the client remembers of other tests is gone with their files.
    monkeypatch.setattr("kubernetes.config.kube_config._temp_files", {})
    monkeypatch.setattr(settings, "_ACCOUNT", str(tmp_path / "account"))
    for name, file in (("SERVICE_TOKEN_FILENAME", "token"), ("SERVICE_CERT_FILENAME", "ca.crt")):
        monkeypatch.setattr(f"kubernetes.config.incluster_config.{name}", str(tmp_path / "account" / file))
    servers.seen.clear()
    return servers


def filled(value: Any, observed: Observed) -> Any:
    """A value of the table with the addresses, paths and contents of files."""
    if isinstance(value, dict):
        return {key: filled(part, observed) for key, part in value.items()}
    if isinstance(value, list):
        return [filled(part, observed) for part in value]
    if not isinstance(value, str):
        return value

    def found(match: re.Match[str]) -> str:
        kind, name = match.groups()
        if kind == "data:":
            return observed.data(name)
        if kind == "text:":
            return (observed.folder / name).read_text()
        return observed.places.get(name, match[0])

    return PLACE.sub(found, value)


def kubeconfig(short: dict[str, Any]) -> dict[str, Any]:
    """A kubeconfig of the table in full."""
    if "cluster" in short:
        short = {
            "clusters": {"c": short["cluster"]},
            "users": {"u": short["user"]} if "user" in short else {},
            "contexts": {"x": short.get("context", {"cluster": "c", "user": "u"})},
            "current-context": "x",
        }
    lists = {
        plural: [{"name": name, plural[:-1]: fields} for name, fields in short.get(plural, {}).items()]
        for plural in ("clusters", "users", "contexts")
    }
    return {"apiVersion": "v1", "kind": "Config", **short, **lists}


def arrange(row: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Writes the files of a row, sets its variables, and returns its options."""
    for name, content in {**row.get("files", {}), **row.get("programs", {})}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name in row.get("programs", {}):
            path.write_text(f"#!/bin/sh\n{content}\n")
            path.chmod(0o700)
        else:
            path.write_text(content if isinstance(content, str) else yaml.safe_dump(kubeconfig(content)))
    for name, value in row.get("environment", {}).items():
        monkeypatch.setenv(name, value)
    options = dict(row.get("options", {}))
    source = row.get("kubeconfig")
    if isinstance(source, dict):
        options["kubeconfig"] = kubeconfig(source)
    elif source:
        paths = source if isinstance(source, list) else [source]
        options["kubeconfig"] = os.pathsep.join(str(folder / path) for path in paths)
    return options


def by_client(options: dict[str, Any]) -> None:
    """A request of the official client, with the options as a program would set them."""
    configuration = client.Configuration()
    configuration.retries = False
    source, context = options.get("kubeconfig"), options.get("context")
    if isinstance(source, dict):
        config.load_kube_config_from_dict(
            source, context=context, client_configuration=configuration, persist_config=False
        )
    elif source:
        config.load_kube_config(source, context, configuration, persist_config=False)
    elif not {"api_key", "username", "client_cert"} & options.keys():
        # It reads the variable when it is imported.
        default = os.environ.get("KUBECONFIG", "~/.kube/config")
        try:
            config.load_kube_config(default, context, configuration, persist_config=False)
        except config.ConfigException:
            config.load_incluster_config(configuration)
    for name, attribute in ATTRIBUTES.items():
        if name in options:
            setattr(configuration, attribute, options[name])
    configuration.host = configuration.host.rstrip("/")
    if "api_key" in options:
        configuration.api_key = {"authorization": f"Bearer {options['api_key']}"}
        configuration.refresh_api_key_hook = None
    api = client.ApiClient(configuration)
    if configuration.username and not configuration.api_key:
        api.default_headers["Authorization"] = configuration.get_basic_auth_token()
    client.VersionApi(api).get_code()
    api.rest_client.pool_manager.clear()


def by_us(options: dict[str, Any]) -> None:
    Session({"retry_timeout": 0, **options}).request("GET", "/version/")


def comparable(seen: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What servers saw, without the case of the scheme `Bearer`, which means nothing."""
    for request in seen:
        scheme, space, value = request.get("Authorization", "").partition(" ")
        if space:
            request["Authorization"] = f"{scheme.title()} {value}"
    return list(seen)


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_official_client_sends_the_same(
    row: dict[str, Any], observed: Observed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled_row = filled(row, observed)
    options = arrange(filled_row, tmp_path, monkeypatch)
    if "fails" in row:
        with pytest.raises(ConnectionFailed) as error:
            by_us(options)
        text = str(error.value)
        assert filled_row["fails"] in text and "\n" not in text and not any(map(text.split().count, SECRETS))
    else:
        by_us(options)
    ours = comparable(observed.seen)
    for name, value in filled_row.get("sends", {}).items():
        assert ours[0][name] == value
    observed.seen.clear()
    if row.get("only_37") and IS_OLD:
        return
    if "fails" in row or "refused" in row:
        with pytest.raises(Exception):  # noqa: B017
            by_client(options)
        assert observed.seen == []
    else:
        by_client(options)
        assert comparable(observed.seen) == ours


def test_each_name_is_used_once() -> None:
    names = [row["name"] for row in ROWS]
    assert len(names) == len(set(names)) > 60
