"""What the claims of a pod need: the requests of dynamic resource allocation, from claims, templates and classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

Manifest = Mapping[str, Any]

# A claim has no more devices.
_MOST: Final = 32


class Want(NamedTuple):
    """A request for devices. selectors: those of the class and its own."""

    amount: int
    selectors: tuple[str, ...]


class Demand(NamedTuple):
    """What a pod's claims need. reach: the node selectors of allocated claims. missing: why it has to wait, "" if it
    need not. doubt: why a node that looks right may not do, "" if it does."""

    wants: tuple[Want, ...] = ()
    reach: tuple[Manifest, ...] = ()
    missing: str = ""
    doubt: str = ""


class Resources(NamedTuple):
    """What the API knows of devices, as manifests. Claims and templates by namespace and name, classes by name."""

    classes: Mapping[str, Manifest]
    slices: Sequence[Manifest]
    claims: Mapping[tuple[str, str], Manifest]
    templates: Mapping[tuple[str, str], Manifest]


def resources(
    classes: Iterable[Manifest], slices: Iterable[Manifest], claims: Iterable[Manifest], templates: Iterable[Manifest]
) -> Resources:
    """The DeviceClasses, ResourceSlices, ResourceClaims and ResourceClaimTemplates of a cluster."""
    return Resources(
        {one["metadata"]["name"]: one for one in classes},
        list(slices),
        {(one["metadata"].get("namespace", ""), one["metadata"]["name"]): one for one in claims},
        {(one["metadata"].get("namespace", ""), one["metadata"]["name"]): one for one in templates},
    )


def demand(claims: Sequence[Manifest], namespace: str, known: Resources | None) -> Demand | None:
    """What the claims of a pod (its `spec.resourceClaims`) need; None for no claims. known: None if it is not known."""
    if not claims:
        return None
    if known is None:
        return Demand(doubt="the devices of the cluster are not known")
    return _joined([_of_claim(claim, namespace, known) for claim in claims])


def _joined(demands: Sequence[Demand]) -> Demand:
    return Demand(
        tuple(want for one in demands for want in one.wants),
        tuple(selector for one in demands for selector in one.reach),
        next(filter(None, (one.missing for one in demands)), ""),
        next(filter(None, (one.doubt for one in demands)), ""),
    )


def _of_claim(claim: Manifest, namespace: str, known: Resources) -> Demand:
    name = claim.get("resourceClaimName")
    if name:
        found = known.claims.get((namespace, name))
        if found is None or found["metadata"].get("deletionTimestamp"):
            return Demand(missing=f"its ResourceClaim {name} does not exist")
        allocation = (found.get("status") or {}).get("allocation")
        if allocation is not None:
            selector = allocation.get("nodeSelector")
            return Demand(reach=(selector,) if selector else ())
        return _of_requests(found.get("spec") or {}, f"ResourceClaim {name}", known)
    name = claim.get("resourceClaimTemplateName") or ""
    template = known.templates.get((namespace, name))
    if template is None:
        return Demand(missing=f"its ResourceClaimTemplate {name} does not exist")
    return _of_requests((template.get("spec") or {}).get("spec") or {}, f"ResourceClaimTemplate {name}", known)


def _of_requests(spec: Manifest, called: str, known: Resources) -> Demand:
    devices = spec.get("devices") or {}
    doubt = f"{called} has constraints between devices" if devices.get("constraints") else ""
    found = [_of_request(request, called, known) for request in devices.get("requests") or ()]
    made = _joined([Demand(doubt=doubt), *found])
    if sum(want.amount for want in made.wants) > _MOST:
        return Demand(missing=f"its {called} requests more than {_MOST} devices")
    return made


def _of_request(request: Manifest, called: str, known: Resources) -> Demand:
    # Until v1beta1 what is requested stood beside the name.
    exactly = request.get("exactly") or (request if "deviceClassName" in request else {})
    others = [one.get("deviceClassName") for one in request.get("firstAvailable") or ()]
    for name in (*others, *([exactly["deviceClassName"]] if exactly.get("deviceClassName") else ())):
        if name not in known.classes:
            return Demand(missing=f"its {called} names the DeviceClass {name}, which does not exist")
    if others or not exactly.get("deviceClassName"):
        return Demand(doubt=f"{called} has alternatives")
    special = [name for name in ("adminAccess", "capacity") if exactly.get(name)]
    if special or (exactly.get("allocationMode") or "ExactCount") != "ExactCount":
        return Demand(doubt=f"{called} requests devices by {special[0] if special else 'another mode than ExactCount'}")
    of_class = (known.classes[exactly["deviceClassName"]].get("spec") or {}).get("selectors") or ()
    both = [*of_class, *(exactly.get("selectors") or ())]
    expressions = tuple(str((one.get("cel") or {}).get("expression", "")) for one in both)
    return Demand((Want(exactly.get("count", 1) or 1, expressions),))
