"""Checks of a VM beside those of instance types, as far as they meet what instancetypes and preferences give.

KubeVirt has many more, of fields that have nothing to do with instance types; they are not imitated. Messages are
KubeVirt's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from _resolver.api import quantity
from _resolver.api.fields.enums import ENUMS
from _resolver.instancetype.webhooks.admission import INVALID, NOT_SUPPORTED, Cause
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration

Spec = dict[str, Any]

RUN_STRATEGIES = ("Halted", "Manual", "Always", "RerunOnFailure", "Once", "WaitAsReceiver")
_TEMPLATE = "spec.template.spec"


def causes(vm: Spec, configuration: KubeVirtConfiguration) -> list[Cause]:
    """What is wrong with a VM's canonical spec, whose template has instancetype, preference and defaults applied."""
    spec = vm["template"]["spec"]
    domain, devices = spec["domain"], spec["domain"]["devices"]
    return [
        *_hugepages(domain, configuration.behaviour.page_size_field),
        *_sockets(domain, configuration.live_updates),
        *_io_threads(domain, configuration.behaviour.io_threads_policies),
        *_interfaces(devices),
        *_disks(devices),
        *_host_devices(devices, configuration.feature_gates()),
        *_run_strategy(vm),
    ]


def warnings(vm: Spec) -> list[str]:
    """What the user is told of a VM that is taken."""
    deprecated = "spec.running is deprecated, please use spec.runStrategy instead."
    return [deprecated] if vm.get("running") is not None else []


def _hugepages(domain: Spec, page_size_field: str) -> Iterator[Cause]:
    memory = domain.get("memory") or {}
    page = (memory.get("hugepages") or {}).get("pageSize")
    if not page:
        return
    field = f"{_TEMPLATE}.domain.{page_size_field}"
    try:
        size = quantity.parse(page).value
    except quantity.QuantityError as error:
        yield Cause(INVALID, f"{field} '{error}'", field)
        return
    requested = (domain["resources"].get("requests") or {}).get("memory", "0")
    amount = quantity.parse(memory.get("guest", requested)).value
    requests = f"{_TEMPLATE}.domain.resources.requests.memory"
    if amount < size:
        message = f"{requests} '{requested}' must be equal to or larger than page size {field} '{page}'"
        yield Cause(INVALID, message, requests)
    elif size and amount % size:
        yield Cause(INVALID, f"{requests} '{requested}' is not a multiple of the page size {field} '{page}'", requests)


def _sockets(domain: Spec, live_updates: bool) -> Iterator[Cause]:
    cpu = domain.get("cpu") or {}
    most = cpu.get("maxSockets", 0)
    if most and cpu.get("sockets", 0) > most:
        message = "Number of sockets in CPU topology is greater than the maximum sockets allowed"
        cause = Cause(INVALID, message, f"{_TEMPLATE}.domain.cpu.sockets")
        # KubeVirt looks at it with the CPU and again with what can be changed live.
        yield from (cause, cause) if live_updates else (cause,)


def _io_threads(domain: Spec, policies: tuple[str, ...]) -> Iterator[Cause]:
    policy = domain.get("ioThreadsPolicy")
    if policy is not None and policy not in policies:
        yield Cause(INVALID, f"Invalid IOThreadsPolicy ({policy})", f"{_TEMPLATE}.domain.ioThreadsPolicy")
    elif policy == "supplementalPool" and (domain.get("ioThreads") or {}).get("supplementalPoolThreadCount", 0) <= 0:
        message = "the number of iothreads needs to be set and positive for the dedicated policy"
        yield Cause(INVALID, message, f"{_TEMPLATE}.domain.ioThreads.count")


def _interfaces(devices: Spec) -> Iterator[Cause]:
    for index, interface in enumerate(devices.get("interfaces", ())):
        model = interface.get("model")
        if model and model not in ENUMS["InterfaceModel"]:
            path = f"{_TEMPLATE}.domain.devices.interfaces[{index}]"
            message = f"interface {path}.name uses model {model} that is not supported."
            yield Cause(NOT_SUPPORTED, message, f"{path}.model")


def _disks(devices: Spec) -> Iterator[Cause]:
    for index, disk in enumerate(devices.get("disks", ())):
        path = f"{_TEMPLATE}.domain.devices.disks[{index}]"
        for kind in ("disk", "lun", "cdrom"):
            bus = (disk.get(kind) or {}).get("bus")
            if bus and bus not in ENUMS["DiskBus"]:
                buses = " ".join(ENUMS["DiskBus"])
                message = f"{path} is set with an unrecognized bus {bus}, must be one of: [{buses}]"
                yield Cause(INVALID, message, f"{path}.{kind}.bus")


def _host_devices(devices: Spec, feature_gates: list[str]) -> Iterator[Cause]:
    if devices.get("hostDevices") and "HostDevices" not in feature_gates:
        message = "Host Devices feature gate is not enabled in kubevirt-config"
        yield Cause(INVALID, message, f"{_TEMPLATE}.HostDevices")


def _run_strategy(spec: Spec) -> Iterator[Cause]:
    strategy, running = spec.get("runStrategy"), spec.get("running")
    if strategy is not None and running is not None:
        message = "Running and RunStrategy are mutually exclusive."
        hint = "Note that Running is deprecated, please use RunStrategy instead"
        yield Cause(INVALID, f"{message} {hint}", "spec.running")
    elif strategy is None and running is None:
        yield Cause(INVALID, "RunStrategy must be specified", "spec.running")
    elif strategy is not None and strategy not in RUN_STRATEGIES:
        yield Cause(INVALID, f"Invalid RunStrategy ({strategy})", "spec.runStrategy")
