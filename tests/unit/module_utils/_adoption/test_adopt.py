"""Instancetypes and preferences for VMs with CPU, memory and devices of their own, and the fields that they replace."""

import copy
import re
from fractions import Fraction
from typing import Any

import pytest

from plugins.module_utils._adoption import adopt, change
from plugins.module_utils._adoption.adopt import Adoption, Candidate
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects

Manifest = dict[str, Any]

CLUSTER_TYPE, CLUSTER_PREFERENCE = "VirtualMachineClusterInstancetype", "VirtualMachineClusterPreference"


def named(kind: str, name: str, **spec: Any) -> Manifest:
    metadata = {"name": name, **({} if "Cluster" in kind else {"namespace": "shop"})}
    return {"kind": kind, "metadata": metadata, "spec": spec}


def size(name: str, cpu: int, memory: str, kind: str = CLUSTER_TYPE, **more: Any) -> Manifest:
    options = {
        **more,
        "cpu": {"guest": cpu, **more.get("cpu", {})},
        "memory": {"guest": memory, **more.get("memory", {})},
    }
    return named(kind, name, **options)


def preference(name: str, **spec: Any) -> Manifest:
    return named(CLUSTER_PREFERENCE, name, **spec)


TYPES = [size("u1.small", 1, "2Gi"), size("u1.medium", 2, "4Gi"), size("u1.large", 2, "8Gi")]
CORES = preference("cores", cpu={"preferredCPUTopology": "cores"})
VIRTIO = preference(
    "virtio", devices={"preferredDiskBus": "virtio", "preferredRng": {}, "preferredInterfaceModel": "virtio"}
)
EFI = preference("efi", firmware={"preferredEfi": {"secureBoot": True}}, features={"preferredSmm": {}})
ALL = [CORES, VIRTIO, EFI]

DISKS = [{"name": "root", "disk": {"bus": "virtio"}}, {"name": "init", "cdrom": {"bus": "sata"}}]
VOLUMES = [
    {"name": "root", "persistentVolumeClaim": {"claimName": "root"}},
    {"name": "init", "cloudInitNoCloud": {"userData": "x"}},
]
FULL = {"cpu": {"sockets": 2, "cores": 1, "threads": 1}, "memory": {"guest": "4Gi"}}


def vm(metadata: Manifest | None = None, spec: Manifest | None = None, **domain: Any) -> Manifest:
    template = {"metadata": metadata or {}, "spec": {"domain": {"devices": {}, **FULL, **domain}, **(spec or {})}}
    return {
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "shop", "uid": "1", "generation": 7},
        "spec": {"runStrategy": "Always", "template": template},
    }


def adopted(
    machine: Manifest, preferences: list[Manifest] | None = None, types: Any = None, accept: Any = (), **more: Any
) -> Adoption:
    """more: of the cluster."""
    types, preferences = TYPES if types is None else types, ALL if preferences is None else preferences
    cluster = Cluster(Objects([*types, *preferences]), KubeVirt(**{"release": NEWEST, **more}))
    before = copy.deepcopy(machine)
    result = adopt.adopt(machine, types, preferences, cluster, accept)
    assert machine == before
    return result


def chosen(result: Adoption) -> Candidate:
    assert result.chosen is not None, result
    return result.chosen


def template(candidate: Candidate) -> Manifest:
    result: Manifest = candidate.vm["spec"]["template"]["spec"]
    return result


def test_instancetype_is_chosen_without_a_useful_preference() -> None:
    result = chosen(adopted(vm()))
    assert (result.instancetype, result.preference) == ({"kind": CLUSTER_TYPE, "name": "u1.medium"}, None)
    assert template(result) == {"domain": {"devices": {}}}
    assert list(result.removed) == [
        f"domain.{name}" for name in ("cpu.sockets", "cpu.cores", "cpu.threads", "memory.guest")
    ]
    assert result.differences == ()


