"""Splits a Template of a VM and other objects in two, as a VirtualMachineTemplate makes nothing but a VM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .._resolver.api.errors import FieldError
from .._resolver.api.manifest import Manifest
from .._templates.substitution import references

_VM = "VirtualMachine"


class Split(NamedTuple):
    """An OpenShift Template, divided into one with the VM and one with its other objects.

    vm: the Template of the VM alone. others: the Template of the other objects, None if there are none.

    generated: the parameters of both that generate a value, which each does for itself.
    """

    vm: Manifest
    others: Manifest | None
    generated: tuple[str, ...] = ()


def vms_of(template: Mapping[str, Any]) -> list[Manifest]:
    """The VMs of a Template, with references to parameters."""
    listed = template.get("objects")
    objects = listed if isinstance(listed, list) else []
    return [item for item in objects if isinstance(item, dict) and item.get("kind") == _VM]


def split(template: Manifest) -> Split:
    """The Templates of a Template with a VM. Raises FieldError if it has several."""
    vms = vms_of(template)
    if len(vms) != 1:
        raise FieldError("objects", f"has {len(vms)} VMs, and a VirtualMachineTemplate one; split the Template")
    others = [item for item in template["objects"] if item is not vms[0]]
    if not others:
        return Split(template, None)
    of_all = template.get("labels") or {}
    of_vm = {*references(vms), *references(str(template.get("message") or "")), *references(of_all)}
    of_others = {*references(others), *references(of_all)}
    listed = template.get("parameters")
    parameters = [item for item in listed if isinstance(item, Mapping)] if isinstance(listed, list) else []
    names = [str(item.get("name")) for item in parameters]
    shared = [
        name
        for name, item in zip(names, parameters)
        if name in of_vm and name in of_others and item.get("generate") and not item.get("value")
    ]
    own = [item for name, item in zip(names, parameters) if name in of_vm or name not in of_others]
    theirs = [item for name, item in zip(names, parameters) if name in of_others]
    # The message is about the VM.
    rest = {key: value for key, value in template.items() if key != "message"}
    return Split(_part(template, vms, own), _part(rest, others, theirs), tuple(shared))


def _part(template: Manifest, objects: list[Manifest], parameters: list[Mapping[str, Any]]) -> Manifest:
    """The Template with some of its objects and parameters."""
    rest = {key: value for key, value in template.items() if key != "parameters"}
    return {**rest, **({"parameters": parameters} if parameters else {}), "objects": objects}
