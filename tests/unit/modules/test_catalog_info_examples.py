"""The examples of catalog_info answer what they ask."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_environment import ansible

from plugins.module_utils._resolver.catalog.facts import INSTANCETYPE_FEATURES, PREFERENCE_FEATURES
from plugins.modules import catalog_info
from scripted_server import Store

TYPES = "/apis/instancetype.kubevirt.io/v1beta1"
LABEL = "instancetype.kubevirt.io"
WEB = {
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"instancetype": {"name": "u1.small"}, "preference": {"name": "windows.11"}},
}
SPECS: dict[str, Any] = {
    "u1.small": {"cpu": {"guest": 2}, "memory": {"guest": "8Gi"}},
    "cx1.large": {
        "cpu": {"guest": 4, "dedicatedCPUPlacement": True},
        "memory": {"guest": "64Gi", "hugepages": {"pageSize": "2Mi"}},
    },
    "own": {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}},
    "windows.11": {
        "firmware": {"preferredEfi": {"secureBoot": True}},
        "requirements": {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}},
    },
    "rhel.arm64": {"requirements": {"architecture": "arm64"}},
}


def manifest(name: str, namespace: str = "", **labels: str) -> dict[str, Any]:
    named = {f"{LABEL}/{label.replace('_', '-')}": value for label, value in labels.items()}
    return {"metadata": {"name": name, "namespace": namespace, "labels": named}, "spec": SPECS[name]}


def test_the_examples_answer_what_they_ask(run: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    store = Store(
        {
            f"{TYPES}/virtualmachineclusterinstancetypes": [
                manifest("u1.small", **{"class": "general.purpose"}),
                manifest("cx1.large"),
            ],
            f"{TYPES}/virtualmachineinstancetypes": [manifest("own", "shop")],
            f"{TYPES}/virtualmachineclusterpreferences": [
                manifest("windows.11", os_type="windows"),
                manifest("rhel.arm64", os_type="linux"),
            ],
            f"{TYPES}/virtualmachinepreferences": [],
            "/apis/kubevirt.io/v1/virtualmachines": [WEB],
        }
    )
    first, *others = yaml.safe_load(catalog_info.EXAMPLES)
    known = run("catalog_info", store, **first["virtshape.instancetypes.catalog_info"])
    answers = [task["ansible.builtin.debug"]["msg"] for task in others]
    copy = {"dest": str(tmp_path / "answers"), "content": "{{ answers | to_json }}"}
    task = {"ansible.builtin.copy": copy, "vars": {"answers": answers}}
    play = {"hosts": "localhost", "gather_facts": False, "tasks": [task]}
    (tmp_path / "play.yml").write_text(json.dumps([play]))
    (tmp_path / "known.json").write_text(json.dumps({"known": known}))
    code, printed = ansible(tmp_path, "ansible-playbook", "play.yml", "-e", "@known.json")
    assert code == 0, printed
    assert json.loads((tmp_path / "answers").read_text()) == [
        ["cx1.large", "u1.small"],
        ["u1.small"],
        ["cx1.large"],
        [["u1.small"], ["u1.small"]],
        ["windows.11"],
        [["rhel.arm64"], ["rhel.arm64"]],
        [["own"], ["u1.small", "windows.11"]],
    ]


@pytest.mark.parametrize(
    ("plural", "features"), [("instancetypes", INSTANCETYPE_FEATURES), ("preferences", PREFERENCE_FEATURES)]
)
def test_every_feature_is_documented(plural: str, features: dict[str, str]) -> None:
    documented = yaml.safe_load(catalog_info.RETURN)[plural]["contains"]["features"]["description"]
    assert re.findall(r"V\((\w+)\)", str(documented)) == list(features)