def test_only_values_of_the_pair_are_removed() -> None:
    machine = vm(
        cpu={"sockets": 1, "cores": 2, "threads": 1, "model": "host-passthrough"},
        devices={"disks": DISKS, "rng": {}, "autoattachMemBalloon": False},
        machine={"type": "q35"},
        spec={"volumes": VOLUMES, "evictionStrategy": "None", "terminationGracePeriodSeconds": 0},
        metadata={"labels": {"app": "web"}, "annotations": {"note": "mine"}},
    )
    both = preference("both", **CORES["spec"], devices={"preferredDiskBus": "virtio", "preferredRng": {}})
    result = chosen(adopted(machine, [*ALL, both]))
    assert result.preference == {"kind": CLUSTER_PREFERENCE, "name": "both"}
    assert result.vm["spec"] == {
        "runStrategy": "Always",
        "instancetype": {"kind": CLUSTER_TYPE, "name": "u1.medium"},
        "preference": {"kind": CLUSTER_PREFERENCE, "name": "both"},
        "template": {
            "metadata": {"labels": {"app": "web"}, "annotations": {"note": "mine"}},
            "spec": {
                "domain": {
                    "cpu": {"model": "host-passthrough"},
                    "devices": {
                        "disks": [{"name": "root", "disk": {}}, DISKS[1]],
                        "autoattachMemBalloon": False,
                    },
                    "machine": {"type": "q35"},
                },
                "volumes": VOLUMES,
                "evictionStrategy": "None",
                "terminationGracePeriodSeconds": 0,
            },
        },
    }
    assert {"domain.devices.rng", "domain.devices.disks[0].disk.bus"} <= set(result.removed)


def test_the_preference_that_removes_most_is_chosen() -> None:
    machine = vm(devices={"disks": DISKS[:1], "rng": {}}, spec={"volumes": VOLUMES[:1]})
    bus = preference("a-bus", devices={"preferredDiskBus": "virtio"})
    assert (chosen(adopted(machine, [bus, VIRTIO])).preference or {})["name"] == "a-bus"
    # The interface that KubeVirt adds would get a model from the other one.
    named_model = vm(
        devices={
            **machine["spec"]["template"]["spec"]["domain"]["devices"],
            "interfaces": [{"name": "default", "masquerade": {}, "model": "virtio"}],
        },
        spec={"volumes": VOLUMES[:1], "networks": [{"name": "default", "pod": {}}]},
    )
    best = chosen(adopted(named_model, [bus, VIRTIO]))
    assert (best.preference or {})["name"] == "virtio"
    assert template(best)["domain"]["devices"]["interfaces"] == [{"name": "default", "masquerade": {}}]


@pytest.mark.parametrize(
    ("domain", "remaining"),
    [
        ({"cpu": {"sockets": 2}}, {}),
        ({"memory": {"guest": "4096Mi"}}, {}),
        ({"memory": {"guest": "4294967296"}}, {}),
        ({"memory": {}, "resources": {"requests": {"memory": "4Gi"}}}, {}),
        ({"resources": {"requests": {"memory": "4Gi"}}}, {}),
        ({"cpu": {"sockets": 2, "features": [{"name": "vmx"}]}}, {"cpu": {"features": [{"name": "vmx"}]}}),
    ],
)
def test_equivalent_spellings_are_adopted(domain: Manifest, remaining: Manifest) -> None:
    result = chosen(adopted(vm(**domain)))
    assert result.instancetype["name"] == "u1.medium"
    assert template(result)["domain"] == {"devices": {}, **remaining}


def test_memory_request_above_default_is_a_difference() -> None:
    machine = vm(resources={"requests": {"memory": "4Gi"}})
    cluster = Cluster(Objects(TYPES), KubeVirt(NEWEST, {"developerConfiguration": {"memoryOvercommit": 150}}))
    result = adopt.adopt(machine, TYPES, None, cluster)
    assert result.chosen is None
    assert [item["field"] for item in result.nearest[0].differences] == ["domain.resources.requests"]


