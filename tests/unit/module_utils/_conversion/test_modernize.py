"""Old manifests become modern ones, which give the same VMI."""

import base64
import copy
import itertools
import json
from typing import Any

import pytest

from plugins.module_utils._conversion import modernize as resolver
from plugins.module_utils._conversion.modernize import modernize
from plugins.module_utils._resolver.api.errors import FieldError, KubeVirtError
from plugins.module_utils._resolver.api.matcher import INSTANCETYPE, PREFERENCE
from plugins.module_utils._resolver.api.release import NEWEST, parse_release
from plugins.module_utils._resolver.kubevirt.instancetype import applier, decode

Manifest = dict[str, Any]

V1BETA1 = "instancetype.kubevirt.io/v1beta1"
SMALL = {"cpu": {"guest": 4}, "memory": {"guest": "1Gi"}}


def obj(kind: str, spec: Manifest, api_version: str = V1BETA1) -> Manifest:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, "spec": spec}


def preference(spec: Manifest, api_version: str = V1BETA1) -> Manifest:
    return obj("VirtualMachinePreference", spec, api_version)


def vm(**spec: Any) -> Manifest:
    template = {"spec": {"domain": {"devices": {}}}}
    return {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "spec": {"template": template, **spec}}


def changed(result: resolver.Modernization) -> dict[str, tuple[Any, str, Any]]:
    return {change.path: (change.before, change.new_path, change.after) for change in result.changes}


@pytest.mark.parametrize(
    "manifest",
    [
        obj("VirtualMachineInstancetype", SMALL),
        preference({"cpu": {"preferredCPUTopology": "cores"}, "firmware": {"preferredEfi": {}}}),
        preference({"cpu": {"preferredCPUTopology": "bogus"}}),
        vm(runStrategy="Always"),
        {"apiVersion": "v1", "kind": "ConfigMap", "data": {"running": "true"}},
        {"apiVersion": "example.org/v1", "kind": "VirtualMachineInstancetype", "spec": 5},
        {},
    ],
)
def test_modern_manifests_and_others_stay(manifest: Manifest) -> None:
    assert modernize(manifest) == resolver.Modernization(manifest, NEWEST)


@pytest.mark.parametrize(
    ("kind", "modern"),
    [
        ("VirtualMachineFlavor", "VirtualMachineInstancetype"),
        ("VirtualMachineClusterFlavor", "VirtualMachineClusterInstancetype"),
    ],
)
def test_flavors_become_instancetypes(kind: str, modern: str) -> None:
    old = obj(kind, {**SMALL, "gpus": [{"name": "g", "deviceName": "x/y"}]}, "flavor.kubevirt.io/v1alpha1")
    before = copy.deepcopy(old)

    result = modernize(old)

    assert old == before
    assert result.manifest == {**before, "apiVersion": V1BETA1, "kind": modern}
    assert changed(result) == {
        "kind": (kind, "kind", modern),
        "apiVersion": ("flavor.kubevirt.io/v1alpha1", "apiVersion", V1BETA1),
    }
    assert result.remaining == []


@pytest.mark.parametrize("api_version", ["flavor.kubevirt.io/v1alpha1", "instancetype.kubevirt.io/v1alpha1"])
def test_preferences_of_both_groups(api_version: str) -> None:
    old = preference({"cpu": {"preferredCPUTopology": "preferThreads"}}, api_version)

    assert modernize(old).manifest == preference({"cpu": {"preferredCPUTopology": "threads"}})


@pytest.mark.parametrize(
    ("flavor", "instancetype"),
    [
        ({"name": "a"}, {"name": "a"}),
        ({"name": "a", "kind": "VirtualMachineFlavor"}, {"name": "a", "kind": "VirtualMachineInstancetype"}),
        ({"name": "a", "kind": "virtualmachineflavors"}, {"name": "a", "kind": "VirtualMachineInstancetype"}),
        (
            {"name": "a", "kind": "VirtualMachineClusterFlavor", "revisionName": "r"},
            {"name": "a", "kind": "VirtualMachineClusterInstancetype", "revisionName": "r"},
        ),
    ],
)
def test_a_vm_that_names_a_flavor(flavor: Manifest, instancetype: Manifest) -> None:
    result = modernize(vm(flavor=flavor, preference={"name": "p"}))

    assert result.manifest == vm(instancetype=instancetype, preference={"name": "p"})
    assert changed(result) == {"spec.flavor": (flavor, "spec.instancetype", instancetype)}


