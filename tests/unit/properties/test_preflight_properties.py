"""Preflight asks for nothing that was not gathered, and says the same of VMs that are alike.

That it says what KubeVirt says is held by tests/integration/properties.
"""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from plugins.module_utils._resolver.api.release import Release
from plugins.module_utils._resolver.api.tree import copy
from plugins.module_utils._resolver.declare import plan
from plugins.module_utils._resolver.kubevirt.admission.mutate import admission_cache_key, admit
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, kubevirt_of
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.preflight import findings as preflight
from plugins.module_utils._resolver.preflight.object_keys import further_keys, keys_for_admission
from plugins.module_utils._resolver.preflight.references import keys_for_start
from vm_strategies import PREFERENCE, TYPE, VMS, WORLDS

Manifest = dict[str, Any]
RELEASES = [
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


def kubevirt(release: str, configuration: tuple[str, Manifest]) -> Manifest:
    architecture, spec = configuration
    return {
        "spec": {"configuration": spec},
        "status": {"observedKubeVirtVersion": f"v{release}", "defaultArchitecture": architecture},
    }


@pytest.mark.parametrize("release", RELEASES)
@settings(max_examples=max(1, settings.default.max_examples // 8))
@given(WORLDS, VMS, VMS, st.sampled_from(CONFIGURATIONS), st.booleans(), st.booleans())
def test_omitted_features_change_no_issue(
    release: str,
    world: list[Manifest],
    first: Manifest,
    then: Manifest,
    chosen: tuple[str, Manifest],
    changes: bool,
    captures: bool,
) -> None:
    specs = {item["metadata"]["name"]: item["spec"] for item in world if item["kind"] == TYPE}

    def twin(name: str) -> tuple[Manifest, Manifest | None, Cluster]:
        """The VM under another name, with other facts of its own, and its captured revision."""
        named = {"name": name, "namespace": "shop"}
        expected = {**then, "metadata": named}
        if not changes:
            return plan.merged(plan.present(expected, None, None), None), None, cluster([])
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
        planned = plan.present(expected, live, None)
        return plan.merged(planned, live), live, cluster(kept)

    def cluster(kept: list[Manifest]) -> Cluster:
        return Cluster(Objects([*world, *kept]), kubevirt_of(kubevirt(release, chosen), f"v{release}"))

    def listed(kind: str, _namespace: str) -> list[Manifest]:
        return [item for item in world if item["kind"] == kind]

    twins = [twin(name) for name in ("web", "database")]
    assert len({admission_cache_key(made, live, there) for made, live, there in twins}) == 1
    result = [preflight.findings(admit(made, live, there), live, there, listed) for made, live, there in twins]
    event("issues" if result[0] else "none")
    assert result[0] == result[1]


class Gathered(Objects):
    """A lookup that has only the objects that were asked for beforehand."""

    def __init__(self, world: list[Manifest], wanted: Iterable[Manifest], release: Release) -> None:
        super().__init__(world)
        due = [needed for vm in wanted for needed in (*keys_for_admission(vm, release), *keys_for_start(vm))]
        self.known: set[tuple[str, str, str]] = set()
        while due:
            self.known.update(needed.key for needed in due)
            after = [more for needed in due for more in further_keys(needed, super(Gathered, self).get(*needed.key))]
            due = [needed for needed in after if needed.key not in self.known]

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        place = (kind, "" if kind in (TYPE, PREFERENCE) else namespace, name)
        assert place in self.known, f"{place} was not foreseen"
        return super().get(kind, namespace, name)


@given(WORLDS, VMS, st.sampled_from(RELEASES))
def test_preflight_reads_only_gathered_objects(world: list[Manifest], made: Manifest, release: str) -> None:
    kubevirt = kubevirt_of({}, f"v{release}")
    objects = Gathered(world, [made], kubevirt.release)
    planned = plan.present(made, None, None)
    requested = Cluster(objects, kubevirt)
    preflight.findings(admit(planned.manifest, None, requested), None, requested, lambda *_: [])
