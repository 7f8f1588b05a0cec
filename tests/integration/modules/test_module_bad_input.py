"""Input that only a cluster can refuse: one line that names field, value and remedy, and nothing is written."""

from collections.abc import Callable
from typing import Any

import pytest

from modules_support import Task, objects, vm

CATALOG = {"series": {"web": {"sizes": {"small": {"cpu": 1, "memory": "1Gi"}}}}}


@pytest.fixture
def nothing_written(api: Any, shop: str) -> Any:
    yield
    resource = objects(api, "VirtualMachine")
    assert resource.get(namespace=shop).items == []


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            vm("web", "smal"),
            'spec.instancetype.name: virtualmachineinstancetypes.instancetype.kubevirt.io "smal" not found; '
            "did you mean small?",
        ),
        (
            vm("web", cpu={"cores": 2}),
            "spec.template.spec.domain.cpu.cores: VM field(s) spec.template.spec.domain.cpu.cores conflicts with "
            "selected instance type; remove these fields from the VM, or remove its instancetype",
        ),
        (
            vm("web", "tiny"),
            "spec.instancetype: failure checking preference requirements: insufficient Memory resources of 512Mi "
            "provided by instance type, preference requires 2Gi; use for example small or medium",
        ),
        (
            {**vm("web"), "instancetype": None, "memory": "4GB"},
            "memory: '4GB' is not a quantity; write a quantity such as 512Mi, 4Gi or 4G",
        ),
        (
            {**vm("web"), "instancetype": None, "memory": 4},
            "memory: '4' is less than 1Mi, too little for a guest; write a size with its unit, such as 4Gi",
        ),
    ],
)
@pytest.mark.usefixtures("nothing_written")
def test_invalid_vm_is_one_line(task: Task, shop: str, entry: dict[str, Any], message: str) -> None:
    refused = task.refused("virtual_machine", **entry)
    assert refused["msg"] == f"{shop}/web: {message}"


@pytest.mark.parametrize(
    ("module", "options"),
    [
        ("virtual_machine_info", {}),
        ("virtual_machine_power", {"state": "stopped"}),
        ("controller_revision", {"state": "refreshed"}),
        ("catalog_info", {"scope": "namespaced"}),
        ("catalog", {"source": "definitions", "definitions": [CATALOG]}),
    ],
)
def test_a_malformed_label_selector(task: Task, shop: str, module: str, options: dict[str, Any]) -> None:
    where = {"namespaces": [shop]} if module == "catalog" else {"namespace": shop}
    refused = task.refused(module, label_selectors=["tier=web", "a in (b"], **where, **options)
    result = "is not a label selector; write k=v, k!=v, k in (a,b), k notin (a,b), k or !k"
    assert "\n" not in refused["msg"]
    assert refused["msg"].startswith("label_selectors: 'a in (b' in ") and result in refused["msg"], refused["msg"]


def test_no_permission_names_the_rule_to_grant(task: Task, shop: str, user_with: Callable[..., dict[str, Any]]) -> None:
    read = {"apiGroups": ["kubevirt.io"], "resources": ["virtualmachines"], "verbs": ["get", "list"]}
    sizes = {"apiGroups": ["instancetype.kubevirt.io"], "resources": ["*"], "verbs": ["get", "list"]}
    user = user_with(read, sizes)
    refused = task.refused("virtual_machine", **vm("web"), **user)
    assert (
        'To permit the request, grant {apiGroups: ["kubevirt.io"], resources: ["virtualmachines"], ' in refused["msg"]
    )
    assert f'verbs: ["create", "patch"]}} in a Role of the namespace {shop}' in refused["msg"]
    unreadable = task.refused("instancetype", name="x", cpu={"guest": 1}, memory={"guest": "1Gi"}, **user)
    assert 'verbs: ["create", "patch"]}' in unreadable["msg"]


def test_no_permission_to_read(task: Task, shop: str, user_with: Callable[..., dict[str, Any]]) -> None:
    refused = task.refused("virtual_machine", **vm("web"), **user_with())
    assert 'grant {apiGroups: ["kubevirt.io"], resources: ["virtualmachines"], verbs: ["get"]}' in refused["msg"]


def test_a_wrong_token(task: Task, shop: str) -> None:
    refused = task.refused("virtual_machine", **vm("web"), api_key="expired")
    assert "the API server rejected the credentials (Unauthorized); log in again" in refused["msg"]
    assert "expired" not in refused["msg"]