@pytest.mark.parametrize(("running", "strategy"), [(True, "Always"), (False, "Halted")])
def test_running_becomes_a_run_strategy(running: bool, strategy: str) -> None:
    result = modernize(vm(running=running))

    assert result.manifest == vm(runStrategy=strategy)
    assert changed(result) == {"spec.running": (running, "spec.runStrategy", strategy)}


def test_null_fields_are_removed() -> None:
    old = vm(running=None, flavor=None, runStrategy="Manual")

    assert modernize(old).manifest == vm(runStrategy="Manual")


def test_the_old_api_version_of_vms() -> None:
    assert modernize({**vm(), "apiVersion": "kubevirt.io/v1alpha3"}).manifest == vm()


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (vm(flavor={"name": "a"}, instancetype={"name": "b"}), "spec.flavor: is set together with spec.instancetype"),
        (vm(flavor={"name": "a", "profile": "p"}), "spec.flavor.profile: has no counterpart today"),
        (vm(flavor={"name": "a", "kind": "Pod"}), "spec.flavor.kind: 'Pod' is not a kind of flavor"),
        (vm(flavor="a"), "spec.flavor: expected an object"),
        (vm(running=True, runStrategy="Always"), "spec.running: is set together with spec.runStrategy"),
        (vm(running="yes"), "spec.running: expected true or false"),
        (
            {**obj("VirtualMachineFlavor", {}, "flavor.kubevirt.io/v1alpha1"), "profiles": []},
            "profiles: have no counterpart today",
        ),
        (obj("VirtualMachineFlavor", {"cpu": {"cores": 2}}, "flavor.kubevirt.io/v1alpha1"), "spec.cpu.cores: has no"),
        (
            obj("VirtualMachineFlavor", {"cpu": {"guest": 2}}, "flavor.kubevirt.io/v1alpha1"),
            "spec.memory.guest: is required",
        ),
        (preference({}, "instancetype.kubevirt.io/v1alpha9"), "apiVersion: 'instancetype.kubevirt.io/v1alpha9' is no"),
        (preference({"firmware": []}), "spec.firmware: expected an object"),
    ],
)
def test_fields_without_a_counterpart_are_errors(manifest: Manifest, message: str) -> None:
    with pytest.raises(FieldError) as caught:
        modernize(manifest)

    assert str(caught.value).startswith(message)


def test_launch_security_of_an_instancetype_remains() -> None:
    old = obj("VirtualMachineInstancetype", {**SMALL, "launchSecurity": {"sev": {}}})

    assert modernize(old).manifest == old
    assert [remaining.path for remaining in modernize(old).remaining] == ["spec.launchSecurity"]


@pytest.mark.parametrize(
    ("firmware", "modern", "remaining"),
    [
        ({"preferredUseEfi": True}, {"preferredEfi": {}}, False),
        ({"preferredUseEfi": False}, {}, False),
        ({"preferredUseEfi": None, "preferredUseSecureBoot": None}, {}, False),
        (
            {"preferredUseEfi": True, "preferredUseSecureBoot": False},
            {"preferredEfi": {"secureBoot": False}},
            False,
        ),
        (
            {"preferredUseEfi": True, "preferredEfi": {"persistent": True}, "preferredUseSecureBoot": True},
            {"preferredEfi": {"persistent": True}},
            False,
        ),
        ({"preferredUseSecureBoot": True}, {"preferredUseSecureBoot": True}, True),
        ({"preferredUseBios": True, "preferredUseEfi": True}, {"preferredUseBios": True, "preferredEfi": {}}, False),
    ],
)
def test_firmware_fields_are_modernized(firmware: Manifest, modern: Manifest, remaining: bool) -> None:
    result = modernize(preference({"firmware": firmware}))

    assert result.manifest["spec"]["firmware"] == modern
    assert bool(result.remaining) is remaining


