"""Preflight says of a VM what the emulated server's webhooks say, for each release and configuration that people run.

The webhooks are called in this process, with objects in memory. KubeVirt's checks that have nothing to do with instance
types are not preflight's matter, so the VMs here break none of those.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from _resolver.api import release as server_releases
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import Release
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.tree import copy
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare import plan, preflight
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare.alike import features
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare.needs import needs, then
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare.outlook import admit
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare.references import beside
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.instancetype.find.lookup import Objects
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.instancetype.vmi.cluster import (
    Cluster,
    kubevirt_of,
)
from kubevirt_emulation.install.names import NAMESPACE
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration
from kubevirt_emulation.webhooks.admission import Review
from kubevirt_emulation.webhooks.vm_mutate import VmMutator
from kubevirt_emulation.webhooks.vm_validate import VmValidator

Manifest = dict[str, Any]
T = TypeVar("T")

# From each of these on something is different.
OTHER_RULES = (
    "machine.type is not supported",
    "must be referenced in the VMI template's",
)
RELEASES = [
    "1.3.0",
    "1.3.1",
    "1.4.0",
    "1.5.0",
    "1.5.1",
    "1.5.2",
    "1.6.0",
    "1.6.2",
    "1.6.3",
    "1.6.4",
    "1.7.0",
    "1.8.0",
    "1.9.0",
]
GATES = ["MultiArchitecture", "VMPersistentState", "HostDevices", "InstancetypeReferencePolicy"]
# Default architecture of the cluster, and KubeVirt's configuration.
CONFIGURATIONS: list[tuple[str, Manifest]] = [
    ("amd64", {}),
    ("arm64", {}),
    ("s390x", {}),
    ("amd64", {"machineType": "pc-q35-9.2", "architectureConfiguration": {"arm64": {"machineType": "virt-9.2"}}}),
    ("amd64", {"network": {"defaultNetworkInterface": "masquerade"}}),
    ("amd64", {"network": {"permitBridgeInterfaceOnPodNetwork": False}}),
    ("amd64", {"network": {"defaultNetworkInterface": "slirp"}}),
    ("arm64", {"cpuRequest": "200m", "evictionStrategy": "LiveMigrate"}),
    ("amd64", {"developerConfiguration": {"memoryOvercommit": 150, "cpuAllocationRatio": 4}}),
    ("amd64", {"vmRolloutStrategy": "Stage", "instancetype": {"referencePolicy": "expandAll"}, "cpuModel": "Haswell"}),
]

TYPE, PREFERENCE = "VirtualMachineClusterInstancetype", "VirtualMachineClusterPreference"
ARCHITECTURES = ("amd64", "arm64", "s390x")
INSTANCETYPE, GUEST_PREFERENCE = "default-instancetype", "default-preference"


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Manifest]:
    """Objects with any of these fields."""
    return st.fixed_dictionaries({}, optional=fields)


MOST = st.just("8Gi")
SIZES = st.sampled_from(["512Mi", "1Gi", "2Gi", "4Gi"])
PAGES = st.just({"pageSize": "2Mi"})
COUNTS = st.integers(1, 4)
SELECTOR = st.just({"disk": "ssd"})
INSTANCETYPES = st.builds(
    lambda cpu, memory, more: {"cpu": cpu, "memory": memory, **more},
    st.builds(lambda guest, more: {"guest": guest, **more}, COUNTS, some(model=st.just("Haswell"))),
    st.builds(
        lambda guest, more: {"guest": guest, **more}, SIZES, some(hugepages=PAGES) | some(maxGuest=st.just("8Gi"))
    ),
    some(nodeSelector=SELECTOR, annotations=st.just({"a": "b"}), ioThreadsPolicy=st.just("auto")),
)
TOPOLOGIES = [
    "sockets",
    "cores",
    "threads",
    "spread",
    "any",
    "preferSockets",
    "preferCores",
    "preferThreads",
    "preferSpread",
    "preferAny",
]
PREFERENCES = some(
    cpu=some(
        preferredCPUTopology=st.sampled_from(TOPOLOGIES),
        spreadOptions=some(
            across=st.sampled_from(["SocketsCores", "SocketsCoresThreads", "CoresThreads"]), ratio=st.just(2)
        ),
    ),
    preferredArchitecture=st.sampled_from(ARCHITECTURES),
    machine=st.just({"preferredMachineType": "q35"}),
    requirements=some(
        cpu=st.builds(lambda guest: {"guest": guest}, COUNTS),
        memory=st.builds(lambda guest: {"guest": guest}, SIZES),
        architecture=st.sampled_from(ARCHITECTURES),
    ),
    preferSpreadSocketToCoreRatio=st.just(2),
)
DOMAINS = st.builds(
    lambda domain, most: {"devices": {}, **domain, **most},
    some(
        cpu=some(sockets=COUNTS, cores=COUNTS, threads=COUNTS, model=st.just("Haswell")),
        memory=some(guest=SIZES, hugepages=PAGES, maxGuest=st.just("8Gi")),
        ioThreadsPolicy=st.just("shared"),
    ),
    some(resources=some(requests=some(memory=st.just("1Gi"), cpu=st.just("1")))),
)
LABELS = some(
    **{
        f"instancetype.kubevirt.io/{INSTANCETYPE}": st.sampled_from(["size", "other", "gone"]),
        f"instancetype.kubevirt.io/{INSTANCETYPE}-kind": st.just(TYPE),
        f"instancetype.kubevirt.io/{GUEST_PREFERENCE}": st.sampled_from(["guest", "gone"]),
        "template.kubevirt.io/architecture": st.sampled_from([*ARCHITECTURES, "vax"]),
    }
)
INFERRED = st.builds(
    lambda more: {"inferFromVolume": "root", **more}, some(inferFromVolumeFailurePolicy=st.just("Ignore"))
)


def named(*names: str) -> st.SearchStrategy[Manifest]:
    return st.sampled_from([{"name": name} for name in names])


VMS = st.builds(
    lambda *parts: vm(*parts),  # pylint: disable=unnecessary-lambda
    DOMAINS,
    some(architecture=st.sampled_from(ARCHITECTURES), nodeSelector=SELECTOR),
    some(instancetype=named("size", "other", "gone") | INFERRED, preference=named("guest", "gone") | INFERRED),
    st.sampled_from(["claim", "template", "volume", "gone"]),
)


def vm(domain: Manifest, template: Manifest, matchers: Manifest, source: str) -> Manifest:
    """A VM whose disk is a claim, a volume or a copy of a DataSource; or of an object that is gone."""
    sized = matchers.get("instancetype", {}).get("name") in ("size", "other")
    if "hugepages" in domain.get("memory", {}) and not sized:
        # A guest of less than a page is refused for other reasons.
        domain = {**domain, "memory": {"guest": "2Gi", **domain["memory"]}}
    copy_of = {"storage": {}, "sourceRef": {"kind": "DataSource", "name": "os"}}
    root = {"persistentVolumeClaim": {"claimName": source}} if source == "claim" else {"dataVolume": {"name": source}}
    spec = {"domain": domain, "volumes": [{"name": "root", **root}], **template}
    made: Manifest = {"runStrategy": "Halted", "template": {"metadata": {}, "spec": spec}, **matchers}
    if source == "template":
        made["dataVolumeTemplates"] = [{"metadata": {"name": "template"}, "spec": copy_of}]
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": made,
    }


def labelled(kind: str, name: str, labels: Manifest) -> Manifest:
    return {"kind": kind, "metadata": {"name": name, "namespace": "shop", "labels": labels}, "spec": {}}


WORLDS = st.builds(
    lambda size, other, guest, claim, volume, source: [
        {"kind": TYPE, "metadata": {"name": "size"}, "spec": size},
        {"kind": TYPE, "metadata": {"name": "other"}, "spec": other},
        {"kind": PREFERENCE, "metadata": {"name": "guest"}, "spec": guest},
        labelled("PersistentVolumeClaim", "claim", claim),
        labelled("DataVolume", "volume", volume),
        labelled("DataSource", "os", source),
    ],
    INSTANCETYPES,
    INSTANCETYPES,
    PREFERENCES,
    LABELS,
    LABELS,
    LABELS,
)


class InMemory:
    """What the webhooks of the emulation look objects up in."""

    def __init__(self, objects: Iterable[Manifest]) -> None:
        self._objects = Objects(objects)

    async def resolve(self, compute: Any) -> Any:
        return compute(self._objects)


def finished(task: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that waits for nothing."""
    try:
        task.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    raise AssertionError("it waits")


