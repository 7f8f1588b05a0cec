"""The demand of a pod's claims: the requests of dynamic resource allocation, from claims, templates and classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..._resolver.api.manifest import name_of, namespaced_name

Manifest = Mapping[str, Any]

# A claim has no more devices.
_MAX_DEVICES: Final = 32


class DeviceRequest(NamedTuple):
    """A request for devices. selectors: the selectors of the class, then its own."""

    amount: int
    selectors: tuple[str, ...]


class Demand(NamedTuple):
    """The demand of a pod's claims.

    node_selectors: the node selectors of allocated claims. missing: why the pod has to wait, "" if it need not.
    doubt: why a node may not do that looks right, "" without a doubt.
    """

    requests: tuple[DeviceRequest, ...] = ()
    node_selectors: tuple[Manifest, ...] = ()
    missing: str = ""
    doubt: str = ""


class DeviceObjects(NamedTuple):
    """The API's objects about devices, as manifests. Claims and templates by namespace and name, classes by name."""

    classes: Mapping[str, Manifest]
    slices: Sequence[Manifest]
    claims: Mapping[tuple[str, str], Manifest]
    templates: Mapping[tuple[str, str], Manifest]


def device_objects(
    classes: Iterable[Manifest], slices: Iterable[Manifest], claims: Iterable[Manifest], templates: Iterable[Manifest]
) -> DeviceObjects:
    """The DeviceClasses, ResourceSlices, ResourceClaims and ResourceClaimTemplates of a cluster."""
    return DeviceObjects(
        {name_of(device_class): device_class for device_class in classes},
        list(slices),
        {namespaced_name(claim): claim for claim in claims},
        {namespaced_name(template): template for template in templates},
    )


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
    if sum(request.amount for request in merged.requests) > _MAX_DEVICES:
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
    return Demand((DeviceRequest(exactly.get("count", 1) or 1, expressions),))
