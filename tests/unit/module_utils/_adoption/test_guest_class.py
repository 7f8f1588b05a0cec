"""choose.guest_class: what guests demand of nodes, and how two guests differ in that."""

from plugins.module_utils._adoption import guest_class

GPU = {"name": "a", "deviceName": "nvidia.com/T4"}


def test_ordinary_guests_have_no_demands() -> None:
    cpu = {"dedicatedCpuPlacement": False, "features": [], "model": "host-model", "sockets": 2}
    assert guest_class.demands_of({"nodeSelector": {}, "domain": {"cpu": cpu, "devices": {}}}) == {}


def test_gap_names_what_is_lost_and_added() -> None:
    pinned = {"dedicatedCpuPlacement": True, "isolateEmulatorThread": True}
    before = guest_class.demands_of({"domain": {"devices": {"gpus": [GPU]}}})
    after = guest_class.demands_of({"domain": {"cpu": pinned}})
    words = "loses GPUs (nvidia.com/T4) and adds dedicated CPUs and an isolated emulator thread"
    assert guest_class.class_difference(before, after, lambda _path: False) == words
    assert guest_class.class_difference(before, before, lambda _path: False) == ""
    accepted = guest_class.class_difference(before, after, lambda path: path.startswith("domain.cpu"))
    assert accepted == "loses GPUs (nvidia.com/T4)"
