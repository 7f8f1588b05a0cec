"""VirtualMachineInstancePresets and VMIs that they match, for the unit tests and for a running KubeVirt."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from ansible_collections.virtshape.instancetypes.plugins.module_utils._conversion import presets as rules
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import release_schema
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
PARTS = ("cpu", "clock", "features", "firmware", "ioThreadsPolicy")


class Case(NamedTuple):
    """presets: name → domain.

    domain, annotations: fields of the VMI. changes: what presets give to its domain. applied: names of the presets of
    which KubeVirt says so. refused: KubeVirt creates no VMI.
    """

    presets: dict[str, dict[str, Any]]
    domain: Mapping[str, Any] = NOTHING
    annotations: Mapping[str, str] = NOTHING
    changes: Mapping[str, Any] = NOTHING
    applied: tuple[str, ...] = ()
    refused: bool = False

    def manifests(self, namespace: str, label: str) -> list[dict[str, Any]]:
        return [
            {
                "apiVersion": "kubevirt.io/v1",
                "kind": rules.KIND,
                "metadata": {"name": name, "namespace": namespace},
                "spec": {"selector": {"matchLabels": {"case": label}}, "domain": {"devices": {}, **domain}},
            }
            for name, domain in self.presets.items()
        ]

    def answer(self, label: str) -> rules.PresetResult:
        metadata = {"labels": {"case": label}, "annotations": self.annotations}
        domain = release_schema.canonical("DomainSpec", {"devices": {}, **self.domain}, NEWEST)
        return rules.apply(metadata, domain, self.manifests("", label))


def requests(**amounts: str) -> dict[str, Any]:
    return {"resources": {"requests": amounts}}


GIB = requests(memory="1Gi")
CPU = {"cpu": {"cores": 2}}
WATCHDOG = {"name": "dog", "i6300esb": {"action": "reset"}}
UUID = "5d307ca9-b3ef-428c-8861-06e72d69f223"
NO_HPET = {"hpet": {"present": False}}
CASES = {
    "all at once": Case(
        {"a": {**CPU, **GIB, "ioThreadsPolicy": "shared"}}, {}, {}, {**CPU, **GIB, "ioThreadsPolicy": "shared"}, ("a",)
    ),
    "two that add": Case({"a": CPU, "b": GIB}, {}, {}, {**CPU, **GIB}, ("a", "b")),
    "two that conflict": Case({"a": CPU, "b": {"cpu": {"cores": 4}}}, GIB, refused=True),
    "conflict beside the VMI": Case({"a": CPU, "b": {"cpu": {"cores": 4}}}, {**GIB, "cpu": {"cores": 8}}, refused=True),
    "another text of an amount": Case({"a": requests(memory="1024Mi"), "b": GIB}, refused=True),
    "a text that is not kept": Case(
        {"a": requests(memory="8192Mi"), "b": requests(memory="8Gi")}, {}, {}, requests(memory="8Gi"), ("a", "b")
    ),
    "another power": Case({"a": requests(cpu="1000m"), "b": requests(cpu="1")}, GIB, refused=True),
    "requests as a whole": Case({"a": requests(memory="1Gi", cpu="1")}, requests(memory="2Gi")),
    "the same amount": Case({"a": requests(memory="2048Mi")}, requests(memory="2Gi"), {}, {}, ("a",)),
    "the VMI has it": Case({"a": CPU}, {**GIB, "cpu": {"cores": 8}}),
    "in part": Case(
        {"a": {**CPU, "ioThreadsPolicy": "auto"}}, {**GIB, "cpu": {"cores": 8}}, {}, {"ioThreadsPolicy": "auto"}, ("a",)
    ),
    "excluded": Case({"a": CPU}, GIB, {rules.EXCLUDE: "true"}),
    "excluded with another word": Case({"a": CPU}, GIB, {rules.EXCLUDE: "True"}, CPU, ("a",)),
    "clock": Case(
        {"a": {"clock": {"utc": {}, "timer": NO_HPET}}}, GIB, {}, {"clock": {"utc": {}, "timer": NO_HPET}}, ("a",)
    ),
    "timer beside another clock": Case(
        {"a": {"clock": {"utc": {}, "timer": NO_HPET}}},
        {**GIB, "clock": {"timezone": "Europe/Berlin"}},
        {},
        {"clock": {"timezone": "Europe/Berlin", "timer": NO_HPET}},
        ("a",),
    ),
    "two clocks": Case({"a": {"clock": {"utc": {}}}, "b": {"clock": {"timezone": "UTC"}}}, GIB, refused=True),
    "two timers": Case(
        {"a": {"clock": {"utc": {}, "timer": NO_HPET}}, "b": {"clock": {"utc": {}, "timer": {"hpet": {}}}}},
        GIB,
        refused=True,
    ),
    "devices and firmware": Case(
        {
            "a": {
                "firmware": {"uuid": UUID},
                "features": {"acpi": {"enabled": False}},
                "devices": {"watchdog": WATCHDOG},
            }
        },
        GIB,
        {},
        {"firmware": {"uuid": UUID}, "features": {"acpi": {"enabled": False}}, "devices": {"watchdog": WATCHDOG}},
        ("a",),
    ),
    "fields without effect": Case(
        {
            "a": {
                "memory": {"guest": "4Gi"},
                "machine": {"type": "pc"},
                "devices": {"rng": {}},
                "resources": {"limits": {"cpu": "4"}},
            }
        },
        GIB,
    ),
}
