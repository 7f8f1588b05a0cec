"""choose.guest_class: what guests demand of nodes, and how two guests differ in that."""

from typing import Any

import pytest

from plugins.module_utils._resolver.choose import guest_class

Manifest = dict[str, Any]

GPU = {"name": "a", "deviceName": "nvidia.com/T4"}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"domain": {"cpu": {"dedicatedCpuPlacement": True}}}, "dedicated CPUs"),
        ({"domain": {"cpu": {"numa": {"guestMappingPassthrough": {}}}}}, "NUMA passthrough"),
        ({"domain": {"cpu": {"model": "Haswell"}}}, "the CPU model Haswell"),
        ({"domain": {"cpu": {"features": [{"name": "vmx"}, {"name": "aes"}]}}}, "CPU features (aes, vmx)"),
        ({"domain": {"memory": {"hugepages": {"pageSize": "1Gi"}}}}, "huge pages of 1Gi"),
        ({"domain": {"devices": {"gpus": [GPU]}}}, "GPUs (nvidia.com/T4)"),
        ({"domain": {"launchSecurity": {"sev": {}}}}, "launch security (sev)"),
        ({"nodeSelector": {"zone": "a", "arch": "x"}}, "the node selector arch=x, zone=a"),
        ({"schedulerName": "mine"}, "the scheduler mine"),
    ],
)
def test_demands_are_named_in_words(spec: Manifest, words: str) -> None:
    assert list(guest_class.of(spec).values()) == [words]


def test_ordinary_guests_have_no_demands() -> None:
    cpu = {"dedicatedCpuPlacement": False, "features": [], "model": "host-model", "sockets": 2}
    assert guest_class.of({"nodeSelector": {}, "domain": {"cpu": cpu, "devices": {}}}) == {}


def test_gap_names_what_is_lost_and_added() -> None:
    pinned = {"dedicatedCpuPlacement": True, "isolateEmulatorThread": True}
    before = guest_class.of({"domain": {"devices": {"gpus": [GPU]}}})
    after = guest_class.of({"domain": {"cpu": pinned}})
    words = "loses GPUs (nvidia.com/T4) and adds dedicated CPUs and an isolated emulator thread"
    assert guest_class.gap(before, after, lambda _path: False) == words
    assert guest_class.gap(before, before, lambda _path: False) == ""
    accepted = guest_class.gap(before, after, lambda path: path.startswith("domain.cpu"))
    assert accepted == "loses GPUs (nvidia.com/T4)"