def test_a_vm_without_cpu_has_one_vcpu() -> None:
    machine = vm(memory={"guest": "2Gi"})
    del machine["spec"]["template"]["spec"]["domain"]["cpu"]
    assert chosen(adopted(machine)).instancetype["name"] == "u1.small"


@pytest.mark.parametrize(
    ("domain", "fields"),
    [
        ({"resources": {"limits": {"memory": "4Gi"}}}, {"domain.resources.limits"}),
        ({"resources": {"requests": {"cpu": "1500m"}}}, {"domain.resources.requests"}),
        ({"resources": {"requests": {"memory": "3Gi"}}}, {"domain.resources.requests"}),
        ({"cpu": {"cores": 2}}, {"domain.cpu.cores", "domain.cpu.sockets"}),
        ({"cpu": {"sockets": 1, "cores": 1, "threads": 2}}, {"domain.cpu.sockets", "domain.cpu.threads"}),
    ],
)
def test_fields_that_no_instancetype_has_are_reported(domain: Manifest, fields: set[str]) -> None:
    result = adopted(vm(**domain), [])
    assert result.chosen is None
    nearest = result.nearest[0]
    assert (nearest.instancetype["name"], {item["field"] for item in nearest.differences}) == ("u1.medium", fields)


def test_missing_sockets_can_be_an_accepted_difference() -> None:
    """Without sockets no CPU can be plugged in; with an instancetype one can."""
    machine = vm(cpu={"cores": 2})
    result = adopted(machine)
    assert result.chosen is None
    assert (result.nearest[0].preference or {})["name"] == "cores"
    assert result.nearest[0].differences == ({"field": "domain.cpu.sockets", "before": None, "after": 1},)
    taken = chosen(adopted(machine, accept=["domain.cpu"]))
    assert ((taken.preference or {})["name"], taken.differences) == ("cores", result.nearest[0].differences)
    assert adopted(machine, accept=["domain.cp", "domain.cpu.sock"]).chosen is None


TURN = "set accept: [domain.cpu] to change the topology of its vCPUs"
KEEP = "spec.cpu.preferredCPUTopology: cores and accept: [domain.cpu.sockets] to keep it"


@pytest.mark.parametrize(
    ("machine", "options", "remedy"),
    [
        ({"cpu": {"cores": 2}}, {}, f"{TURN}, or use a preference with {KEEP}"),
        (
            {"cpu": {"cores": 2}},
            {"accept": ["annotations"]},
            "set accept: [annotations, domain.cpu] to change the topology of its vCPUs, or use a preference with"
            " spec.cpu.preferredCPUTopology: cores and accept: [annotations, domain.cpu.sockets] to keep it",
        ),
        ({"cpu": {"cores": 2}}, {"preferences": [CORES]}, "set accept: [domain.cpu.sockets]"),
        (
            {"cpu": {"sockets": 1, "cores": 1, "threads": 2}},
            {},
            f"{TURN}, or use a preference with spec.cpu.preferredCPUTopology: threads to keep it",
        ),
        ({"cpu": {"cores": 2}, "memory": {"guest": "6Gi"}}, {}, ""),
        ({"resources": {"limits": {"memory": "4Gi"}}}, {}, "set accept: [domain.resources.limits]"),
        (
            {"cpu": {"cores": 2}, "resources": {"limits": {"memory": "4Gi"}}},
            {},
            "set accept: [domain.cpu, domain.resources.limits] to change the topology of its vCPUs, or use a preference"
            " with spec.cpu.preferredCPUTopology: cores and accept: [domain.resources.limits, domain.cpu.sockets]"
            " to keep it",
        ),
    ],
)
def test_the_remedy_holds(machine: Manifest, options: dict[str, Any], remedy: str) -> None:
    options = {"preferences": [], **options}
    result = adopted(vm(**machine), **options)
    assert (result.chosen, result.remedy) == (None, remedy)
    for way in filter(None, remedy.partition(", or")):
        accept, topology = (re.search(words, way) for words in (r"accept: \[(.*?)\]", r"preferredCPUTopology: (\w+)"))
        if accept is None and topology is None:
            continue
        new = [preference("new", cpu={"preferredCPUTopology": topology[1]})] if topology else []
        tried = {
            **options,
            "preferences": [*options["preferences"], *new],
            "accept": accept[1].split(", ") if accept else (),
        }
        taken = chosen(adopted(vm(**machine), **tried))
        assert ("new" in str(taken.preference)) == bool(new)