BOOTLOADERS: list[Manifest | None] = [
    None,
    {},
    {"bios": {}},
    {"efi": {"secureBoot": True}},
    {"efi": {"secureBoot": False}},
]
CHOICES = (None, True, False)


def applied(template: Manifest, instancetype: Manifest | None, desired: Manifest | None) -> Any:
    """The template, or the error and the conflicts."""
    try:
        return applier.apply(template, instancetype, desired)
    except KubeVirtError as error:
        return error.message, list(getattr(error, "conflicts", ()))


@pytest.mark.parametrize("bootloader", BOOTLOADERS)
def test_modern_firmware_boots_the_same(bootloader: Manifest | None) -> None:
    domain: Manifest = {"devices": {}}
    if bootloader is not None:
        domain["firmware"] = {"bootloader": bootloader}
    template = {"spec": {"domain": domain}}
    for bios, efi, secure, new in itertools.product(CHOICES, CHOICES, CHOICES, (None, {}, {"secureBoot": True})):
        firmware = {
            "preferredUseBios": bios,
            "preferredUseEfi": efi,
            "preferredUseSecureBoot": secure,
            "preferredEfi": new,
        }
        old = {"firmware": {name: value for name, value in firmware.items() if value is not None}}
        modern = modernize(preference(old)).manifest["spec"]
        assert applied(template, SMALL, modern) == applied(template, SMALL, old), old
        assert "preferredUseEfi" not in modern["firmware"]


@pytest.mark.parametrize("name", ["preferSockets", "preferCores", "preferThreads", "preferSpread", "preferAny", None])
@pytest.mark.parametrize("ratio", [None, 0, 1, 4])
@pytest.mark.parametrize("options", [None, {}, {"ratio": 2}, {"across": "SocketsCoresThreads"}, {"ratio": 0}])
def test_modern_topology_gives_the_same_cpus(name: str | None, ratio: int | None, options: Manifest | None) -> None:
    spec: Manifest = {}
    if name is not None or options is not None:
        spec["cpu"] = {"preferredCPUTopology": name, "spreadOptions": options}
    if ratio is not None:
        spec["preferSpreadSocketToCoreRatio"] = ratio

    modern = modernize(preference(spec)).manifest["spec"]

    template = {"spec": {"domain": {"devices": {}}}}
    for vcpus in (1, 2, 8, 9):
        sized = {**SMALL, "cpu": {"guest": vcpus}}
        assert applied(template, sized, modern) == applied(template, sized, spec)
    assert "preferSpreadSocketToCoreRatio" not in modern
    assert not str((modern.get("cpu") or {}).get("preferredCPUTopology") or "").startswith("prefer")


OLD_INSTANCETYPES: list[Manifest] = [
    SMALL,
    {**SMALL, "cpu": {"guest": 2, "model": "", "dedicatedCPUPlacement": False, "isolateEmulatorThread": False}},
    {**SMALL, "cpu": {"guest": 2, "model": "Skylake", "dedicatedCPUPlacement": True}},
    # Fields that came later.
    {
        "cpu": {"guest": 2, "maxSockets": 8},
        "memory": {"guest": "1Gi", "overcommitPercent": 50},
        "nodeSelector": {"a": "b"},
    },
]


