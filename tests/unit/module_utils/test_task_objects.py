"""Tasks of other collections declare VMs, or only change a VM that exists."""

from typing import Any

import pytest

from plugins.module_utils import _task_objects as tasks
from plugins.module_utils._task_objects import K8S, KUBEVIRT_VM, PATCH, declares_guest, module_of, objects_of

GUEST = {"domain": {"memory": {"guest": "1Gi"}}}
VM = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": "web"}}


@pytest.mark.parametrize(
    ("key", "module"),
    [
        *((f"{collection}.kubevirt_vm", KUBEVIRT_VM) for collection in ("kubevirt.core", "community.kubevirt")),
        *((f"{collection}.kubevirt_vm", KUBEVIRT_VM) for collection in ("redhat.openshift_virtualization", "a.b")),
        *((f"{collection}.k8s", K8S) for collection in ("kubernetes.core", "redhat.openshift", "community.okd")),
        *((f"{prefix}k8s", K8S) for prefix in ("", "ansible.builtin.", "ansible.legacy.", "community.kubernetes.")),
        ("kubevirt_vm", KUBEVIRT_VM),
        *((name, "") for name in ("kubevirt.core.kubevirt_vm_info", "kubernetes.core.k8s_json_patch", "core.k8s")),
        (1, ""),
    ],
)
def test_modules_of_any_collection(key: Any, module: str) -> None:
    assert module_of(key, {}) == module
    assert module_of(key, "name=web") == ""


def test_modules_of_actions() -> None:
    assert module_of("local_action", {"module": "kubernetes.core.k8s"}) == K8S
    assert module_of("action", {"module": "debug"}) == module_of("action", "k8s") == ""


def test_all_options_of_a_task() -> None:
    options = {
        "generate_name": "web-",
        "namespace": "shop",
        "labels": {"app": "web"},
        "run_strategy": "Manual",
        "preference": {"name": "fedora"},
        "data_volume_templates": [{"metadata": {"name": "root"}}],
        "spec": {"domain": {}},
    }
    assert tasks.manifest_of(options) == {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web-x", "namespace": "shop", "labels": {"app": "web"}},
        "spec": {
            "runStrategy": "Manual",
            "preference": {"name": "fedora"},
            "dataVolumeTemplates": [{"metadata": {"name": "root"}}],
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"domain": {}}},
        },
    }


def test_defaults_of_a_task() -> None:
    spec = tasks.manifest_of({"api_version": "kubevirt.io/v1alpha3", "running": "no"})["spec"]
    assert spec == {"runStrategy": "Halted", "template": {"metadata": {}, "spec": {"domain": {"devices": {}}}}}
    assert tasks.manifest_of({})["spec"]["runStrategy"] == "Always"


def problem(module: str, **options: Any) -> str:
    (found,) = objects_of(module, options)
    return found.problem


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"running": True, "state": "present"},
        {"labels": {"a": "b"}, "annotations": {"c": "d"}},
        {"run_strategy": "Halted", "spec": {"domain": {"devices": {}}, "volumes": []}},
        {"spec": {"nodeSelector": {"zone": "a"}, "terminationGracePeriodSeconds": 0}},
        {"spec": {"domain": {"cpu": {"cores": 4}}, "networks": [{"name": "default", "pod": {}}]}},
        *({"spec": GUEST, "instancetype": {"name": "a"}, "state": state} for state in ("stopped", "patched")),
        {"state": "running"},
    ],
)
def test_tasks_that_declare_no_guest(options: dict[str, Any]) -> None:
    assert problem(KUBEVIRT_VM, name="web", namespace="shop", **options) == PATCH


