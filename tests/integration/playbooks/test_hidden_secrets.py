"""ansible-playbook prints no secret at any verbosity, wherever users put it and whatever goes wrong."""

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from ansible_environment import ansible

MARK = "correct-horse"
URL = f"http://me:{MARK}@127.0.0.1:9"
PREFIX = "virtshape.instancetypes."
KEY = f"-----BEGIN PRIVATE KEY-----\n{MARK}{MARK}\n-----END PRIVATE KEY-----\n"
# One object for each module, with what it needs to reach the server.
OBJECTS: dict[str, dict[str, Any]] = {
    "boot_source": {"namespace": "shop", "name": "a", "url": f"{URL}/a.qcow2", "size": "1Gi"},
    "boot_source_info": {},
    "capacity_info": {},
    "catalog": {
        "source": "url",
        "url": f"{URL}/a.yml",
        "version": "1.0.0",
        "download_proxy": URL,
        "download_timeout": 1,
    },
    "catalog_info": {},
    "controller_revision": {"namespace": "shop", "names": ["a"]},
    "instancetype": {"namespace": "shop", "name": "a", "cpu": {"guest": 1}, "memory": {"guest": "1Gi"}},
    "preference": {"namespace": "shop", "name": "a"},
    "upgrade_info": {"to_version": "1.9.0"},
    "virtual_machine": {
        "namespace": "shop",
        "virtual_machines": [{"name": "a", "cloud_init": {"password": f"p-{MARK}", "user": "me"}}],
    },
    "virtual_machine_adopt": {"namespace": "shop", "names": ["a"]},
    "virtual_machine_info": {"namespace": "shop"},
    "virtual_machine_power": {"namespace": "shop", "names": ["a"], "state": "stopped"},
    "virtual_machine_template": {"namespace": "shop", "name": "a"},
    "virtual_machine_template_info": {"namespace": "shop"},
}
KUBECONFIG: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "one",
    "clusters": [{"name": "a", "cluster": {"server": "https://127.0.0.1:1", "proxy-url": URL}}],
    "users": [{"name": "u", "user": {"token": MARK}}],
    "contexts": [{"name": "one", "context": {"cluster": "a", "user": "u"}}],
}
PLUGIN: dict[str, Any] = {
    "apiVersion": "client.authentication.k8s.io/v1",
    "command": "sh",
    "args": ["-c", "echo no login for $CLIENT_SECRET at $ADDRESS with $K8S_AUTH_PASSWORD >&2; exit 1"],
    "env": [{"name": "CLIENT_SECRET", "value": MARK}, {"name": "ADDRESS", "value": URL}],
    "interactiveMode": "Never",
}
PLUGGED = {**KUBECONFIG, "users": [{"name": "u", "user": {"exec": PLUGIN}}]}
WAYS: dict[str, dict[str, Any]] = {
    "proxy": {"host": "https://127.0.0.1:1", "api_key": "x", "proxy": URL},
    "proxy without scheme": {"host": "https://127.0.0.1:1", "api_key": "x", "proxy": URL.partition("://")[2]},
    "host": {"host": URL, "api_key": MARK},
    "password": {"host": "https://127.0.0.1:1", "username": "me", "password": MARK},
    "headers": {
        "host": "https://127.0.0.1:1",
        "proxy": "http://127.0.0.1:9",
        "proxy_headers": {"proxy_basic_auth": f"me:{MARK}", "basic_auth": f"me:{MARK}"},
    },
    "dictionary": {"kubeconfig": KUBECONFIG},
    "text": {"kubeconfig": json.dumps(KUBECONFIG)},
    "plugin": {"kubeconfig": PLUGGED},
    "key": {"kubeconfig": KUBECONFIG, "client_key": KEY},
    "unknown option": {"host": URL, "proxy": URL, "proxi": URL, "api_key": MARK},
    "wrong type": {"host": URL, "api_key": MARK, "validate_certs": URL},
    "wrong shape": {"host": URL, "proxy_headers": MARK, "retry_timeout": URL},
    "environment": {},
}
ENVIRONMENT = {
    "K8S_AUTH_PROXY": URL,
    "K8S_AUTH_HOST": "https://me:" + MARK + "@127.0.0.1:1",
    "K8S_AUTH_API_KEY": MARK,
    "K8S_AUTH_PASSWORD": MARK,
    "K8S_AUTH_PROXY_HEADERS_PROXY_BASIC_AUTH": f"me:{MARK}",
    "HTTPS_PROXY": URL,
}