@pytest.mark.parametrize("api_version", ["instancetype.kubevirt.io/v1alpha1", "instancetype.kubevirt.io/v1alpha2"])
@pytest.mark.parametrize("spec", OLD_INSTANCETYPES)
def test_old_instancetypes_give_the_same_vmi(spec: Manifest, api_version: str) -> None:
    """The VMI that KubeVirt 1.6 makes of the old object is the reference; KubeVirt 1.6 only conflicts with more."""
    old = obj("VirtualMachineInstancetype", spec, api_version)
    read = decode.spec({"data": old}, INSTANCETYPE, parse_release("1.6"))

    modern = modernize(old).manifest

    assert modern["apiVersion"] == V1BETA1
    template = {"spec": {"domain": {"devices": {}}}}
    assert applied(template, modern["spec"], None) == applied(template, read, None)


def test_values_that_meant_not_set_do_not_conflict() -> None:
    old = obj("VirtualMachineInstancetype", OLD_INSTANCETYPES[1], "instancetype.kubevirt.io/v1alpha2")
    template = {"spec": {"domain": {"cpu": {"model": "Skylake", "dedicatedCpuPlacement": True}, "devices": {}}}}

    result = modernize(old)

    assert changed(result)["spec.cpu.model"] == ("", "", None)
    assert isinstance(applied(template, result.manifest["spec"], None), dict)


@pytest.mark.parametrize(
    "spec",
    [
        {"cpu": {"preferredCPUTopology": ""}, "machine": {"preferredMachineType": "q35"}},
        {"cpu": {"preferredCPUTopology": "preferCores"}, "devices": {"preferredDiskBus": "virtio"}},
        {"firmware": {"preferredUseEfi": True, "preferredUseSecureBoot": True}, "requirements": {"cpu": {"guest": 64}}},
        {"preferredSubdomain": "later", "annotations": {"a": "b"}, "devices": {"preferredInterfaceMasquerade": {}}},
        {"volumes": {"preferredStorageClassName": "fast"}},
    ],
)
@pytest.mark.parametrize("api_version", ["instancetype.kubevirt.io/v1alpha1", "instancetype.kubevirt.io/v1alpha2"])
def test_old_preferences_give_the_same_vmi(spec: Manifest, api_version: str) -> None:
    old = preference(spec, api_version)
    read = decode.spec({"data": old}, PREFERENCE, parse_release("1.6"))
    template = {
        "spec": {
            "domain": {"devices": {"disks": [{"name": "a"}], "interfaces": [{"name": "n"}]}},
            "networks": [{"name": "n", "pod": {}}],
        }
    }

    modern = modernize(old).manifest["spec"]

    assert applied(template, SMALL, modern) == applied(template, SMALL, read)
    assert modern.get("volumes") == (read or {}).get("volumes")


def test_modernizing_is_idempotent() -> None:
    old = preference(
        {
            "cpu": {"preferredCPUTopology": "preferSpread"},
            "preferSpreadSocketToCoreRatio": 3,
            "firmware": {"preferredUseEfi": True, "preferredUseSecureBoot": True},
        },
        "instancetype.kubevirt.io/v1alpha2",
    )
    once = modernize(old)

    assert modernize(once.manifest) == resolver.Modernization(once.manifest, NEWEST, [], once.remaining)


def test_bare_captured_specs_are_read_through_1_6() -> None:
    """A revision of the first form, which names neither kind nor version of its object."""
    spec = base64.b64encode(json.dumps(SMALL).encode()).decode()
    revision = {"data": {"apiVersion": "instancetype.kubevirt.io/v1alpha1", "spec": spec}}

    for version in ("1.4", "1.6"):
        assert decode.spec(revision, INSTANCETYPE, parse_release(version)) == {
            "cpu": {"guest": 4, "model": "", "dedicatedCPUPlacement": False, "isolateEmulatorThread": False},
            "memory": {"guest": "1Gi"},
        }
    with pytest.raises(KubeVirtError):
        decode.spec(revision, INSTANCETYPE, parse_release("1.7"))


def test_vm_without_spec_gets_only_new_api_version() -> None:
    old = {"apiVersion": "kubevirt.io/v1alpha3", "kind": "VirtualMachine", "metadata": {"name": "x"}}
    assert modernize(old).manifest == {**old, "apiVersion": "kubevirt.io/v1"}
