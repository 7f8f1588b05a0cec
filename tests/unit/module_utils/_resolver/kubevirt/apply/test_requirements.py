"""Requirements of preferences, beyond what the vectors show."""

from plugins.module_utils._resolver.kubevirt.apply import requirements


def test_vcpus_overflow_at_32_bits() -> None:
    preference = {"cpu": {"preferredCPUTopology": "any"}, "requirements": {"cpu": {"guest": 1}}}
    for sockets, message in ((2**16, "insufficient CPU resources of 0 vCPU"), (2**16 + 1, "")):
        spec = {"domain": {"cpu": {"cores": 2**16, "sockets": sockets, "threads": 1}}}
        unmet = requirements.unmet(None, preference, spec)
        assert (unmet.message if unmet is not None else "").startswith(message)
        assert (unmet is None) == (message == "")


def test_unknown_topology_is_not_checked() -> None:
    preference = {"cpu": {"preferredCPUTopology": "dice"}, "requirements": {"cpu": {"guest": 4}}}
    assert requirements.unmet(None, preference, {"domain": {"cpu": {"cores": 2, "sockets": 1}}}) is None
