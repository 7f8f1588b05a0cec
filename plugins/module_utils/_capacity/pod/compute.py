"""The compute container, of the guest: CPU, memory, devices and resource claims (``newResourceRenderer``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..._resolver.api.label_selector import matches
from ..._resolver.api.quantity import Quantity, add, from_nanos, parse
from ..._resolver.kubevirt.admission.launcher_pod import DEVICES, own_devices
from ..._resolver.kubevirt.vm.defaults import guest_request
from ..._resolver.kubevirt.vm.vmi import Spec, has_sev, has_snp, has_tdx, is_dedicated, pool_threads, vcpus
from . import behaviour
from .amounts import HUGE_PAGES, ONE, ZERO, Amounts, Container, add_to, units, vmi_resources
from .environment import Environment, Unrenderable

_GATES: Final = (("gpus", "GPU", "GPUsWithDRA"), ("hostDevices", "HostDevice", "HostDevicesWithDRA"))


def device_resources(namespace: str, spec: Spec, env: Environment) -> Iterator[str]:
    """The resource name of each further device, once for each request; for requests and limits.

    Raises Unrenderable if networks are known, but not this network.
    """
    yield from _networks(namespace, spec, env)
    for _kind, _gate, device in _host_devices(spec):
        name = device.get("deviceName", "")
        if not _has_claim(device) and (name or env.release.has(behaviour.NAMELESS_DEVICES)):
            yield name
    if has_sev(spec) or (has_snp(spec) and env.release.has(behaviour.SEV_DEVICE_OF_SNP)):
        yield f"{DEVICES}sev"
    if has_tdx(spec) and env.release.has(behaviour.HAS_TDX_DEVICE):
        yield f"{DEVICES}tdx"
    if any((disk.get("lun") or {}).get("reservation") for disk in spec["domain"]["devices"].get("disks", ())):
        yield f"{DEVICES}pr-helper"
    if env.kubevirt.has_gate("IOMMUFD"):
        yield f"{DEVICES}iommufd"


def _networks(namespace: str, spec: Spec, env: Environment) -> Iterator[str]:
    if env.networks is None or env.kubevirt.has_gate("ExternalNetResourceInjection"):
        return
    attachments = {network["name"]: network["multus"] for network in spec.get("networks", ()) if "multus" in network}
    for multus in attachments.values():
        name = multus["networkName"]
        qualified = name if "/" in name else f"{namespace}/{name}"
        resource = env.networks.get(qualified, env.networks.get(qualified.removeprefix(f"{namespace}/")))
        if resource is None:
            raise Unrenderable(f"failed to locate network attachment definition {qualified}")
        if resource:
            yield resource


def _host_devices(spec: Spec) -> Iterator[tuple[str, str, Spec]]:
    """The devices of its node that the guest gets: (kind, gate for claims, device)."""
    for field, kind, gate in _GATES:
        for device in spec["domain"]["devices"].get(field, ()):
            yield kind, gate, device


def _has_claim(device: Spec) -> bool:
    return "claimName" in device or "requestName" in device


def claims(spec: Spec, env: Environment) -> list[dict[str, str]]:
    """The claims of the compute container: [{name, request}]."""
    requests = [
        _claim(device)
        for _kind, gate, device in _host_devices(spec)
        if env.kubevirt.has_gate(gate) and _has_claim(device) and not device.get("deviceName")
    ]
    if env.kubevirt.has_gate("NetworkDevicesWithDRA"):
        networks = spec.get("networks", ())
        requests += [_claim(network["resourceClaim"]) for network in networks if "resourceClaim" in network]
    if env.release.has(behaviour.CLAIMS_NEED_REQUEST):
        requests = [claim for claim in requests if claim["name"] and "request" in claim]
    if env.release.has(behaviour.CLAIMS_ONCE):
        requests = list({claim["name"]: claim for claim in reversed(requests)}.values())[::-1]
    return requests


def _claim(reference: Spec) -> dict[str, str]:
    request = reference.get("requestName")
    return {"name": reference.get("claimName", ""), **({"request": request} if request else {})}


EVEN_PARITY: Final = "alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity"


def dedicated(metadata: Spec, spec: Spec, requests: Amounts, limits: Amounts, env: Environment) -> None:
    """Sets the CPU of a guest with dedicated CPUs, and also makes memory a limit.

    requests, limits: the VM's own, which are changed.
    """
    threads = pool_threads(spec) if env.release.has(behaviour.POOL_NEEDS_CPU) else 0
    count = vcpus(spec["domain"]["cpu"])
    if count and env.release.has(behaviour.DEDICATED_WINS):
        requests["cpu"] = limits["cpu"] = units(count + threads)
    elif count:
        limits.setdefault("cpu", units(count))
    else:
        for amounts in (requests, limits):
            if "cpu" in amounts:
                add_to(amounts, "cpu", units(threads))
    if spec["domain"]["cpu"].get("isolateEmulatorThread"):
        _isolate(metadata, spec, requests, limits, env)
    if "memory" in requests:
        limits["memory"] = requests["memory"]


def _isolate(metadata: Spec, spec: Spec, requests: Amounts, limits: Amounts, env: Environment) -> None:
    """Adds a CPU for the emulator, or two if the VM requests an even number."""
    limit = (
        limits.get("cpu", ZERO) if env.release.has(behaviour.DEDICATED_WINS) else units(vcpus(spec["domain"]["cpu"]))
    )
    # KubeVirt counts the threads of the pool twice here.
    pool = spec["domain"].get("ioThreadsPolicy") == "supplementalPool" and env.release.has(behaviour.POOL_NEEDS_CPU)
    vcpu_count = limit.value + (pool_threads(spec) if pool else 0)
    even = EVEN_PARITY in (metadata.get("annotations") or {}) and vcpu_count % 2 == 0
    extra = units(2 if even else 1)
    limits["cpu"] = add(limit, extra)
    if "cpu" in requests:
        requests["cpu"] = add(requests["cpu"], extra)


def shared_cpu_resources(spec: Spec, env: Environment) -> tuple[Amounts, Amounts]:
    """Requests and limits of a guest with shared CPUs, unless the VM sets them."""
    count = vcpus(spec["domain"].get("cpu")) + (pool_threads(spec) if env.release.has(behaviour.POOL_NEEDS_CPU) else 0)
    if not count:
        return {}, {}
    share = count / (env.kubevirt.developer_configuration.get("cpuAllocationRatio") or 10)
    request = parse(f"{share!r}" if share >= 1 else f"{share * 1000!r}m")
    selector = env.configuration.get("autoCPULimitNamespaceLabelSelector")
    selected = selector is not None and matches(selector, env.namespace_labels)
    return {"cpu": request}, {"cpu": units(count)} if selected or _quota_limits("cpu", env) else {}


def _quota_limits(name: str, env: Environment) -> bool:
    """Whether a ResourceQuota of the namespace requires an automatic limit."""
    return env.kubevirt.has_gate("AutoResourceLimitsGate") and any(f"limits.{name}" in hard for hard in env.quotas)


_RATIO_LABEL: Final = "alpha.kubevirt.io/auto-memory-limits-ratio"
_LIMIT_RATIO: Final = 2.0


def request(spec: Spec, requests: Amounts, limits: Amounts, env: Environment) -> None:
    """Sets the memory request if the VM leaves it out: to its limit, else to the memory of the guest.

    requests: the VM's own, which are changed.
    """
    if requests.get("memory", ZERO).nanos:
        return
    if limits.get("memory", ZERO).nanos:
        requests["memory"] = limits["memory"]
    elif "memory" not in requests and (guest := guest_request(spec, env.kubevirt)) is not None:
        requests["memory"] = guest


def _add_overhead(spec: Spec, requests: Amounts, limits: Amounts, overhead: Quantity) -> Amounts:
    """Adds the overhead to the memory that is not in huge pages, unless the VM overcommits it.

    Returns the huge pages, which are for requests and limits.
    """
    memory = spec["domain"].get("memory") or {}
    requested, pages = requests.get("memory", ZERO), {}
    if "hugepages" in memory:
        guest = parse(memory["guest"]) if "guest" in memory else None
        paged = guest if guest is not None and requested.value > guest.value else requested
        pages = {f"{HUGE_PAGES}{memory['hugepages'].get('pageSize', '')}": paged}
        requested = _excess(requested, guest)
        if "memory" in limits:
            limits["memory"] = _excess(limits["memory"], guest)
    overcommitted = not pages and spec["domain"]["resources"].get("overcommitGuestOverhead")
    requests["memory"] = requested if overcommitted else add(requested, overhead)
    if "memory" in limits:
        limits["memory"] = add(limits["memory"], overhead)
    return pages


def _excess(amount: Quantity, guest: Quantity | None) -> Quantity:
    if guest is None or amount.value <= guest.value:
        return ZERO
    return from_nanos(amount.nanos - guest.nanos, amount.format)


def automatic_limit(requests: Amounts, env: Environment) -> Quantity:
    """The limit in a namespace whose quota has one: twice the request, or by the ratio in the namespace's label."""
    try:
        ratio = float(env.namespace_labels.get(_RATIO_LABEL, ""))
    except ValueError:
        ratio = _LIMIT_RATIO
    requested = requests["memory"]
    # With this comparison a label of `nan` behaves as in KubeVirt: not less than 1.
    limit = int(float(requested.value) * (_LIMIT_RATIO if ratio < 1.0 else ratio))
    return Quantity.from_integer(limit, requested.format)