def test_vm_with_preference_is_offered_no_other() -> None:
    machine = vm(cpu={"cores": 2})
    machine["spec"]["preference"] = {"name": "virtio", "kind": CLUSTER_PREFERENCE}
    assert adopted(machine).remedy == TURN


def test_annotations_count_but_for_the_names() -> None:
    noted = [size("noted", 2, "4Gi", annotations={"a.b/c": "1"})]
    assert adopted(vm(), types=noted).nearest[0].differences == (
        {"field": "annotations.a.b/c", "before": None, "after": "1"},
    )
    assert chosen(adopted(vm(), types=noted, accept=["annotations"])).differences
    for others, metadata in (({}, {}), ({"d": "2"}, {"annotations": {"d": "2"}})):
        own = chosen(adopted(vm(metadata={"annotations": {"a.b/c": "1", **others}}), types=noted))
        assert (own.vm["spec"]["template"]["metadata"], own.differences) == (metadata, ())


def test_devices_of_an_instancetype() -> None:
    gpu = {"name": "gpu0", "deviceName": "nvidia.com/A100"}
    types = [*TYPES, size("gpu", 2, "4Gi", gpus=[gpu])]
    assert chosen(adopted(vm(), types=types)).instancetype["name"] == "u1.medium"
    result = chosen(adopted(vm(devices={"gpus": [gpu]}), types=types))
    # Both are right; that of which more comes is better.
    assert (result.instancetype["name"], template(result)["domain"]) == ("gpu", {"devices": {}})


def test_a_vm_keeps_its_preference() -> None:
    machine = vm(cpu={"sockets": 1, "cores": 2, "threads": 1})
    machine["spec"]["preference"] = {"name": "cores"}
    result = chosen(adopted(machine))
    assert (result.preference, result.instancetype["name"]) == ({"name": "cores"}, "u1.medium")
    machine["spec"]["preference"] = {"name": "nowhere"}
    assert "nowhere" in str(adopted(machine).problem)


def test_a_pair_that_kubevirt_rejects_is_not_chosen() -> None:
    needy = preference("needy", requirements={"memory": {"guest": "8Gi"}}, devices={"preferredRng": {}})
    result = adopted(vm(devices={"rng": {}}), [needy])
    assert chosen(result).preference is None
    uneven = preference("uneven", cpu={"preferredCPUTopology": "spread", "spreadOptions": {"ratio": 4}})
    machine = vm()
    machine["spec"]["preference"] = {"name": "uneven"}
    refused = adopted(machine, [uneven])
    assert refused.chosen is None
    assert "not divisible" in str(refused.nearest[0].refusal)


def test_preferred_storage_class_is_a_difference() -> None:
    classy = preference("classy", volumes={"preferredStorageClassName": "fast"}, devices={"preferredRng": {}})
    machine = vm(devices={"rng": {}})
    source = {"metadata": {"name": "root"}, "spec": {"storage": {}, "source": {"blank": {}}}}
    assert (chosen(adopted(machine, [classy])).preference or {})["name"] == "classy"
    machine["spec"]["dataVolumeTemplates"] = [source]
    assert chosen(adopted(machine, [classy])).preference is None


