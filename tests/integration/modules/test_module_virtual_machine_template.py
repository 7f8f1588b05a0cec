"""virtual_machine with from_template: processed here, the same at every run, its secrets hidden."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from modules_support import Task, live, objects

pytestmark = pytest.mark.needs("templates")


API = "template.kubevirt.io/v1beta1"
KIND = "VirtualMachineTemplate"
USER_DATA = "#cloud-config\nuser: me\npassword: ${ROOT_PASSWORD}\nchpasswd: {expire: false}\n"


def template(name: str, namespace: str) -> dict[str, Any]:
    disk = {"name": "root-${NAME}-${SUFFIX}"}
    volume = {"source": {"blank": {}}, "storage": {"resources": {"requests": {"storage": "1Gi"}}}}
    return {
        "apiVersion": API,
        "kind": KIND,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "message": "${NAME} has ${CORES} cores and the password ${ROOT_PASSWORD}",
            "parameters": [
                {"name": "NAME", "generate": "expression", "from": "vm-[a-z0-9]{5}"},
                {"name": "SUFFIX", "generate": "expression", "from": "[a-z0-9]{6}"},
                {"name": "CORES", "value": "1"},
                {"name": "TEAM", "required": True},
                {"name": "ROOT_PASSWORD", "generate": "expression", "from": "[a-zA-Z0-9]{16}"},
            ],
            "virtualMachine": {
                "metadata": {"name": "${NAME}", "labels": {"team": "${TEAM}", "of": "template"}},
                "spec": {
                    "runStrategy": "Halted",
                    "dataVolumeTemplates": [{"metadata": disk, "spec": volume}],
                    "template": {
                        "metadata": {"annotations": {"note": "the password is ${ROOT_PASSWORD}"}},
                        "spec": {
                            "domain": {
                                "cpu": {"cores": "${{CORES}}"},
                                "memory": {"guest": "1024Mi"},
                                "devices": {},
                            },
                            "volumes": [
                                {"name": "root", "dataVolume": disk},
                                {"name": "init", "cloudInitNoCloud": {"userData": USER_DATA}},
                            ],
                        },
                    },
                },
            },
        },
    }


@pytest.fixture
def golden(api: Any, namespace: str) -> Iterator[str]:
    """A namespace with the template `rhel9`."""
    name = f"{namespace}-golden"
    namespaces = objects(api, "Namespace")
    namespaces.create(body={"metadata": {"name": name}})
    api.resources.get(api_version=API, kind=KIND).create(body=template("rhel9", name), namespace=name)
    yield name
    namespaces.delete(name=name)


@pytest.fixture
def options(golden: str, namespace: str) -> dict[str, Any]:
    return {
        "name": "web",
        "namespace": namespace,
        "from_template": {"name": "rhel9", "namespace": golden, "parameters": {"TEAM": "a"}},
    }


def password(vm: dict[str, Any]) -> str:
    return str(vm["spec"]["template"]["metadata"]["annotations"]["note"]).rpartition(" ")[2]


def test_vm_of_template_stays_the_same(task: Task, api: Any, namespace: str, options: dict[str, Any]) -> None:
    assert task("virtual_machine", check=True, **options)["changed"]
    created = task("virtual_machine", **options)
    assert created["result"]["action"] == "create", created
    vm = live(api, namespace)
    result = created["result"]["from_template"]
    assert vm["metadata"]["labels"] == {"team": "a", "of": "template"}
    assert vm["spec"]["runStrategy"] == "Halted"
    assert vm["spec"]["template"]["spec"]["domain"]["cpu"] == {"cores": 1}
    disk = vm["spec"]["dataVolumeTemplates"][0]["metadata"]["name"]
    assert disk == f"root-web-{result['parameters']['SUFFIX']}"
    assert result["message"] == "web has 1 cores and the password ********"
    for check in (True, False):
        again = task("virtual_machine", check=check, **options)
        assert not again["changed"], again
        assert again["result"]["from_template"] == result
    assert live(api, namespace)["metadata"]["generation"] == vm["metadata"]["generation"]


def test_secrets_stay_hidden(task: Task, api: Any, namespace: str, options: dict[str, Any]) -> None:
    made = task("virtual_machine", **options)
    first = password(live(api, namespace))
    assert len(first) == 16
    assert first not in str(made)
    parameters = {**options["from_template"]["parameters"], "ROOT_PASSWORD": "another-one"}
    changed = task(
        "virtual_machine", **{**options, "from_template": {**options["from_template"], "parameters": parameters}}
    )
    assert changed["result"]["action"] == "apply", changed
    assert password(live(api, namespace)) == "another-one"
    assert changed["diff"] and changed["invocation"]
    for secret in (first, "another-one"):
        assert secret not in str(changed)


def test_options_override_the_template(task: Task, api: Any, namespace: str, options: dict[str, Any]) -> None:
    assert task("virtual_machine", labels={"of": "task"}, memory="2Gi", run_strategy="Manual", **options)["changed"]
    vm = live(api, namespace)
    assert vm["metadata"]["labels"] == {"team": "a", "of": "task"}
    assert vm["spec"]["template"]["spec"]["domain"]["memory"] == {"guest": "2Gi"}
    assert vm["spec"]["runStrategy"] == "Manual"
    refused = task.refused("virtual_machine", networks=[{}], **options)
    assert refused["msg"] == "parameters are mutually exclusive: from_template|networks"


def test_several_vms_of_one_template(task: Task, api: Any, namespace: str, options: dict[str, Any]) -> None:
    del options["name"]
    entries = [{"name": "a"}, {"name": "b", "from_template": {"parameters": {"CORES": 2}}}]
    result = task("virtual_machine", virtual_machines=entries, **options)
    assert result["msg"] == "2 virtual machines: 2 created", result
    cores = [live(api, namespace, name)["spec"]["template"]["spec"]["domain"]["cpu"]["cores"] for name in ("a", "b")]
    assert cores == [1, 2]
    assert not task("virtual_machine", virtual_machines=entries, **options)["changed"]


def test_lost_value_is_named(task: Task, api: Any, namespace: str, options: dict[str, Any]) -> None:
    assert task("virtual_machine", name="web", run_strategy="Halted")["changed"]
    refused = task.refused("virtual_machine", **options)
    assert "the value that was generated for SUFFIX cannot be read from the existing VM; set" in refused["msg"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"parameters": {}}, "parameter 'TEAM' is required; give it in parameters"),
        ({"parameters": {"TAEM": "a"}}, "parameter TAEM not found in template; did you mean TEAM?"),
        ({"name": "rhel-9"}, "/rhel-9 does not exist; did you mean rhel9?"),
        ({"parameters": {"NAME": "db", "TEAM": "a"}}, "parameters do not fit name: web"),
    ],
)
def test_refusals_have_a_remedy(task: Task, options: dict[str, Any], change: dict[str, Any], words: str) -> None:
    expected = {**options["from_template"], **change}
    refused = task.refused("virtual_machine", **{**options, "from_template": expected})
    assert words in refused["msg"], refused
    assert "\n" not in refused["msg"]


def test_template_takes_the_right_to_read_it(
    task: Task, namespace: str, options: dict[str, Any], user_with: Callable[..., dict[str, Any]]
) -> None:
    user = user_with(
        {"apiGroups": ["kubevirt.io"], "resources": ["virtualmachines"], "verbs": ["get", "list", "create", "patch"]}
    )
    refused = task.refused("virtual_machine", **options, **user)
    assert 'grant {apiGroups: ["template.kubevirt.io"], resources: ["virtualmachinetemplates"]' in refused["msg"]
