"""The inventory plugin without a cluster: wrong options, its files, its documentation."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml
from ansible_environment import surroundings

from scripted_server import Store, session_with

VMIS = "virtualmachineinstances"
PLUGIN = "virtshape.instancetypes.virtual_machines"
NOBODY = {"host": "https://127.0.0.1:1", "api_key": "hunter2", "retry_timeout": 0}

# Wrong options, and the errors.
WRONG: list[tuple[Any, str]] = [
    ({"namespace": "shop"}, "namespace: unknown option; did you mean namespaces?"),
    ({"address": "services"}, "value of address must be one of: interface, service, none, got: services"),
    ({"service_port": "ssh"}, "argument 'service_port' is of type"),
    # Ansible takes any other text for false.
    ({"validate_certs": "maybe"}, "argument 'validate_certs' is of type"),
    ({"only_running": "maybe"}, "argument 'only_running' is of type"),
    ({"host_format": "{nam}"}, "host_format: '{nam}': unknown field {nam}; choose from {name} and {namespace}"),
    ({"hostvars_prefix": "vm-"}, "hostvars_prefix: 'vm-' cannot begin the name of a variable"),
    ({"kubeconfig": "/nowhere"}, "kubeconfig /nowhere: no such file; set kubeconfig or K8S_AUTH_KUBECONFIG"),
    ({**NOBODY, "namespaces": ["shop"]}, "cannot reach the API server https://127.0.0.1:1"),
    (["shop"], f"expected options of {PLUGIN}, found "),
]


def run(command: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = surroundings(bare=True, ANSIBLE_INVENTORY_ENABLED=PLUGIN, COLUMNS="1000")
    program = Path(sys.executable).parent / command
    return subprocess.run(
        [str(program), *arguments], env=environment, cwd=cwd, capture_output=True, text=True, check=False
    )


def test_a_wrong_option_is_one_line(tmp_path: Path) -> None:
    sources: list[str] = []
    for index, (options, _told) in enumerate(WRONG):
        path = tmp_path / f"{index}.kubevirt.yml"
        content = {"plugin": PLUGIN, **options} if isinstance(options, dict) else options
        path.write_text(yaml.safe_dump(content))
        sources += ["--inventory", str(path)]
    done = run("ansible-inventory", *sources, "--list", cwd=tmp_path)
    assert json.loads(done.stdout)["_meta"]["hostvars"] == {}
    # ansible-core 2.18 and before break messages into lines.
    message = " ".join(done.stderr.split())
    for _options, result in WRONG:
        assert result in message, (result, done.stderr)
    assert "hunter2" not in done.stderr


def test_files_of_other_names_are_not_taken(tmp_path: Path) -> None:
    sources: list[str] = []
    for name in ("hosts.yml", "virtual_machines.txt", "kubevirt.json"):
        path = tmp_path / name
        path.write_text(yaml.safe_dump({"plugin": PLUGIN, "namespace": "shop"}))
        sources += ["--inventory", str(path)]
    done = run("ansible-inventory", *sources, "--list", "-vvv", cwd=tmp_path)
    assert (done.stdout + done.stderr).count("did not pass its verify_file() method") == 3
    assert "unknown option" not in done.stderr


def test_warnings_of_the_api_server_are_shown(tmp_path: Path) -> None:
    store = Store({f"/apis/kubevirt.io/v1/namespaces/shop/{kind}": [] for kind in ("virtualmachines", VMIS)})

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[Any, ...]:
        return (*(store(method, path, query) or ()), {"Warning": '299 - "v1 is deprecated"'})

    with session_with(answer) as session:
        options = {"plugin": PLUGIN, "host": session.host, "api_key": "x", "namespaces": ["shop"]}
        (tmp_path / "a.kubevirt.yml").write_text(yaml.safe_dump(options))
        done = run("ansible-inventory", "--inventory", str(tmp_path / "a.kubevirt.yml"), "--list", cwd=tmp_path)
    (line,) = [line for line in done.stderr.splitlines() if "v1 is deprecated" in line]
    assert "shop/virtualmachines" in line


def test_documented_example_uses_existing_options(tmp_path: Path) -> None:
    done = run("ansible-doc", "--type", "inventory", PLUGIN, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)[PLUGIN]
    options = shown["doc"]["options"]
    assert all(option["description"] for option in options.values())
    # One document: the sanity tests of ansible-core 2.16 take no more.
    example = yaml.safe_load(shown["examples"])
    assert example.keys() <= options.keys()
    assert example["plugin"] == PLUGIN