def test_the_nearest_in_size_where_none_is_exact() -> None:
    result = adopted(vm(memory={"guest": "6Gi"}), [], [*TYPES, size("u1.xlarge", 4, "8Gi")])
    assert [item.instancetype["name"] for item in result.nearest] == ["u1.large", "u1.xlarge"]
    assert [item["field"] for item in result.nearest[0].differences] == ["domain.memory.guest"]
    assert result.within(Fraction(1, 2)) is result.nearest[0] and result.within(Fraction(1, 4)) is None
    empty = adopted(vm(), types=[])
    assert (empty.proposal, empty.within(Fraction(1)), empty.size_text) == (None, None, "2 vCPUs (2 sockets), 4Gi")


def test_a_smaller_instancetype_is_not_near() -> None:
    result = adopted(vm(cpu={"cores": 4}, memory={"guest": "16Gi"}), [])
    assert result.nearest == () and result.proposal is None
    assert result.problem == (
        "each instancetype makes the guest smaller or changes its class: u1.large, the nearest in size, has 2 vCPUs"
        " instead of 4 and 8Gi instead of 16Gi; create one with 4 vCPUs (4 cores), 16Gi"
    )


def test_an_unknown_size_has_no_instancetype() -> None:
    result = adopted(vm(memory={}))
    assert result.problem == "the VM states no memory, so its size is not known; set domain.memory.guest"


def test_windows_desktops_get_at_most_two_sockets() -> None:
    desktop = vm(metadata={"annotations": {"vm.kubevirt.io/os": "windows11"}}, cpu={"cores": 4})
    types = [size("u1.xlarge", 4, "4Gi")]
    result = adopted(desktop, [VIRTIO], types)
    assert result.nearest == () and (result.problem or "").endswith(
        "u1.xlarge, the nearest in size, has 2 vCPUs instead of 4; create one with 4 vCPUs (4 cores), 4Gi,"
        " and a preference with cores, since Windows uses 2 sockets at most"
    )
    # Even if the topology may change.
    assert adopted(desktop, [], types, accept=["domain.cpu"]).chosen is None
    server = preference("windows.2k22", devices={"preferredRng": {}})
    assert adopted(desktop, [server], types).nearest == ()
    assert (adopted(desktop, [CORES], types).nearest[0].preference or {})["name"] == "cores"
    (sockets,) = adopted(vm(cpu={"cores": 4}), [], types).nearest
    assert sockets.preference is None


PINNED = named(
    CLUSTER_TYPE,
    "n1.large",
    cpu={"guest": 4, "dedicatedCPUPlacement": True},
    memory={"guest": "6Gi", "hugepages": {"pageSize": "1Gi"}},
)


def test_nearest_instancetype_is_of_the_guests_class() -> None:
    small = vm(cpu={"sockets": 2}, memory={"guest": "3Gi"})
    near = adopted(small, [], [PINNED, *TYPES])
    assert [item.instancetype["name"] for item in near.nearest] == ["u1.medium", "u1.large"]
    pinned = vm(
        cpu={"sockets": 3, "dedicatedCpuPlacement": True}, memory={"guest": "6Gi", "hugepages": {"pageSize": "1Gi"}}
    )
    assert [item.instancetype["name"] for item in adopted(pinned, [], [PINNED]).nearest] == ["n1.large"]


def test_no_instancetype_of_another_class_is_proposed() -> None:
    small = vm(cpu={"sockets": 4}, memory={"guest": "5Gi"})
    result = adopted(small, [], [PINNED])
    assert result.nearest == () and result.proposal is None
    assert result.problem == (
        "each instancetype makes the guest smaller or changes its class: n1.large, the nearest in size, adds dedicated"
        " CPUs and huge pages of 1Gi; create one with 4 vCPUs (4 sockets), 5Gi"
    )
    own, other = ([{"name": "a", "deviceName": f"acme.com/{model}"}] for model in ("T4", "A10"))
    lost = adopted(vm(devices={"gpus": own}), [], [size("gpu", 2, "4Gi", gpus=other)])
    assert (lost.problem or "").endswith("create one with 2 vCPUs (2 sockets), 4Gi, GPUs (acme.com/T4)")
    accept = ["domain.cpu", "domain.memory"]
    accepted = adopted(small, [], [PINNED], accept=accept)
    assert [item.instancetype["name"] for item in accepted.nearest] == ["n1.large"]


