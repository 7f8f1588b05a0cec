"""The remedies of diagnoses, pasted into a playbook and run on the real control plane: the VMs run then."""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_environment import played
from diagnosed_places import await_links, diagnosed, put_all
from loopback_registry import LoopbackRegistry
from waiting import wait_until

from modules_support import execute
from vm_faults import FAULTS, FURTHER, NewPlaces, Place, healthy

Manifest = dict[str, Any]

BY_NAME = {fault.name: fault for fault in (*FAULTS, *FURTHER)}
RUN = (
    *("missing class", "missing claim", "missing type", "missing preference", "missing revision", "missing DataSource"),
    *("quota", "limit range", "taint", "selector", "4Mi", "wrong network", "image that cannot be pulled", "paused"),
    *("RestartRequired", "migration stuck", "obsolete type", "missing Secret", "missing ConfigMap"),
    *("missing ServiceAccount", "missing PriorityClass", "quota of pods", "quota of guests", "quota of storage"),
    *("quota of CPUs", "quota of claims", "StorageProfile without modes", "restricted namespace", "affinity"),
    *("missing answers in a Secret", "missing answers in a ConfigMap", "scheduler that does not run", "two labels"),
    *("labels and a taint", "missing neighbour", "spread over zones", "CPU model", "machine type"),
    "drain without a target",
)
"""The faults after whose remedy the VM runs."""
OTHERS = {
    "port of masquerade": "probe",
    "finalizer that hangs": "",
    "GPU that no node has": "device",
    "architecture": "scheduling",
    "volume of another node": "scheduling",
    "clone without the right": "import",  # of a source that there is not
    "GPU that is not permitted": "admission",
    "registry that is not there": "import",
    "import without its Secret": "import",
    "webhook down": "webhook",
    "policy that denies": "policy",
    "crash loop": "",
    "node gone": "node",  # its VM tolerates each taint, that of nodes out of service among them
    "smallest container": "limit_range",
}
"""Faults whose remedy is one step, or cannot help in a simulated guest → the link that is broken then, "" for any."""


def words(registry: LoopbackRegistry) -> dict[str, str]:
    """The words that a user writes instead of words in capitals."""
    image = f"docker://{registry.address}/disk:1"
    return {
        "ANSWERS": "<unattend/>",
        "NAME": "small",
        "MEMORY": "256Mi",
        "BRIDGE": "br0",
        "NODE": "node01",
        "IMAGE": image,
        "SIZE": "512Mi",
    }


def written(diagnosis: Manifest, replacements: Mapping[str, str]) -> Manifest:
    """The task as a user pastes it."""
    text = yaml.safe_dump(diagnosis["task"])
    for word, value in replacements.items():
        text = re.sub(rf"\b{word}\b", value, text)
    task: Manifest = yaml.safe_load(text)
    for step in task.get("block", [task]):
        if (source := step.get("virtshape.instancetypes.boot_source")) is not None:
            source["insecure_registry"] = True  # that of the test speaks HTTP
    return task


def play(tasks: list[Manifest], kubeconfig: str, folder: Path) -> str:
    """Runs tasks in a playbook, all of them, and returns its output."""
    book = [{"hosts": "localhost", "gather_facts": False, "ignore_errors": True, "tasks": tasks}]
    around = {"KUBECONFIG": kubeconfig, "ANSIBLE_CALLBACK_RESULT_FORMAT": "json"}
    return played(
        folder, book, variables={"ansible_python_interpreter": sys.executable}, kubeconfig=kubeconfig, **around
    )


def add_choices(place: Place) -> None:
    """Adds the names that users choose instead of NAME."""
    for kind, spec in (
        ("VirtualMachineInstancetype", {"cpu": {"guest": 1}, "memory": {"guest": "256Mi"}}),
        ("VirtualMachinePreference", {}),
    ):
        plural = f"{kind.lower()}s"
        items = place.api.request("GET", place.path("instancetype.kubevirt.io/v1beta1", plural))["items"]
        if not any(item["metadata"]["name"] == "small" for item in items):
            place.create(
                "instancetype.kubevirt.io/v1beta1", plural, kind, {"metadata": {"name": "small"}, "spec": spec}
            )


@pytest.mark.nightly("all remedies, on a cluster of their own with declared nodes")
@pytest.mark.own_cluster
def test_remedies_work(
    new_places_with_nodes: NewPlaces, nodes_kubeconfig: str, registry: LoopbackRegistry, tmp_path: Path
) -> None:
    registry.push("disk", "1", {"amd64": []})
    faults = [BY_NAME[name] for name in (*RUN, *OTHERS)]
    places = put_all([[fault] for fault in faults], new_places_with_nodes)
    found = await_links(nodes_kubeconfig, {place.namespace: fault.link for place, fault in zip(places, faults)})
    for place in places:
        add_choices(place)
    replacements = words(registry)
    tasks = [
        {**written(found[place.namespace], replacements), "name": fault.name} for place, fault in zip(places, faults)
    ]
    output = play(tasks, nodes_kubeconfig, tmp_path)
    assert "failed=0" in output and "ignored=0" in output, output

    def left() -> dict[str, Any]:
        now = diagnosed(nodes_kubeconfig, [place.namespace for place in places])
        result = {}
        for place, fault in zip(places, faults):
            diagnosis = now.get(place.namespace, {})
            wanted = OTHERS.get(fault.name)
            if diagnosis.get("link") != wanted if wanted else wanted is None and diagnosis.get("state") != "running":
                result[fault.name] = diagnosis
        return result

    last: list[dict[str, Any]] = [{}]

    def all_mended() -> bool:
        last[0] = left()
        return not last[0]

    try:
        wait_until(all_mended)
    except AssertionError:
        raise AssertionError(json.dumps(last[0], indent=1)) from None


@pytest.mark.nightly("three VMs, and their remedies")
def test_one_remedy_raises_a_quota_for_all(new_places: NewPlaces, cluster: Path, tmp_path: Path) -> None:
    [place] = put_all([[BY_NAME["quota"]]], new_places)
    for name in ("more", "most"):
        place.create("kubevirt.io/v1", "virtualmachines", "VirtualMachine", healthy(name))
    options = {"kubeconfig": str(cluster), "namespace": place.namespace, "include": ["diagnosis"]}

    def states(found: list[Manifest]) -> list[str | None]:
        return [vm["diagnosis"].get("link", vm["diagnosis"]["state"]) for vm in found]

    def all_are(wanted: str) -> list[Manifest]:
        found: list[Manifest] = execute("virtual_machine_info", options)["virtual_machines"]
        return found if states(found) == [wanted] * 3 else []

    wait_until(lambda: all_are("quota"))
    options["names"] = ["web"]
    [alone] = execute("virtual_machine_info", options)["virtual_machines"]
    del options["names"]
    assert "for this VM and 2 more" in alone["diagnosis"]["remedy"]
    play([written(alone["diagnosis"], {})], str(cluster), tmp_path)
    wait_until(lambda: all_are("running"), 600)
