"""All modules are made in one place, which hides what is secret in a kubeconfig and keeps options out of logs."""

import re
from pathlib import Path
from typing import Any

import pytest

from plugins.module_utils._cluster.modules import adapter
from scripted_server import REVISIONS, VMIS, VMS, Run, Store

PLUGINS = Path(__file__).parents[3] / "plugins"


def test_only_the_adapter_creates_ansible_modules() -> None:
    making = {
        path.relative_to(PLUGINS).as_posix()
        for path in PLUGINS.rglob("*.py")
        if re.search(r"\bimport .*\bAnsibleModule\b", path.read_text(encoding="utf-8"))
    }
    assert making == {"module_utils/_cluster/modules/adapter.py"}


def test_missing_libraries_are_reported(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "MISSING", "Traceback: no such module")
    store = Store({})
    refused = run("virtual_machine_info", store)
    assert refused["failed"] and "(urllib3 and PyYAML)" in refused["msg"]
    assert store.asked == []


@pytest.mark.parametrize("qps", [0, -1.5])
def test_qps_must_be_positive(run: Run, qps: float) -> None:
    refused = run("virtual_machine_info", Store({}), qps=qps)
    message = f"qps: expected more than 0 requests a second, found {qps:g}; leave it out for no limit"
    assert refused["msg"] == message


@pytest.mark.parametrize(
    "users",
    ["none", ["none"], [{"name": "u"}], [{"name": "u", "user": "none"}], [{"name": "u", "user": {"token": None}}]],
)
def test_an_invalid_kubeconfig_is_reported(run: Run, users: Any) -> None:
    refused = run("virtual_machine_info", Store({}), kubeconfig={"users": users})
    assert refused["failed"]
    assert refused["msg"].startswith("kubeconfig cannot be used: ") and "\n" not in refused["msg"]


def test_secrets_of_a_kubeconfig_are_hidden(run: Run) -> None:
    secret = "a-secret-of-mine"
    user = {"token": secret, "username": "me"}
    refused = run(
        "virtual_machine_info", Store({}), kubeconfig={"users": [{"name": "u", "user": user}]}, context=secret
    )
    assert refused["failed"] and secret not in str(refused)


SECRET = "a-secret-of-mine"


@pytest.mark.parametrize(
    "user",
    [
        {"token": SECRET},
        {"exec": {"command": "none", "env": [{"name": "CLIENT_SECRET", "value": SECRET}]}},
        {"exec": {"command": "none", "args": ["login", f"--secret={SECRET}"]}},
        {"auth-provider": {"name": "oidc", "config": {"client-secret": SECRET, "id-token": "t", "client-id": "me"}}},
    ],
)
@pytest.mark.parametrize("more", [{}, {"include": ["nothing"]}, {"no_such_option": 1}])
def test_no_part_of_a_kubeconfig_is_shown(run: Run, user: dict[str, Any], more: dict[str, Any]) -> None:
    kubeconfig = {"users": [{"name": "u", "user": user}]}
    refused = run("virtual_machine_info", Store({}), kubeconfig=kubeconfig, **more)
    assert refused["failed"] and SECRET not in str(refused)
    if "no_such_option" in more:
        # It is refused before Ansible records what was given.
        assert "invocation" not in refused
    else:
        assert refused["invocation"]["module_args"]["kubeconfig"] == "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
    shown = run("virtual_machine_info", Store({}), kubeconfig="/nowhere")
    assert shown["invocation"]["module_args"]["kubeconfig"] == "/nowhere"


def test_tokens_of_an_auth_provider_are_hidden(run: Run) -> None:
    provider = {"auth-provider": {"config": {"refresh-token": SECRET}}}
    kubeconfig = {"users": [{"name": "u", "user": provider}]}
    refused = run("virtual_machine_info", Store({}), kubeconfig=kubeconfig, context=SECRET)
    assert refused["failed"] and SECRET not in str(refused)


@pytest.mark.parametrize(("password", "shown"), [("7391", False), ("other", True)])
def test_secrets_are_hidden_in_large_results(run: Run, password: str, shown: bool) -> None:
    annotations = {"note": "scripted-token"}
    metadata = {"name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "1", "annotations": annotations}
    domain = {"devices": {}, "cpu": {"cores": 7391}, "memory": {"guest": "1Gi"}}
    template = {"spec": {"domain": domain}}
    vm = {"metadata": metadata, "spec": {"runStrategy": "Halted", "template": template}}
    store = Store({VMS: [vm], VMIS: [], REVISIONS: []})
    found = run("virtual_machine_info", store, namespace="shop", password=password, include=["refresh"])
    text = str(found["virtual_machines"])
    assert "web" in text and "scripted-token" not in text
    assert ("7391" in text) == shown