class Server:
    """virt-api of a release."""

    def __init__(self, world: list[Manifest], kubevirt: Manifest, release: str) -> None:
        objects: Any = InMemory(world)
        cache: Any = {(NAMESPACE, "kubevirt"): kubevirt}
        configuration = KubeVirtConfiguration(cache, server_releases.of(release))
        self._mutator, self._validator = VmMutator(objects, configuration), VmValidator(objects, configuration)

    def store(self, made: Manifest, old: Manifest | None) -> Manifest | str:
        """The VM as it is stored, or why it is refused."""
        sent = copy(made)
        mutated = finished(self._mutator.answer(self._review(sent, old)))
        if mutated.status is not None:
            return str(mutated.status["message"])
        for patch in mutated.patch:
            assert (patch["op"], patch["path"]) == ("replace", "/spec")
            sent = {**sent, "spec": copy(patch["value"])}
        stored = copy(sent)
        validated = finished(self._validator.answer(self._review(sent, old)))
        return stored if validated.status is None else str(validated.status["message"])

    def _review(self, made: Manifest, old: Manifest | None) -> Review:
        operation = "UPDATE" if old else "CREATE"
        return Review("1", operation, "VirtualMachine", "shop", "somebody", (), made, old)


def kubevirt(release: str, configuration: tuple[str, Manifest], gates: list[str]) -> Manifest:
    architecture, spec = configuration
    developer = {"featureGates": gates, **spec.get("developerConfiguration", {})}
    return {
        "spec": {"configuration": {**spec, "developerConfiguration": developer}},
        "status": {"observedKubeVirtVersion": f"v{release}", "defaultArchitecture": architecture},
    }