def test_rejected_pairs_are_proposed_to_nobody() -> None:
    demanding = preference("demanding", requirements={"memory": {"guest": "64Gi"}})
    machine = vm(memory={"guest": "6Gi"})
    machine["spec"]["preference"] = {"kind": CLUSTER_PREFERENCE, "name": "demanding"}
    result = adopted(machine, [demanding])
    assert result.nearest and all(item.refusal for item in result.nearest) and result.proposal is None


def test_namespaced_instancetype_can_be_chosen() -> None:
    own = size("own", 2, "4Gi", kind="VirtualMachineInstancetype")
    assert chosen(adopted(vm(), types=[own])).instancetype == {"kind": "VirtualMachineInstancetype", "name": "own"}


def test_patch_tests_the_generation() -> None:
    machine = vm()
    result = chosen(adopted(machine))
    assert change.patch(machine, result.vm) == [
        {"op": "test", "path": "/metadata/generation", "value": 7},
        {"op": "add", "path": "/spec/instancetype", "value": result.instancetype},
        {"op": "replace", "path": "/spec/template", "value": result.vm["spec"]["template"]},
    ]


def test_accepted_differing_annotations_are_removed() -> None:
    noted = [size("noted", 2, "4Gi", annotations={"a.b/c": "theirs"})]
    machine = vm(metadata={"annotations": {"a.b/c": "mine", "d": "2"}})
    changed = {"field": "annotations.a.b/c", "before": "mine", "after": "theirs"}
    assert adopted(machine, types=noted).nearest[0].differences == (changed,)
    result = chosen(adopted(machine, types=noted, accept=["annotations.a"]))
    assert "annotations.a.b/c" in result.removed
    assert result.vm["spec"]["template"]["metadata"] == {"annotations": {"d": "2"}}


def test_manifests_violating_the_schema_are_not_chosen() -> None:
    broken = preference("broken", cpu="many")
    result = chosen(adopted(vm(devices={"rng": {}}), [broken, preference("rng", devices={"preferredRng": {}})]))
    assert result.preference == {"kind": CLUSTER_PREFERENCE, "name": "rng"}
    assert chosen(adopted(vm(), [broken])).preference is None


def test_pair_that_crashes_kubevirt_is_not_chosen() -> None:
    zero = preference(
        "zero", cpu={"preferredCPUTopology": "spread", "spreadOptions": {"ratio": 0}}, devices={"preferredRng": {}}
    )
    assert chosen(adopted(vm(devices={"rng": {}}), [zero])).preference is None
    machine = vm()
    machine["spec"]["preference"] = {"name": "zero"}
    refused = adopted(machine, [zero])
    assert (refused.chosen, refused.problem) == (None, None)
    assert refused.nearest[0].refusal == "a spread ratio of 0 divides by zero"
    assert (refused.nearest[0].removed, refused.nearest[0].differences) == ({}, ())


def test_vm_with_invalid_matchers_is_refused() -> None:
    machine = vm()
    # Stored by a release that let it pass.
    machine["spec"]["preference"] = {"name": "cores", "inferFromVolume": "root"}
    refused = adopted(machine)
    assert refused.chosen is None
    assert refused.nearest[0].refusal == "Name already set, should be cleared before setting inferFromVolume"


