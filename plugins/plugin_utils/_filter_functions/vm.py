"""Filters that return a VM as KubeVirt makes it of one: `expand` and `infer`; and the VM that all filters are given.

The functions take plain manifests. An instancetype or preference given as a manifest or bare spec replaces the one that
the VM's matcher names; otherwise `objects` is searched for it. release: the KubeVirt whose behaviour counts.
"""

from __future__ import annotations

from typing import Any

from ...module_utils._resolver.api import behaviour, release_schema
from ...module_utils._resolver.api.errors import FieldError
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.matcher import MATCHER_FIELDS, MatcherField, set_kinds
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.api.tree import copy
from ...module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from ...module_utils._resolver.kubevirt.instancetype import find
from ...module_utils._resolver.kubevirt.instancetype import infer as inference
from ...module_utils._resolver.kubevirt.instancetype.lookup import Objects
from ...module_utils._resolver.kubevirt.vm import expand as expansion
from .._manifest_checks import gated
from ._shared import accepts_unknown, each, manifests, release_option, vm_filter

Overrides = dict[str, "Manifest | None"]

# The name of an object given as an argument; no cluster object can have it.
_OVERRIDE = "(given)"


def _expand(vm: Manifest, overrides: Overrides, objects: list[Manifest], release: Release) -> Manifest:
    """The VM as expand-spec returns it: without matchers, with all values from them and the defaults.

    overrides: {"instancetype": ..., "preference": ...}, None if the matcher counts.
    """
    vm, lookup = _resolved(vm, overrides, objects, release)
    return _without_empty_status(expansion.expand(vm, Cluster(lookup, KubeVirt(release))))


def _infer(vm: Manifest, objects: list[Manifest], release: Release) -> Manifest:
    """The VM with the matchers that admission infers from its volumes (`inferFromVolume`)."""
    _check(vm)
    return _without_empty_status(inference.infer(vm, Objects(objects), release))


def parts(
    vm: Manifest, overrides: Overrides, objects: list[Manifest], release: Release
) -> tuple[Manifest | None, Manifest | None, dict[str, Any]]:
    """The canonical specs of instancetype and preference (None: none), and the template."""
    vm, lookup = _resolved(vm, overrides, objects, release)
    specs = [find.effective_spec(vm, matcher_field, lookup, release) for matcher_field in MATCHER_FIELDS]
    try:
        template = release_schema.canonical("VirtualMachineInstanceTemplateSpec", vm["spec"].get("template"), release)
    except FieldError as error:
        raise error.with_parent("spec.template") from None
    return specs[0], specs[1], template


def _resolved(
    vm: Manifest, overrides: Overrides, objects: list[Manifest], release: Release
) -> tuple[Manifest, Objects]:
    """The VM with matchers for the objects given as arguments, and a lookup that knows them."""
    vm = admitted(vm, release)
    added = []
    for matcher_field in MATCHER_FIELDS:
        manifest = overrides.get(matcher_field.name)
        if manifest is None:
            _check_inferred(matcher_field, vm)
            continue
        # Neither spec has a field `spec`, so a bare spec can be told from a manifest.
        spec = manifest.get("spec", manifest)
        vm["spec"][matcher_field.name] = {"name": _OVERRIDE, "kind": matcher_field.cluster_kind}
        if vm.get("status"):
            vm["status"].pop(matcher_field.reference, None)
        added.append({"kind": matcher_field.cluster_kind, "metadata": {"name": _OVERRIDE}, "spec": spec})
    return vm, Objects([*objects, *added])


def admitted(vm: Manifest, release: Release) -> Manifest:
    """A copy of the VM with its matchers as the cluster stores them."""
    _check(vm)
    vm = copy(vm)
    if release.has(behaviour.SETS_MATCHER_KIND):
        set_kinds(vm)
    return vm


def _check(vm: Manifest) -> None:
    if not isinstance(vm.get("spec"), dict):
        raise FieldError("spec", "missing; pass the manifest of a VirtualMachine")


def _check_inferred(matcher_field: MatcherField, vm: Manifest) -> None:
    """Rejects a matcher that is still to be inferred: after admission KubeVirt would look for an object
    without a name.
    """
    matcher = matcher_field.matcher_of(vm)
    if isinstance(matcher, dict) and matcher.get("inferFromVolume") and not matcher.get("name"):
        volume = matcher["inferFromVolume"]
        raise FieldError(
            f"spec.{matcher_field.name}",
            f"must be inferred from the volume {volume}; pass the VM through the filter infer first",
        )


def _without_empty_status(vm: Manifest) -> Manifest:
    if not vm.get("status"):
        vm.pop("status", None)
    return vm


expand = vm_filter(_expand)


def infer(value: Any, objects: Any, kubevirt_version: Any = None, accept_unknown_fields: Any = False) -> Any:
    """See its documentation."""
    known_objects, release = manifests("objects", objects), release_option(kubevirt_version)
    accept = accepts_unknown(accept_unknown_fields)
    return each(value, lambda vm: _infer(gated(vm, accept), known_objects, release))