@pytest.mark.parametrize("release", RELEASES)
@settings(max_examples=max(1, settings.default.max_examples // 4))
@given(WORLDS, VMS, VMS, st.sampled_from(CONFIGURATIONS), st.lists(st.sampled_from(GATES), unique=True), st.booleans())
def test_preflight_says_what_the_server_says(
    release: str,
    world: list[Manifest],
    first: Manifest,
    then: Manifest,
    chosen: tuple[str, Manifest],
    gates: list[str],
    changes: bool,
) -> None:
    installed = kubevirt(release, chosen, gates)
    server = Server(world, installed, release)
    live = None
    if changes:
        stored = server.store(first, None)
        assume(isinstance(stored, dict))
        live = stored if isinstance(stored, dict) else None
    cluster = Cluster(Objects(world), kubevirt_of(installed, f"v{release}"))
    planned = plan.present(then, live, None)
    assume(planned.action != plan.NONE)

    def listed(kind: str, _namespace: str) -> list[Manifest]:
        return [one for one in world if one["kind"] == kind]

    future = admit(plan.merged(planned, live), live, cluster)
    told = [issue for issue in preflight.issues(future, live, cluster, listed) if issue.certain]
    answer = server.store(future.vm, live)
    # Which machine types an architecture has, and what disks are of, are none of preflight's matters.
    assume(isinstance(answer, dict) or not any(other in answer for other in OTHER_RULES))
    if isinstance(answer, dict):
        event("accepted")
        # A VM whose instancetype is not there is stored by newer releases, and does not start.
        assert all('"gone" not found' in issue.text for issue in told), (told, answer)
    else:
        event("refused")
        assert len(told) in (1, 2), (told, answer)
        assert any(" ".join(answer.split()) in issue.text or '"gone" not found' in issue.text for issue in told), (
            told,
            answer,
        )


@pytest.mark.parametrize("release", RELEASES)
@settings(max_examples=max(1, settings.default.max_examples // 8))
@given(WORLDS, VMS, VMS, st.sampled_from(CONFIGURATIONS), st.booleans(), st.booleans())
def test_what_features_leaves_out_changes_no_issue(
    release: str,
    world: list[Manifest],
    first: Manifest,
    then: Manifest,
    chosen: tuple[str, Manifest],
    changes: bool,
    captures: bool,
) -> None:
    specs = {one["metadata"]["name"]: one["spec"] for one in world if one["kind"] == TYPE}

    def twin(name: str) -> tuple[Manifest, Manifest | None, Cluster]:
        """The VM under another name, with other facts of its own, and its captured revision."""
        named = {"name": name, "namespace": "shop"}
        wanted = {**then, "metadata": named}
        if not changes:
            return plan.merged(plan.present(wanted, None, None), None), None, cluster([])
        own = {"uid": f"u-{name}", "generation": len(name), "resourceVersion": name}
        live = {**copy(first), "metadata": {**named, **own}, "status": {"printableStatus": name}}
        matched = first["spec"].get("instancetype", {}).get("name")
        kept = []
        if captures and matched in specs:
            live["status"]["instancetypeRef"] = {"name": matched, "controllerRevisionRef": {"name": f"kept-{name}"}}
            data = {"apiVersion": "instancetype.kubevirt.io/v1beta1", "kind": TYPE, "spec": specs[matched]}
            labels = {"instancetype.kubevirt.io/object-name": matched}
            about = {"name": f"kept-{name}", "namespace": "shop", "labels": labels}
            kept = [{"kind": "ControllerRevision", "metadata": about, "data": data}]
        planned = plan.present(wanted, live, None)
        return plan.merged(planned, live), live, cluster(kept)

    def cluster(kept: list[Manifest]) -> Cluster:
        return Cluster(Objects([*world, *kept]), kubevirt_of(kubevirt(release, chosen, []), f"v{release}"))

    def listed(kind: str, _namespace: str) -> list[Manifest]:
        return [one for one in world if one["kind"] == kind]

    twins = [twin(name) for name in ("web", "database")]
    assert len({features(made, live, there) for made, live, there in twins}) == 1
    told = [preflight.issues(admit(made, live, there), live, there, listed) for made, live, there in twins]
    event("issues" if told[0] else "none")
    assert told[0] == told[1]


class Gathered(Objects):
    """Only what was asked for beforehand."""

    def __init__(self, world: list[Manifest], wanted: Iterable[Manifest], release: Release) -> None:
        super().__init__(world)
        due = [need for vm in wanted for need in (*needs(vm, release), *beside(vm))]
        self.known: set[tuple[str, str, str]] = set()
        while due:
            self.known.update(need[:3] for need in due)
            after = [more for need in due for more in then(need, super(Gathered, self).get(*need[:3]))]
            due = [need for need in after if need[:3] not in self.known]

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        place = (kind, "" if kind in (TYPE, PREFERENCE) else namespace, name)
        assert place in self.known, f"{place} was not foreseen"
        return super().get(kind, namespace, name)


@given(WORLDS, VMS, st.sampled_from(RELEASES))
def test_all_that_judging_asks_for_was_gathered(world: list[Manifest], made: Manifest, release: str) -> None:
    kubevirt = kubevirt_of({}, f"v{release}")
    objects = Gathered(world, [made], kubevirt.release)
    planned = plan.present(made, None, None)
    asked = Cluster(objects, kubevirt)
    preflight.issues(admit(planned.manifest, None, asked), None, asked, lambda *_: [])
