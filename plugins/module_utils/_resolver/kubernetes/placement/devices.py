"""The devices that nodes offer to claims of dynamic resource allocation (``DynamicResources`` of kube-scheduler).

A claim that is allocated is where its devices are. For others each request needs devices of its own that are free and
that the selectors of its class and its own take. What is not known is an answer of its own: selectors that only CEL can
evaluate, constraints between devices, alternatives, and devices with features that are off by default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from .demand import Demand, Want
from .node import Node
from .node_rules import holds

_TEXT: Final = r"\"[^\"\\\n]*\"|'[^'\\\n]*'"
_DRIVER: Final = re.compile(rf"device\s*\.\s*driver\s*==\s*({_TEXT})")
_ATTRIBUTE: Final = re.compile(
    rf"device\s*\.\s*attributes\s*\[\s*({_TEXT})\s*\]\s*\.\s*([A-Za-z_]\w*)\s*==\s*({_TEXT}|true|false|-?\d+)"
)
_KINDS: Final = {"string": str, "bool": bool, "int": int}


def selected(selectors: Iterable[str], driver: str, attributes: Mapping[str, Any]) -> bool | None:
    """Whether a device fits all selectors; None if that is not known. attributes: as in a ResourceSlice.

    The first selector that does not hold decides, in the order of Kubernetes; within one, a term that is false does.
    """
    for selector in selectors:
        answers = {_term(term.strip(), driver, attributes) for term in selector.split("&&")}
        if answers != {True}:
            return False if False in answers else None
    return True


def _term(term: str, driver: str, attributes: Mapping[str, Any]) -> bool | None:
    named = _DRIVER.fullmatch(term)
    if named:
        return bool(named[1][1:-1] == driver)
    compared = _ATTRIBUTE.fullmatch(term)
    if compared is None:
        return None
    domain, name, wanted = compared[1][1:-1], compared[2], _literal(compared[3])
    found = attributes.get(f"{domain}/{name}")
    if found is None and domain == driver:
        found = attributes.get(name)
    if not found:
        # CEL fails, and with it the search for devices.
        return None
    kind, value = next(iter(found.items()))
    # CEL compares values of one type; versions are no texts.
    if kind not in _KINDS or type(value) is not type(wanted):
        return None
    return bool(value == wanted)


def _literal(text: str) -> str | bool | int:
    if text in ("true", "false"):
        return text == "true"
    return text[1:-1] if text[0] in "\"'" else int(text)


Manifest = Mapping[str, Any]
# Driver, pool and name.
Identity = tuple[str, str, str]

_EACH: Final = "perDeviceNodeSelection"
_ODD: Final = ("consumesCounters", "bindingConditions", "taints", "allowMultipleAllocations")


class Device(NamedTuple):
    """A device of a ResourceSlice. place: what says which nodes reach it. doubtful: it may not be usable. broken: its
    pool is, which stops a search that comes to it."""

    identity: Identity
    attributes: Mapping[str, Any]
    place: Manifest
    doubtful: bool
    broken: bool


def taken(claims: Iterable[Manifest], gone: frozenset[tuple[str, str]] = frozenset()) -> set[Identity]:
    """The devices that claims have. gone: namespace and name of deleted pods, whose own claims go, too."""
    found = set()
    for claim in claims:
        metadata, allocation = claim["metadata"], (claim.get("status") or {}).get("allocation") or {}
        owners = {(metadata.get("namespace", ""), one.get("name", "")) for one in metadata.get("ownerReferences") or ()}
        if not owners & gone:
            for one in (allocation.get("devices") or {}).get("results") or ():
                if not one.get("adminAccess"):
                    found.add((one.get("driver", ""), one.get("pool", ""), one.get("device", "")))
    return found


class Offer:
    """The devices of ResourceSlices by node. taken: those that are in use; it changes as pods are placed."""

    def __init__(self, slices: Sequence[Manifest], used: set[Identity]) -> None:
        self._slices, self.taken = slices, used
        self._of_node: dict[str, list[Device]] = {}
        # What nodes have answered, until devices are taken that they reach.
        self._answers: dict[str, dict[tuple[tuple[Want, ...], str], bool | None]] = {}
        self._fitting: dict[tuple[tuple[str, ...], Identity], bool | None] = {}

    def fits(self, node: Node, asked: Demand) -> bool | None:
        """Whether a node has devices for a pod; None if that is not known."""
        if asked.missing or not all(_reaches(node, selector) for selector in asked.reach):
            return False
        known = self._answers.setdefault(node.name, {})
        key = asked.wants, asked.doubt
        if key not in known:
            known[key] = self._enough(node, asked)
        return known[key]

    def _enough(self, node: Node, asked: Demand) -> bool | None:
        if self.chosen(node, asked, False) is not None:
            return None if asked.doubt or self._may_stop(node, asked) else True
        return None if self.chosen(node, asked, True) is not None else False

    def take(self, node: Node, asked: Demand) -> None:
        """Takes devices of a node that a pod fits on."""
        chosen = set(self.chosen(node, asked, False) or ())
        self.taken |= chosen
        if all(device.place.get("nodeName") for device in self._devices(node) if device.identity in chosen):
            self._answers.pop(node.name, None)
        else:
            self._answers.clear()

    def chosen(self, node: Node, asked: Demand, doubtful: bool) -> list[Identity] | None:
        """Devices for all requests, None if there are not enough. doubtful: those count, too, of which it is not known
        whether they do."""
        if not asked.wants:
            return []
        free = [device for device in self._devices(node) if device.identity not in self.taken]
        matched: dict[Identity, int] = {}
        units = [want for want in asked.wants for _number in range(want.amount)]
        for number in range(len(units)):
            if not self._match(number, units, free, doubtful, matched, set()):
                return None
        return list(matched)

    def _may_stop(self, node: Node, asked: Demand) -> bool:
        """Whether the search comes to an error if it comes to some device before it has found enough."""
        return any(
            device.broken or self._answer(want, device) is None
            for want in asked.wants
            for device in self._devices(node)
            if device.identity not in self.taken
        )

    def _match(
        self,
        number: int,
        units: Sequence[Want],
        free: Sequence[Device],
        doubtful: bool,
        matched: dict[Identity, int],
        seen: set[Identity],
    ) -> bool:
        """Finds a device for a unit; those that have one before may have to take another (Kuhn's algorithm)."""
        for device in free:
            if device.identity in seen or not self._takes(units[number], device, doubtful):
                continue
            seen.add(device.identity)
            before = matched.get(device.identity)
            if before is None or self._match(before, units, free, doubtful, matched, seen):
                matched[device.identity] = number
                return True
        return False

    def _takes(self, want: Want, device: Device, doubtful: bool) -> bool:
        answer = self._answer(want, device)
        certain = answer is True and not device.doubtful and not device.broken
        return certain or (doubtful and answer is not False)

    def _answer(self, want: Want, device: Device) -> bool | None:
        key = want.selectors, device.identity
        if key not in self._fitting:
            self._fitting[key] = selected(want.selectors, device.identity[0], device.attributes)
        return self._fitting[key]

    def _devices(self, node: Node) -> list[Device]:
        if node.name not in self._of_node:
            self._of_node[node.name] = [device for device in _of_pools(self._slices, node) if _at(node, device.place)]
        return self._of_node[node.name]


def _of_pools(slices: Sequence[Manifest], node: Node) -> Iterator[Device]:
    """The devices of the newest slices of each pool that a node reaches."""
    reached = [one.get("spec") or {} for one in slices if _reached(one.get("spec") or {}, node)]
    newest: dict[tuple[str, str], int] = {}
    for spec in reached:
        newest[_pool(spec)] = max(newest.get(_pool(spec), 0), _generation(spec))
    # A feature gate decides whether such slices count, and with them whether older ones do.
    odd = {_pool(spec) for spec in reached if spec.get(_EACH)}
    current = [spec for spec in reached if _pool(spec) in odd or _generation(spec) == newest[_pool(spec)]]
    broken = {pool for pool, specs in _by_pool(current).items() if _names_twice(specs) and pool not in odd}
    for spec in current:
        pool = _pool(spec)
        for one in spec.get("devices") or ():
            # Until v1beta1 the properties of a device were one level deeper.
            device = {**one, **(one.get("basic") or {})}
            doubtful = pool in odd or any(device.get(name) for name in _ODD)
            place = device if spec.get(_EACH) else spec
            attributes = device.get("attributes") or {}
            yield Device((*pool, device.get("name", "")), attributes, place, doubtful, pool in broken)


def _by_pool(specs: Iterable[Manifest]) -> dict[tuple[str, str], list[Manifest]]:
    found: dict[tuple[str, str], list[Manifest]] = {}
    for spec in specs:
        found.setdefault(_pool(spec), []).append(spec)
    return found


def _names_twice(specs: Iterable[Manifest]) -> bool:
    """Whether two devices of a pool have the same name, which stops a search that comes to it."""
    names = [device.get("name") for spec in specs for device in spec.get("devices") or ()]
    return len(set(names)) < len(names)


def _reached(spec: Manifest, node: Node) -> bool:
    return bool(spec.get(_EACH)) or _at(node, spec)


def _pool(spec: Manifest) -> tuple[str, str]:
    return spec.get("driver", ""), (spec.get("pool") or {}).get("name", "")


def _generation(spec: Manifest) -> int:
    return int((spec.get("pool") or {}).get("generation") or 0)


def _at(node: Node, place: Manifest) -> bool:
    if place.get("nodeName"):
        return bool(place["nodeName"] == node.name)
    return bool(place.get("allNodes")) or (bool(place.get("nodeSelector")) and _reaches(node, place["nodeSelector"]))


def _reaches(node: Node, selector: Manifest) -> bool:
    return any(holds(term, node) for term in selector.get("nodeSelectorTerms") or ())