def printed_by(folder: Path, program: str, *arguments: str, **environment: str) -> tuple[int, str]:
    """The exit code of a command at the highest verbosity, its output and its log."""
    log = {"ANSIBLE_LOG_PATH": str(folder / "ansible.log"), "ANSIBLE_LOCALHOST_WARNING": "false"}
    code, output = ansible(folder, program, *arguments, "-vvvvvv", **log, **environment)
    return code, output + (folder / "ansible.log").read_text()


def played(folder: Path, tasks: list[dict[str, Any]], environment: dict[str, str]) -> str:
    """The output and the log of ansible-playbook, while the tasks fail."""
    (folder / "play.yml").write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]))
    # From ansible-core 2.21 on, options are printed only if asked for.
    environment = {"ANSIBLE_INJECT_INVOCATION": "true", **environment}
    code, printed = printed_by(folder, "ansible-playbook", "play.yml", "--diff", **environment)
    assert code == 0 and f"ok={len(tasks)} " in printed, printed
    return printed


def leaks(printed: str) -> list[str]:
    secrets = [MARK, *(base64.b64encode(text.encode()).decode().rstrip("=")[:-1] for text in (MARK, f"me:{MARK}"))]
    return [line for line in printed.splitlines() if any(secret in line for secret in secrets)]


def tasks_with(options: dict[str, Any], modules: Iterable[str] = tuple(OBJECTS)) -> list[dict[str, Any]]:
    return [
        {
            PREFIX + module: {**OBJECTS[module], **options, "retry_timeout": options.get("retry_timeout", 0)},
            "ignore_errors": True,
        }
        for module in modules
    ]


def test_no_module_prints_a_secret(tmp_path: Path) -> None:
    printed = played(tmp_path, tasks_with(WAYS["proxy"]), {})
    assert printed.count("module_args:") >= len(OBJECTS)
    assert leaks(printed) == []


FROM_ENVIRONMENT = ("environment", "plugin")
"""The ways that also take secrets from the environment. All ways of a kind are tasks of one run."""
EACH_KIND = pytest.mark.parametrize(
    ("ways", "environment"),
    [([way for way in WAYS if way not in FROM_ENVIRONMENT], {}), (FROM_ENVIRONMENT, ENVIRONMENT)],
    ids=["options", "environment"],
)


def own_secret(way: str) -> dict[str, Any]:
    """The options of a way, with a secret of its own: Ansible hides a secret that it has heard of everywhere."""
    text = json.dumps(WAYS[way]).replace(MARK, f"{MARK}-{[*WAYS].index(way)}")
    options: dict[str, Any] = json.loads(text)
    return options


@EACH_KIND
def test_no_option_is_printed_with_its_secret(ways: Iterable[str], environment: dict[str, str], tmp_path: Path) -> None:
    modules = ("catalog", "virtual_machine", "virtual_machine_info")
    tasks = [{"name": way, **task} for way in ways for task in tasks_with(own_secret(way), modules)]
    assert leaks(played(tmp_path, tasks, environment)) == []


def test_module_in_its_own_process_prints_none(tmp_path: Path) -> None:
    tasks = [tasks_with(own_secret(way))[-1] for way in ("unknown option", "environment")]
    printed = played(tmp_path, [{**task, "vars": {"virtshape_direct_execution": False}} for task in tasks], ENVIRONMENT)
    assert printed.count("is sent to a process of its own") >= len(tasks)
    assert leaks(printed) == []


