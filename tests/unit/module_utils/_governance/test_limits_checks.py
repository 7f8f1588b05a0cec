"""The verdict of a limit on VMs, VMIs and instancetypes of a namespace; test_random_limits.py asks the API server."""

from typing import Any

import pytest

from plugins.module_utils._governance.checks import violations
from plugins.module_utils._governance.language import Limit

Manifest = dict[str, Any]
UID = "0f9d6f5e-3c55-4d1e-9f53-5f2f0c1f7a11"
STANDARD = Limit("standard", instancetypes=["u1.small"], own_instancetypes=False)
OWN = "VirtualMachineInstancetype"


def vm(domain: Manifest | None = None, **spec: Any) -> Manifest:
    template = {"spec": {"domain": {"devices": {}, **(domain or {})}}}
    return {"kind": "VirtualMachine", "metadata": {"name": "web"}, "spec": {"template": template, **spec}}


def violation_texts(limit: Limit, manifest: Manifest, before: Manifest | None = None) -> list[str]:
    return [item.line for item in violations([limit], manifest, before, "shop", {})]


def instancetype(**matcher: str) -> Manifest:
    return vm(instancetype=matcher)


@pytest.mark.parametrize(
    ("matcher", "permitted"),
    [
        ({"name": "u1.small"}, True),
        ({"name": "u1.small", "kind": "virtualmachineclusterinstancetypes"}, True),
        ({"name": "u1.small", "kind": OWN}, False),
        ({"name": "u1.large"}, False),
        ({"inferFromVolume": "root"}, False),
    ],
)
def test_instancetypes(matcher: Manifest, permitted: bool) -> None:
    assert (not violation_texts(STANDARD, instancetype(**matcher))) is permitted


def test_messages_name_the_permitted_objects() -> None:
    assert violation_texts(STANDARD, instancetype(name="u1.large")) == [
        "spec.instancetype.name: u1.large is not permitted here; choose from u1.small (limit standard)"
    ]
    many = Limit("many", preferences=[f"p{number:02}" for number in range(23)])
    [text] = violation_texts(many, vm(preference={"name": "x"}))
    assert text.endswith(" p18, p19 and 3 more (limit many)")


def test_instancetypes_of_the_namespace_may_be_permitted() -> None:
    limit = STANDARD._replace(own_instancetypes=True)
    assert not violation_texts(limit, instancetype(name="big", kind=OWN))
    assert "u1.small, or an instancetype of the namespace (limit" in violation_texts(limit, instancetype(name="big"))[0]


def test_unchanged_values_stay_permitted() -> None:
    limit = STANDARD._replace(max_cpu=2, gpus=False, require=["instancetype", "preference"])
    old = vm({"cpu": {"cores": 8}, "devices": {"gpus": [{"name": "a"}]}})
    assert not violation_texts(limit, old, old)
    assert violation_texts(limit, vm({"cpu": {"cores": 9}}), old) == [
        "spec.template.spec.domain.cpu: 1 x 9 x 1 (sockets x cores x threads) are more than 2 vCPUs (limit standard)"
    ]
    assert not violation_texts(
        STANDARD, instancetype(name="x", kind="VirtualMachineClusterInstancetype"), instancetype(name="x")
    )
    assert violation_texts(STANDARD, instancetype(name="x", kind=OWN), instancetype(name="x"))


def test_required_matchers_must_be_set() -> None:
    limit = Limit("whole", require=["instancetype", "preference"])
    assert violation_texts(limit, vm()) == [
        "spec.instancetype: missing; write the name of one in a VirtualMachine (limit whole)",
        "spec.preference: missing; write the name of one in a VirtualMachine (limit whole)",
    ]
    both = vm(instancetype={"name": "a"}, preference={"name": "b"})
    assert not violation_texts(limit, both)
    assert len(violation_texts(limit, vm(), both)) == 2
    vmi = {"kind": "VirtualMachineInstance", "metadata": {"name": "web"}, "spec": {"domain": {}}}
    assert len(violation_texts(limit, vmi)) == 2
    assert not violation_texts(limit, {"kind": OWN, "metadata": {"name": "own"}, "spec": {}})


