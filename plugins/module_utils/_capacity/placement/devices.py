"""Claims of dynamic resource allocation, and the devices of nodes for them (``DynamicResources`` of kube-scheduler).

An allocated claim is bound to the nodes of its devices. Each request of another claim needs free devices of its own,
which match the selectors of its class and its own selectors. The answer is "unknown" for selectors that only CEL can
evaluate, constraints between devices, alternatives, and devices with features that are off by default.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..._resolver.api.manifest import name_of, namespaced_name
from .objects import Demand, DeviceRequest, Node, selects

Manifest = Mapping[str, Any]

# A claim has no more devices.
_MAX_DEVICES: Final = 32


class DeviceObjects:
    """The DeviceClasses, ResourceSlices, ResourceClaims and ResourceClaimTemplates of a cluster."""

    def __init__(
        self,
        classes: Iterable[Manifest] = (),
        slices: Iterable[Manifest] = (),
        claims: Iterable[Manifest] = (),
        templates: Iterable[Manifest] = (),
    ) -> None:
        self.classes = {name_of(device_class): device_class for device_class in classes}
        self.slices = list(slices)
        self.claims = {namespaced_name(claim): claim for claim in claims}
        self.templates = {namespaced_name(template): template for template in templates}


def demand(claims: Sequence[Manifest], namespace: str, objects: DeviceObjects | None) -> Demand | None:
    """The devices that a pod needs. claims: its `spec.resourceClaims`; None for none. objects: None if not known."""
    if not claims:
        return None
    if objects is None:
        return Demand(doubt="the devices of the cluster are not known")
    return _merged([_claim_demand(claim, namespace, objects) for claim in claims])


def _merged(demands: Sequence[Demand]) -> Demand:
    return Demand(
        tuple(request for demand in demands for request in demand.requests),
        tuple(selector for demand in demands for selector in demand.node_selectors),
        next(filter(None, (demand.missing for demand in demands)), ""),
        next(filter(None, (demand.doubt for demand in demands)), ""),
    )


def _claim_demand(claim: Manifest, namespace: str, objects: DeviceObjects) -> Demand:
    name = claim.get("resourceClaimName")
    if name:
        live = objects.claims.get((namespace, name))
        if live is None or live["metadata"].get("deletionTimestamp"):
            return Demand(missing=f"its ResourceClaim {name} does not exist")
        allocation = (live.get("status") or {}).get("allocation")
        if allocation is not None:
            selector = allocation.get("nodeSelector")
            return Demand(node_selectors=(selector,) if selector else ())
        return _spec_demand(live.get("spec") or {}, f"ResourceClaim {name}", objects)
    name = claim.get("resourceClaimTemplateName") or ""
    template = objects.templates.get((namespace, name))
    if template is None:
        return Demand(missing=f"its ResourceClaimTemplate {name} does not exist")
    return _spec_demand((template.get("spec") or {}).get("spec") or {}, f"ResourceClaimTemplate {name}", objects)


def _spec_demand(spec: Manifest, title: str, objects: DeviceObjects) -> Demand:
    devices = spec.get("devices") or {}
    doubt = f"{title} has constraints between devices" if devices.get("constraints") else ""
    demands = [_request_demand(request, title, objects) for request in devices.get("requests") or ()]
    merged = _merged([Demand(doubt=doubt), *demands])
    if len(merged.requests) > _MAX_DEVICES:
        return Demand(missing=f"its {title} requests more than {_MAX_DEVICES} devices")
    return merged


def _request_demand(request: Manifest, title: str, objects: DeviceObjects) -> Demand:
    # Until v1beta1 what is requested stood beside the name.
    exactly = request.get("exactly") or (request if "deviceClassName" in request else {})
    alternatives = [subrequest.get("deviceClassName") for subrequest in request.get("firstAvailable") or ()]
    for name in (*alternatives, *([exactly["deviceClassName"]] if exactly.get("deviceClassName") else ())):
        if name not in objects.classes:
            return Demand(missing=f"its {title} names the DeviceClass {name}, which does not exist")
    if alternatives or not exactly.get("deviceClassName"):
        return Demand(doubt=f"{title} has alternatives")
    special = [name for name in ("adminAccess", "capacity") if exactly.get(name)]
    if special or (exactly.get("allocationMode") or "ExactCount") != "ExactCount":
        return Demand(doubt=f"{title} requests devices by {special[0] if special else 'another mode than ExactCount'}")
    class_selectors = (objects.classes[exactly["deviceClassName"]].get("spec") or {}).get("selectors") or ()
    selectors = [*class_selectors, *(exactly.get("selectors") or ())]
    expressions = tuple(str((selector.get("cel") or {}).get("expression", "")) for selector in selectors)
    return Demand((expressions,) * min(exactly.get("count", 1) or 1, _MAX_DEVICES + 1))


_TEXT: Final = r"\"[^\"\\\n]*\"|'[^'\\\n]*'"
_DRIVER: Final = re.compile(rf"device\s*\.\s*driver\s*==\s*({_TEXT})")
_ATTRIBUTE: Final = re.compile(
    rf"device\s*\.\s*attributes\s*\[\s*({_TEXT})\s*\]\s*\.\s*([A-Za-z_]\w*)\s*==\s*({_TEXT}|true|false|-?\d+)"
)
_KINDS: Final = {"string": str, "bool": bool, "int": int}


def matches_selectors(selectors: Iterable[str], driver: str, attributes: Mapping[str, Any]) -> bool | None:
    """Whether a device fits all selectors; None if that is not known.

    attributes: its attributes in the form of a ResourceSlice.

    The first selector that does not hold decides, in the order of Kubernetes; within one, a term that is false does.
    """
    for selector in selectors:
        matches = {_term(term.strip(), driver, attributes) for term in selector.split("&&")}
        if matches != {True}:
            return False if False in matches else None
    return True


def _term(term: str, driver: str, attributes: Mapping[str, Any]) -> bool | None:
    driver_match = _DRIVER.fullmatch(term)
    if driver_match:
        return bool(driver_match[1][1:-1] == driver)
    attribute_match = _ATTRIBUTE.fullmatch(term)
    if attribute_match is None:
        return None
    domain, name, text = attribute_match[1][1:-1], attribute_match[2], attribute_match[3]
    expected: str | bool | int = text[1:-1] if text[0] in "\"'" else text == "true"
    if text[-1].isdigit():
        expected = int(text)
    attribute = attributes.get(f"{domain}/{name}")
    if attribute is None and domain == driver:
        attribute = attributes.get(name)
    if not attribute:
        # CEL fails, and with it the search for devices.
        return None
    kind, value = next(iter(attribute.items()))
    # CEL compares values of one type; versions are no texts.
    if kind not in _KINDS or type(value) is not type(expected):
        return None
    return bool(value == expected)


# Driver, pool and name.
Identity = tuple[str, str, str]

_PER_DEVICE: Final = "perDeviceNodeSelection"
_GATED: Final = ("consumesCounters", "bindingConditions", "taints", "allowMultipleAllocations")


class Device(NamedTuple):
    """A device of a ResourceSlice. location: the fields that say which nodes reach it. doubtful: it may not be usable.
    conflicting: the pool has two devices of one name, which stops a search that comes to it."""

    identity: Identity
    attributes: Mapping[str, Any]
    location: Manifest
    doubtful: bool
    conflicting: bool


def allocated_devices(claims: Iterable[Manifest], deleted: frozenset[tuple[str, str]] = frozenset()) -> set[Identity]:
    """The devices that claims have. deleted: namespace and name of deleted pods, whose own claims go, too."""
    devices = set()
    for claim in claims:
        metadata, allocation = claim["metadata"], (claim.get("status") or {}).get("allocation") or {}
        owners = {
            (metadata.get("namespace", ""), owner.get("name", "")) for owner in metadata.get("ownerReferences") or ()
        }
        if not owners & deleted:
            for result in (allocation.get("devices") or {}).get("results") or ():
                if not result.get("adminAccess"):
                    devices.add((result.get("driver", ""), result.get("pool", ""), result.get("device", "")))
    return devices


class Allocator:
    """The devices of ResourceSlices by node. taken: the devices in use; it changes as pods are placed."""

    def __init__(self, slices: Sequence[Manifest], used: set[Identity]) -> None:
        self._slices, self.taken = slices, used
        self._by_node: dict[str, list[Device]] = {}
        # Results of `fits` by node, until devices are taken that the node reaches.
        self._cached_fits: dict[str, dict[tuple[tuple[DeviceRequest, ...], str], bool | None]] = {}
        self._cached_matches: dict[tuple[DeviceRequest, Identity], bool | None] = {}

    def fits(self, node: Node, demand: Demand) -> bool | None:
        """Whether a node has devices for a pod; None if that is not known."""
        if demand.missing or not all(selects(selector, node) for selector in demand.node_selectors):
            return False
        cached = self._cached_fits.setdefault(node.name, {})
        key = demand.requests, demand.doubt
        if key not in cached:
            if self.chosen(node, demand, False) is not None:
                cached[key] = None if demand.doubt or self._may_fail(node, demand) else True
            else:
                cached[key] = None if self.chosen(node, demand, True) is not None else False
        return cached[key]

    def allocate(self, node: Node, demand: Demand) -> None:
        """Takes devices of a node that a pod fits on."""
        chosen = set(self.chosen(node, demand, False) or ())
        self.taken |= chosen
        if all(device.location.get("nodeName") for device in self._devices(node) if device.identity in chosen):
            self._cached_fits.pop(node.name, None)
        else:
            self._cached_fits.clear()

    def chosen(self, node: Node, demand: Demand, doubtful: bool) -> list[Identity] | None:
        """Devices for all requests, None if there are not enough. doubtful: those count, too, of which it is not known
        whether they do."""
        if not demand.requests:
            return []
        free = [device for device in self._devices(node) if device.identity not in self.taken]
        matched: dict[Identity, int] = {}

        def match(number: int, tried: set[Identity]) -> bool:
            """Finds a device for a request; those that have one may have to take another (Kuhn's algorithm)."""
            for device in free:
                if device.identity in tried or not self._accepts(demand.requests[number], device, doubtful):
                    continue
                tried.add(device.identity)
                holder = matched.get(device.identity)
                if holder is None or match(holder, tried):
                    matched[device.identity] = number
                    return True
            return False

        return list(matched) if all(match(number, set()) for number in range(len(demand.requests))) else None

    def _may_fail(self, node: Node, demand: Demand) -> bool:
        """Whether the search comes to an error if it comes to some device before it has found enough."""
        return any(
            device.conflicting or self._matches(request, device) is None
            for request in demand.requests
            for device in self._devices(node)
            if device.identity not in self.taken
        )

    def _accepts(self, request: DeviceRequest, device: Device, doubtful: bool) -> bool:
        matches = self._matches(request, device)
        certain = matches is True and not device.doubtful and not device.conflicting
        return certain or (doubtful and matches is not False)

    def _matches(self, request: DeviceRequest, device: Device) -> bool | None:
        key = request, device.identity
        if key not in self._cached_matches:
            self._cached_matches[key] = matches_selectors(request, device.identity[0], device.attributes)
        return self._cached_matches[key]

    def _devices(self, node: Node) -> list[Device]:
        if node.name not in self._by_node:
            self._by_node[node.name] = [
                device for device in _current_devices(self._slices, node) if _is_reachable(node, device.location)
            ]
        return self._by_node[node.name]


def _current_devices(slices: Sequence[Manifest], node: Node) -> Iterator[Device]:
    """The devices of the newest slices of each pool that a node reaches."""
    specs = (item.get("spec") or {} for item in slices)
    reached = [spec for spec in specs if spec.get(_PER_DEVICE) or _is_reachable(node, spec)]
    newest: dict[tuple[str, str], int] = {}
    for spec in reached:
        newest[_pool(spec)] = max(newest.get(_pool(spec), 0), _generation(spec))
    # A feature gate decides whether such slices count, and with them whether older ones do.
    gated = {_pool(spec) for spec in reached if spec.get(_PER_DEVICE)}
    current = [spec for spec in reached if _pool(spec) in gated or _generation(spec) == newest[_pool(spec)]]
    # Two devices of one name in a pool stop a search that comes to them.
    names = Counter((*_pool(spec), device.get("name")) for spec in current for device in spec.get("devices") or ())
    conflicting = {(driver, pool) for (driver, pool, _name), count in names.items() if count > 1} - gated
    for spec in current:
        pool = _pool(spec)
        for item in spec.get("devices") or ():
            # Until v1beta1 the properties of a device were one level deeper.
            device = {**item, **(item.get("basic") or {})}
            doubtful = pool in gated or any(device.get(name) for name in _GATED)
            location = device if spec.get(_PER_DEVICE) else spec
            attributes = device.get("attributes") or {}
            yield Device((*pool, device.get("name", "")), attributes, location, doubtful, pool in conflicting)


def _pool(spec: Manifest) -> tuple[str, str]:
    return spec.get("driver", ""), (spec.get("pool") or {}).get("name", "")


def _generation(spec: Manifest) -> int:
    return int((spec.get("pool") or {}).get("generation") or 0)


def _is_reachable(node: Node, location: Manifest) -> bool:
    if location.get("nodeName"):
        return bool(location["nodeName"] == node.name)
    return bool(location.get("allNodes")) or selects(location.get("nodeSelector") or {}, node)