def test_cluster_settings_apply_to_both_sides() -> None:
    """A VM without networks gets the cluster's interface, before and after."""
    settings = {"network": {"defaultNetworkInterface": "masquerade"}, "machineType": "pc"}
    result = chosen(adopted(vm(), settings=settings))
    assert (result.instancetype["name"], result.differences) == ("u1.medium", ())
    refused = adopted(vm(), settings={"network": {"permitBridgeInterfaceOnPodNetwork": False}})
    assert refused.problem == "bridge interface is not enabled in kubevirt-config"


def test_data_volume_templates_must_stay_equal() -> None:
    machine = vm()
    machine["spec"]["dataVolumeTemplates"] = [{"metadata": {"name": "root"}, "spec": {"storage": {}}}]
    result = chosen(adopted(machine))
    assert result.vm["spec"]["dataVolumeTemplates"] == machine["spec"]["dataVolumeTemplates"]
    assert result.differences == ()


def test_all_spellings_of_guest_memory_are_equal() -> None:
    sized = {"cpu": {"guest": 2}, "memory": {"guest": "4Gi", "maxGuest": "8Gi"}}
    machine = vm(
        memory={"guest": "4294967296", "maxGuest": "8589934592"}, resources={"requests": {"memory": "4294967296"}}
    )
    result = chosen(adopted(machine, types=[named(CLUSTER_TYPE, "own", **sized)]))
    assert (result.instancetype["name"], result.differences) == ("own", ())
    # With a limit the request says something.
    limited = vm(resources={"requests": {"memory": "4Gi"}, "limits": {"memory": "8Gi"}})
    refused = adopted(limited)
    assert refused.chosen is None
    assert "domain.resources.limits" in {item["field"] for item in refused.nearest[0].differences}


def test_vm_with_missing_preference_has_no_pair() -> None:
    machine = vm()
    machine["spec"]["preference"] = {"kind": CLUSTER_PREFERENCE, "name": "gone"}
    result = 'virtualmachineclusterpreferences.instancetype.kubevirt.io "gone" not found'
    assert adopted(machine).problem == result


def declared_by(manager: str, operation: str, machine: Manifest) -> Manifest:
    """The VM with a manager that declares the memory of its guest, and an annotation."""
    domain = {"f:memory": {"f:guest": {}}}
    template = {"f:metadata": {"f:annotations": {"f:acme/tier": {}}}, "f:spec": {"f:domain": domain}}
    fields = {"f:spec": {"f:template": template}}
    entry = {"manager": manager, "operation": operation, "fieldsType": "FieldsV1", "fieldsV1": fields}
    return {**machine, "metadata": {**machine["metadata"], "managedFields": [entry]}}


def test_adoption_beside_other_writers_is_refused() -> None:
    candidate = chosen(adopted(vm(), []))
    annotated = candidate._replace(removed={**candidate.removed, "annotations.acme/tier": "gold"})
    assert ("spec", "template", "metadata", "annotations", "acme/tier") in change.fields_of(annotated)
    argo = declared_by("argocd-controller", "Apply", vm())
    refused, _warning = change.conflict(argo, annotated, "virtshape", False)
    assert refused is not None and refused.startswith("Argo CD declares ")
    assert refused.endswith("; put it there first, or set force_conflicts: true")
    failed, warning = change.conflict(argo, annotated, "virtshape", True)
    assert failed is None and warning is not None and refused.startswith(warning)


def test_adoption_of_fields_another_manager_applies() -> None:
    candidate = chosen(adopted(vm(), []))
    applied = declared_by("team", "Apply", vm())
    refused, warning = change.conflict(applied, candidate, "virtshape", False)
    assert warning is None and refused == (
        'another field manager declares fields that the instancetype replaces: "team" owns'
        " spec.template.spec.domain.memory.guest; its next apply is rejected until it declares results[].manifest;"
        " change it first, or set force_conflicts: true"
    )
    assert change.conflict(applied, candidate, "virtshape", True) == (None, None)
    assert change.conflict(vm(), candidate, "virtshape", False) == (None, None)