# The ephemeral storage that KubeVirt requests for the container's own files.
_OWN_STORAGE: Final = parse("50M")


def compute(metadata: dict[str, Any], spec: Spec, env: Environment, overhead: Quantity) -> Container:
    """The compute container of a VMI. Raises Unrenderable."""
    # The VM's own values override calculated ones.
    requests, limits = vmi_resources(spec, "requests"), vmi_resources(spec, "limits")
    add_to(requests, "ephemeral-storage", _OWN_STORAGE)
    if "ephemeral-storage" in limits:
        add_to(limits, "ephemeral-storage", _OWN_STORAGE)
    limits.update(dict.fromkeys(own_devices(spec, env.kubevirt), ONE))
    request(spec, requests, limits, env)
    more_requests: Amounts = {}
    more_limits: Amounts = {}
    if is_dedicated(spec):
        dedicated(metadata, spec, requests, limits, env)
    else:
        more_requests, more_limits = shared_cpu_resources(spec, env)
    pages = _add_overhead(spec, requests, limits, overhead)
    more_requests.update(pages)
    more_limits.update(pages)
    if _quota_limits("memory", env):
        more_limits["memory"] = automatic_limit(requests, env)
    for name in device_resources(metadata.get("namespace", ""), spec, env):
        add_to(more_requests, name, ONE)
        add_to(more_limits, name, ONE)
    return Container("compute", {**more_requests, **requests}, {**more_limits, **limits}, tuple(claims(spec, env)))