@pytest.mark.parametrize(
    ("domain", "fields"),
    [
        ({"cpu": {"sockets": 2, "cores": 1, "threads": 1}}, ""),
        ({"cpu": {"sockets": 2, "cores": 2}}, "cpu"),
        # KubeVirt gives every VMI such maxima; only a change of the VM, which is judged, reaches them.
        ({"cpu": {"sockets": 1, "maxSockets": 4}, "memory": {"guest": "1Gi", "maxGuest": "4Gi"}}, ""),
        ({"cpu": {"sockets": 2**32 - 1, "cores": 2**32 - 1, "threads": 2**32 - 1}}, "cpu"),
        ({"memory": {"guest": "2Gi"}}, ""),
        ({"memory": {"guest": "2049Mi"}}, "memory.guest"),
        ({"resources": {"requests": {"cpu": 3, "memory": "3G"}}}, "resources.requests.cpu resources.requests.memory"),
        ({"resources": {"limits": {"cpu": "2001m"}}}, "resources.limits.cpu"),
        ({"memory": {"guest": "much"}}, ""),
    ],
)
def test_own_size_of_a_vm_is_limited(domain: Manifest, fields: str) -> None:
    result = violation_texts(Limit("small", max_cpu=2, max_memory="2Gi"), vm(domain))
    assert [text.partition(": ")[0].removeprefix("spec.template.spec.domain.") for text in result] == fields.split()


def test_devices() -> None:
    limit = Limit("plain", gpus=False, host_devices=False)
    devices = {"gpus": [{"name": "a"}], "hostDevices": [{"name": "b"}]}
    assert violation_texts(limit, vm({"devices": devices})) == [
        "spec.template.spec.domain.devices.gpus: GPUs are not permitted here; remove them (limit plain)",
        "spec.template.spec.domain.devices.hostDevices: host devices are not permitted here; remove them (limit plain)",
    ]
    vmi = {"kind": "VirtualMachineInstance", "metadata": {"name": "a"}, "spec": {"domain": {"devices": devices}}}
    assert violation_texts(limit, vmi)[0].startswith("spec.domain.devices.gpus: ")


def test_instancetypes_of_a_namespace_by_their_size() -> None:
    limit = Limit("small", max_cpu=2, max_memory="2Gi", gpus=False)
    spec = {"cpu": {"guest": 4}, "memory": {"guest": "4Gi"}, "gpus": [{"name": "a"}]}
    large = {"kind": OWN, "metadata": {"name": "large"}, "spec": spec}
    assert violation_texts(limit, large) == [
        "spec.cpu.guest: 4 is more than 2 vCPUs (limit small)",
        "spec.memory.guest: 4Gi is more than 2Gi (limit small)",
        "spec.gpus: GPUs are not permitted here; remove them (limit small)",
    ]
    assert not violation_texts(limit, large, large)


@pytest.mark.parametrize(
    ("revision", "permitted"),
    [
        (f"web-u1.small-v1beta1-{UID}-1", True),
        # Releases before 1.5 name it so.
        (f"web-u1.small-{UID}-1", True),
        (f"web-u1.8xlarge-v1beta1-{UID}-1", False),
        # The revision is one of the VM `web-u1.small`, of another object.
        (f"web-u1.small-u1.8xlarge-v1beta1-{UID}-1", False),
        (f"db-u1.small-v1beta1-{UID}-1", False),
        (f"web-u1.small-v1beta1-{UID}-1\n", False),
    ],
)
def test_only_revisions_of_same_object_are_pinnable(revision: str, permitted: bool) -> None:
    pinned = instancetype(name="u1.small", revisionName=revision)
    assert (not violation_texts(STANDARD, pinned)) is permitted
    assert not violation_texts(STANDARD, pinned, pinned)


def test_other_namespaces_are_not_judged() -> None:
    assert not violation_texts(STANDARD._replace(namespaces=["office"]), instancetype(name="u1.large"))
