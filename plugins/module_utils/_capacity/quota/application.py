"""The quotas of AAQ (v1.8), for one namespace and for several, and what its calculators count for a VM's pod.

A pod that exceeds such a quota is created and waits. Containers need no requests or limits. For a quota of several
namespaces, only the controller that releases pods considers scopes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from ..._resolver.api.label_selector import matches
from ..._resolver.api.manifest import annotations_of, labels_of, name_of, namespace_of
from ..._resolver.api.quantity import Quantity, from_nanos, parse
from ..._resolver.api.release import parse_release
from ..._resolver.api.tree import copy
from ..._resolver.kubevirt.vm.vmi import Spec, vcpus
from ..pod.amounts import ONE, ZERO, Amounts, units, vmi_resources
from ..pod.environment import Environment
from ..pod.overhead import overhead
from .budget import PODS, Quota, QuotaItem, name_for_quotas, read_limits_and_usage, scopes_of, used_amounts

DEFAULT: Final = "DedicatedVirtualResources"
# This calculator counts like ResourceQuotas, including migrations.
_PLAIN: Final = "IgnoreVmiCalculator"
_CALCULATORS: Final = ("VmiPodUsage", "VirtualResources", DEFAULT, "GuestEffectiveResources", _PLAIN)
_GATED: Final = {"matchExpressions": [{"key": "application-aware-quota/enable-gating", "operator": "Exists"}]}
# AAQ contains a copy of the overhead formula of this KubeVirt release.
_FORMULA: Final = parse_release("1.7")


def application_quota(manifest: Mapping[str, Any]) -> Quota:
    """Reads an ApplicationAwareResourceQuota. Raises QuantityError."""
    hard, used = read_limits_and_usage(manifest)
    return Quota("ApplicationAwareResourceQuota", name_of(manifest), hard, used, (), _measure, False)


def cluster_quota(manifest: Mapping[str, Any]) -> Quota:
    """Reads an ApplicationAwareClusterResourceQuota, or its copy in a namespace. Raises QuantityError."""
    spec = (manifest.get("spec") or {}).get("quota") or {}
    hard, used = read_limits_and_usage({"spec": spec, "status": (manifest.get("status") or {}).get("total")})
    kind = "ApplicationAwareClusterResourceQuota"

    def measure(item: QuotaItem) -> Amounts:
        return _measure(item) if item.resource == PODS else {}

    return Quota(kind, name_of(manifest), hard, used, scopes_of(spec), measure, False)


def allows_cluster_quotas(aaq: Mapping[str, Any] | None) -> bool:
    """Whether the cluster's AAQ object (None if unknown) enables quotas of several namespaces."""
    return aaq is None or _configuration(aaq).get("allowApplicationAwareClusterResourceQuota") is True


def selects(manifest: Mapping[str, Any], namespace: str, namespace_object: Mapping[str, Any] | None) -> bool:
    """Whether a quota of several namespaces applies to a namespace.

    namespace_object: the Namespace; without it, the namespaces in AAQ's status count. A copy in a
    namespace applies to that one.
    """
    if namespace_of(manifest):
        return namespace_of(manifest) == namespace
    if namespace_object is None:
        bound = (manifest.get("status") or {}).get("namespaces") or ()
        return any(item.get("namespace") == namespace for item in bound)
    selector = (manifest.get("spec") or {}).get("selector") or {}
    labels, annotations = selector.get("labels"), annotations_of(namespace_object)
    if labels is not None and not matches(labels, labels_of(namespace_object)):
        return False
    return all(annotations.get(key) == value for key, value in (selector.get("annotations") or {}).items())


def calculator_of(aaq: Mapping[str, Any] | None) -> str:
    """The calculator of the cluster's AAQ object; an unknown one counts as the default."""
    name = (_configuration(aaq or {}).get("vmiCalculatorConfiguration") or {}).get("configName")
    return name if name in _CALCULATORS else DEFAULT


def _configuration(aaq: Mapping[str, Any]) -> Mapping[str, Any]:
    return (aaq.get("spec") or {}).get("configuration") or {}


def watches(aaq: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Whether AAQ manages a namespace with these labels."""
    selector = ((aaq or {}).get("spec") or {}).get("namespaceSelector")
    return matches(selector if selector is not None else _GATED, labels)


def measured(
    calculator: str, spec: Spec, item: QuotaItem, environment: Environment, status: Mapping[str, Any] | None = None
) -> Amounts:
    """The amounts that AAQ counts for a VMI's pod. spec: the spec of the stored VMI. status: the status of a
    VMI that runs.
    """
    if calculator == "GuestEffectiveResources":
        return _effective(spec, item, environment)
    if calculator in ("VmiPodUsage", _PLAIN):
        return used_amounts(item)
    memory, cpu = _size(spec, status or {})
    if calculator == "VirtualResources":
        sizes = {"memory": memory, "cpu": cpu}
        return {f"count/{PODS}": ONE, PODS: ONE, **name_for_quotas(sizes, sizes)}
    dedicated = {"instances": ONE, "cpu": cpu, "memory": memory}
    return {f"{start}{name}/vmi": amount for name, amount in dedicated.items() for start in ("", "requests.")}


def migration_delta(
    calculator: str, spec: Spec, item: QuotaItem, environment: Environment, guest: Mapping[str, Any]
) -> Amounts:
    """The amounts that AAQ counts for a migration: the target's minus the guest's. guest: the VMI, {} if unknown."""
    if calculator == _PLAIN:
        return used_amounts(item)
    if calculator not in ("VirtualResources", DEFAULT) or not guest:
        return {}
    after = measured(calculator, spec, item, environment)
    before = measured(calculator, guest.get("spec") or {}, item, environment, guest.get("status") or {})
    return {name: _without(amount, before[name]) for name, amount in after.items()}


def _measure(item: QuotaItem) -> Amounts:
    return used_amounts(item) if item.application is None else dict(item.application)


def _size(spec: Spec, status: Mapping[str, Any]) -> tuple[Quantity, Quantity]:
    """The memory and CPUs of a guest; values in its status come first."""
    requested = {**vmi_resources(spec, "limits"), **vmi_resources(spec, "requests")}
    guest = (status.get("memory") or {}).get("guestRequested") or (spec["domain"].get("memory") or {}).get("guest")
    memory = parse(str(guest)) if guest is not None else requested.get("memory", ZERO)
    topology = status.get("currentCPUTopology") or spec["domain"].get("cpu")
    cpu = units(vcpus(topology)) if topology is not None else requested.get("cpu", ZERO)
    return memory, cpu


def _effective(spec: Spec, item: QuotaItem, environment: Environment) -> Amounts:
    """The compute container without the memory overhead, which AAQ computes itself."""
    compute = item._replace(containers=tuple(entry for entry in item.containers if entry.name == "compute"))
    stripped = copy(dict(spec))
    (stripped["domain"].get("memory") or {}).pop("reservedOverhead", None)
    for interface in stripped["domain"].get("devices", {}).get("interfaces") or ():
        interface.pop("passtBinding", None)
    # AAQ uses the architecture on which it runs.
    stripped.pop("architecture", None)
    extra = overhead(stripped, environment._replace(kubevirt=replace(environment.kubevirt, release=_FORMULA)))
    amounts = used_amounts(compute)
    for name in ("requests.memory", "limits.memory"):
        if name in amounts:
            amounts[name] = _without(amounts[name], extra)
    return amounts


def _without(amount: Quantity, part: Quantity) -> Quantity:
    return from_nanos(max(0, amount.nanos - part.nanos), amount.format)