INVALID = [
    {"cloud_init": {"password": MARK, "usr": "me"}},
    {"cloud_init": {"password": [MARK]}},
    {"cloud_init": MARK},
    {"cloud_init": {"user_data": MARK, "user": "me"}},
    {"cloud_init": {"ssh_keys": [KEY]}},
    {"cloud_init": {"ssh_keys": KEY}},
    {"volumes": [{"name": "a", "cloud_init": {"user_data": MARK, "type": "x"}}]},
    {"volumes": [{"name": "a", "import": {"http": {"url": f"{URL}/a?token={MARK}", "extra_headers": MARK, "x": 1}}}]},
    {"template": {"spec": {"volumes": [{"name": "a", "cloudInitNoCloud": {"userData": [MARK]}}]}}},
    {"template": {"spec": {"volumes": [{"name": "a", "cloudInitNoCloud": {"userData": MARK, "x": 1}}]}}},
    {"annotations": {"kubevirt.io/ignitiondata": MARK}, "lables": {}},
    {"from_template": {"parameters": {"ROOT_PASSWORD": MARK}}},
]


def test_invalid_options_show_no_secret(tmp_path: Path) -> None:
    way = {"host": "https://127.0.0.1:1", "api_key": "x", "namespace": "shop", "retry_timeout": 0}
    entries, entry = {"virtual_machines": [{"name": "a"}]}, {"name": "a"}
    tasks = []
    for options in INVALID:
        for places in (
            {"virtual_machines": [{**entry, **options}]},
            {**entries, "defaults": options},
            {**entries, **options},
        ):
            for more in ({}, {"x": 1}):
                tasks.append({PREFIX + "virtual_machine": {**way, **places, **more}, "ignore_errors": True})
    assert leaks(played(tmp_path, tasks, {})) == []


@EACH_KIND
def test_inventory_prints_no_secret(ways: Iterable[str], environment: dict[str, str], tmp_path: Path) -> None:
    sources = {tmp_path / f"{way.replace(' ', '-')}.kubevirt.yml": way for way in ways if way != "text"}
    for source, way in sources.items():
        options = {"plugin": f"{PREFIX}virtual_machines", "retry_timeout": 0, **own_secret(way)}
        source.write_text(json.dumps(options))
    listed = [part for source in sources for part in ("-i", str(source))]
    _code, printed = printed_by(tmp_path, "ansible-inventory", "--list", *listed, **environment)
    said = " ".join(printed.split())
    assert [source for source in sources if f"Unable to parse {source} as an inventory source" not in said] == []
    assert leaks(printed) == []


def test_roles_print_no_secret(tmp_path: Path) -> None:
    connection = {PREFIX + "catalog": {"proxy": URL, "host": URL, "api_key": MARK, "retry_timeout": 0}}
    roles = {
        "common_instancetypes": {
            "common_instancetypes_source": "url",
            "common_instancetypes_url": f"{URL}/a.yml",
            "common_instancetypes_download_proxy": URL,
            "common_instancetypes_download_timeout": 1,
        },
        "virtual_machines": {
            "virtual_machines_namespace": "shop",
            "virtual_machines_vms": [{"name": "a", "cloud_init": {"password": MARK, "usr": "x"}}],
        },
        "boot_sources": {
            "boot_sources_namespace": "shop",
            "boot_sources_sources": [{"name": "a", "url": f"{URL}/a.qcow2", "size": "1Gi"}],
        },
    }
    blocks = [
        {
            "block": [{"ansible.builtin.include_role": {"name": PREFIX + role}, "vars": variables}],
            "rescue": [{"ansible.builtin.meta": "clear_host_errors"}],
        }
        for role, variables in roles.items()
    ]
    plays = [{"hosts": "localhost", "gather_facts": False, "module_defaults": connection, "tasks": blocks}]
    (tmp_path / "roles.yml").write_text(json.dumps(plays))
    _code, printed = printed_by(tmp_path, "ansible-playbook", "roles.yml", **ENVIRONMENT)
    assert "rescued=3" in printed, printed
    assert leaks(printed) == []
