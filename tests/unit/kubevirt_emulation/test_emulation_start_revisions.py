"""Which record of a VM's spec a start makes, keeps and deletes."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, Callable

import pytest
from emulated import configured

from kubevirt_emulation.controllers import generations
from kubevirt_emulation.controllers.context import Work
from kubevirt_emulation.controllers.start_revisions import StartRevisions

Manifest = dict[str, Any]
Key = tuple[str, str]


class Cluster:
    """The ControllerRevisions of a namespace, as a cache and a client have them."""

    def __init__(self) -> None:
        self.stored: dict[Key, Manifest] = {}
        self._handlers: list[Callable[[Key], None]] = []
        self.context: Any = SimpleNamespace(
            configuration=configured(),
            caches={"ControllerRevision": self},
            client=self,
            create_revision=self.create_revision,
        )

    def on_change(self, handler: Callable[[Key], None]) -> None:
        self._handlers.append(handler)

    def get(self, key: Key) -> Manifest | None:
        return self.stored.get(key)

    def put(self, manifest: Manifest) -> None:
        self._changed((manifest["metadata"]["namespace"], manifest["metadata"]["name"]), manifest)

    async def create_revision(self, _namespace: str, manifest: Manifest) -> None:
        self.put(manifest)

    async def delete(self, _resource: object, namespace: str, name: str) -> None:
        self._changed((namespace, name), None)

    def _changed(self, key: Key, manifest: Manifest | None) -> None:
        self.stored.pop(key, None)
        if manifest is not None:
            self.stored[key] = manifest
        for handler in self._handlers:
            handler(key)

    def names(self) -> list[str]:
        return sorted(name for _namespace, name in self.stored)


def vm(generation: int, captured: str = "small-1", **template: Any) -> Manifest:
    matcher = {"name": "small", "kind": "VirtualMachineInstancetype"}
    return {
        "metadata": {"name": "a", "namespace": "ns", "uid": "u1", "generation": generation},
        "spec": {"instancetype": matcher, "template": {"spec": {"domain": {"devices": {}}, **template}}},
        "status": {"instancetypeRef": {"controllerRevisionRef": {"name": captured}}},
    }


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
def revisions(cluster: Cluster) -> StartRevisions:
    return StartRevisions(cluster.context)


def create(revisions: StartRevisions, of: Manifest) -> str:
    return asyncio.run(revisions.create(of))


def test_the_record_names_the_captured_revision(cluster: Cluster, revisions: StartRevisions) -> None:
    name = create(revisions, vm(1))
    assert name == "revision-start-vm-u1-1" and cluster.names() == [name]
    recorded = cluster.stored["ns", name]
    assert recorded["revision"] == 1
    assert recorded["data"]["spec"]["instancetype"]["revisionName"] == "small-1"
    assert revisions.last_spec(vm(1)) == recorded["data"]["spec"]


def test_the_record_of_the_vm_s_generation_is_kept_as_it_is(cluster: Cluster, revisions: StartRevisions) -> None:
    name = create(revisions, vm(1))
    assert create(revisions, vm(1, captured="small-2")) == name
    assert cluster.stored["ns", name]["data"]["spec"]["instancetype"]["revisionName"] == "small-1"


def test_records_of_other_generations_go(cluster: Cluster, revisions: StartRevisions) -> None:
    create(revisions, vm(1))
    cluster.put({"metadata": {"namespace": "ns", "name": "small-1"}, "data": {}})
    other = {"kind": "VirtualMachine", "uid": "u2"}
    name = "revision-start-vm-u2-1"
    cluster.put({"metadata": {"namespace": "ns", "name": name, "ownerReferences": [other]}, "revision": 1, "data": {}})
    assert create(revisions, vm(3)) == "revision-start-vm-u1-3"
    assert cluster.names() == ["revision-start-vm-u1-3", "revision-start-vm-u2-1", "small-1"]


def test_what_no_vm_owns_is_no_record(cluster: Cluster, revisions: StartRevisions) -> None:
    cluster.put({"metadata": {"namespace": "ns", "name": "revision-start-vm-u1-1"}, "revision": 1, "data": {}})
    assert revisions.last_spec(vm(1)) is None


def test_a_record_that_was_deleted_is_made_again(cluster: Cluster, revisions: StartRevisions) -> None:
    name = create(revisions, vm(1))
    cluster._changed(("ns", name), None)
    assert revisions.last_spec(vm(1)) is None
    create(revisions, vm(1, captured="small-2"))
    assert cluster.stored["ns", name]["data"]["spec"]["instancetype"]["revisionName"] == "small-2"


def observed(revisions: StartRevisions, of: Manifest, annotations: Manifest) -> str | None:
    """The generation that a VMI of the first generation says it is of, once its VM was looked at."""

    async def patch_vmi(vmi: Manifest, body: Manifest) -> Manifest:
        return {**vmi, "metadata": {**vmi["metadata"], "annotations": body["metadata"]["annotations"]}}

    create(revisions, vm(1))
    status = {"virtualMachineRevisionName": "revision-start-vm-u1-1"}
    work = Work(of, {"metadata": {"namespace": "ns", "annotations": annotations}, "status": status})
    context: Any = SimpleNamespace(patch_vmi=patch_vmi)
    asyncio.run(generations.sync(context, revisions, work))
    assert work.vmi is not None
    return generations.observed(work.vmi)


FIRST = {generations.ANNOTATION: "1"}


@pytest.mark.parametrize(
    ("of", "annotations", "expected"),
    [
        (vm(1), FIRST, "1"),
        (vm(2), FIRST, "2"),
        (vm(2, nodeSelector={"a": "b"}), FIRST, "1"),
        (vm(2, nodeSelector={"a": "b"}), {}, "1"),
        (vm(2), {}, "2"),
    ],
)
def test_a_vmi_is_of_the_present_generation_while_the_template_is_that_of_its_start(
    revisions: StartRevisions, of: Manifest, annotations: Manifest, expected: str
) -> None:
    assert observed(revisions, of, annotations) == expected
