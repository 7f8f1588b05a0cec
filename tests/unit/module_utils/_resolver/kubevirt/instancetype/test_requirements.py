"""Requirements of preferences, beyond what the vectors show."""

from kubevirt_failures import failure

from plugins.module_utils._resolver.kubevirt.instancetype import requirements


def test_vcpus_overflow_at_32_bits() -> None:
    preference = {"cpu": {"preferredCPUTopology": "any"}, "requirements": {"cpu": {"guest": 1}}}
    cpu = {"cores": 2**16, "sockets": 2**16, "threads": 1}
    error = failure(requirements.check, None, preference, {"domain": {"cpu": cpu}})
    assert error.message.startswith("insufficient CPU resources of 0 vCPU")
    requirements.check(None, preference, {"domain": {"cpu": {**cpu, "sockets": 2**16 + 1}}})


def test_unknown_topology_is_not_checked() -> None:
    preference = {"cpu": {"preferredCPUTopology": "dice"}, "requirements": {"cpu": {"guest": 4}}}
    requirements.check(None, preference, {"domain": {"cpu": {"cores": 2, "sockets": 1}}})