@pytest.mark.parametrize(
    "options",
    [
        {"instancetype": {"name": "u1.small"}},
        {"preference": "{{ preference }}"},
        {"data_volume_templates": [{"metadata": {"name": "root"}}]},
        {"spec": "{{ spec }}"},
        {"spec": GUEST, "state": "{{ state }}"},
        {"spec": {"domain": {"devices": {}}, "volumes": [{"name": "root"}]}},
        {"spec": {"domain": {"devices": {}, "resources": {"requests": {"memory": "1Gi"}}}}},
    ],
)
def test_tasks_that_declare_a_guest(options: dict[str, Any]) -> None:
    assert problem(KUBEVIRT_VM, name="web", namespace="shop", **options) == ""


def test_options_of_the_first_module() -> None:
    assert problem(KUBEVIRT_VM, name="web", memory="1Gi").startswith("the options of community.kubevirt")
    assert problem(KUBEVIRT_VM, name="web", memory="1Gi", spec=GUEST) == ""


def definition(spec: Any, **options: Any) -> str:
    return problem(K8S, definition={**VM, "spec": spec}, **options)


def test_definitions_that_patch() -> None:
    size = {"template": {"spec": GUEST}}
    whole = {"running": False, **size}
    assert definition(size) == PATCH
    assert definition(whole) == definition("{{ spec }}") == definition({"template": "{{ template }}"}) == ""
    partial = {"instancetype": {"name": "u1.large"}}
    assert definition(whole, state="patched") == definition({"runStrategy": "Halted"}) == definition(partial) == PATCH
    assert not declares_guest(VM)
    assert list(objects_of(K8S, {"state": "absent", "definition": VM})) == list(objects_of("", {})) == []
    assert problem(K8S, definition={"kind": "Pod", "apiVersion": "v1"}) == ""


def test_definitions_of_all_forms() -> None:
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {}}
    listed = {"kind": "List", "apiVersion": "v1", "items": [pod, "no object"]}
    text = "kind: Pod\n---\nkind: Service\n"
    cases: list[tuple[Any, list[Any]]] = [
        (pod, [("definition",)]),
        ([pod, pod], [("definition", 0), ("definition", 1)]),
        (listed, [("definition", "items", 0)]),
        (text, [("definition",), ("definition",)]),
        ([text], [("definition", 0), ("definition", 0)]),
        (None, []),
    ]
    for content, paths in cases:
        assert [item.path for item in objects_of(K8S, {"definition": content})] == paths
    for unread in ("kind: VirtualMachine\nmetadata: {name: {{ name }}}\n", "{{ vm }}", "a text"):
        (found,) = objects_of(K8S, {"resource_definition": unread})
        assert (found.content, found.path) == (unread, ("resource_definition",))


def test_options_complete_definitions() -> None:
    options = {"api_version": "kubevirt.io/v1", "kind": "VirtualMachine", "name": "web", "namespace": "shop"}
    (found,) = objects_of(K8S, {**options, "definition": {"spec": {}}})
    assert (found.content["kind"], found.content["metadata"]) == (
        "VirtualMachine",
        {"name": "web", "namespace": "shop"},
    )
    kept = tasks.completed({"metadata": {"namespace": "lab"}}, options)
    assert kept["metadata"] == {"name": "web", "namespace": "lab"}


def test_files_that_tasks_take() -> None:
    lookup = "{{ lookup('ansible.builtin.template', 'vm.yml.j2') | from_yaml }} {{ query(\"file\", 'b.yml') }}"
    options = {"src": "a.yml", "template": ["t.j2", {"path": "u.j2"}, {"no": 1}], "definition": lookup}
    assert list(tasks.files_of(K8S, options)) == [
        ("files", "a.yml"),
        ("templates", "t.j2"),
        ("templates", "u.j2"),
        ("templates", "vm.yml.j2"),
        ("files", "b.yml"),
    ]
    assert list(tasks.files_of(K8S, {"template": {"path": "t.j2"}})) == [("templates", "t.j2")]
    assert list(tasks.files_of(K8S, {**options, "state": "absent"})) == list(tasks.files_of(KUBEVIRT_VM, options)) == []
